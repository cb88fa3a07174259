import type { AttemptMeasurement, NewProjectEvent, Outcome } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { concernsOnly, deniedItem } from '../domain/completion.ts'
import type { Attempt } from '../domain/task.ts'
import type { UncertainHolder } from '../ports/attempt-reads.ts'
import { judgeReleased } from './change-verdict.ts'
import { type AttemptChangesContext, claimedPaths, deniedPaths } from './measure-attempt.ts'

/** Files that a completion alone claims leave those of ended attempts that may have changed them. */
export async function releaseClaimed(
  { tasks }: Reads,
  attempt: Attempt,
  {
    evidence,
    outcome,
    activity: { neighbors, statements },
  }: {
    readonly evidence: AttemptMeasurement
    readonly outcome: Outcome
    readonly activity: AttemptChangesContext
  },
): Promise<readonly NewProjectEvent[]> {
  // A contested one is claimed by others, too.
  const settled = evidence.changes.filter(({ attribution }) => attribution !== 'contested')
  const paths = [...claimedPaths(settled, attempt, outcome)]
  if (paths.length === 0) return []
  const holders = (await tasks.uncertainHolders(paths)).filter(({ attempt: other, change }) => {
    const statement = statements.get(other.id)
    return (
      neighbors.has(other.id) &&
      statement !== undefined &&
      !claimedPaths([change], other, statement.claimed).has(change.path)
    )
  })
  return settledEvents(holders, { cause: 'claimed', candidates: () => [displayName(attempt)] })
}

/** Files that the agent of an ended attempt denies leave it, unless nobody else can have changed them. */
export async function denyFiles(
  { tasks }: Reads,
  attempt: Attempt,
  denied: readonly string[],
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  if (denied.length === 0) return []
  const changes = await tasks.changes(attempt.id, { limit: maxChanges, offset: 0 })
  const named = deniedPaths(changes, attempt, denied)
  const uncertain = changes.filter(
    ({ path, attribution, with: others = [] }) =>
      named.has(path) && attribution !== 'certain' && others.length > 0,
  )
  if (uncertain.length === 0) return []
  const [holders, open] = await Promise.all([
    tasks.uncertainHolders(uncertain.map(({ path }) => path)),
    tasks.openAttempts(),
  ])
  const isHeldByOther = ({ path, with: others = [] }: ReportedChange) =>
    holders.some(({ attempt: other, change }) => other.id !== attempt.id && change.path === path) ||
    open.some(({ taskId }) => others.some((one) => one.taskId === taskId))
  const leaving = uncertain.filter(isHeldByOther)
  const denyingAll = uncertain.filter((change) => !isHeldByOther(change)).map(({ path }) => path)
  const location = { ...attempt, attemptId: attempt.id }
  return [
    ...settledEvents(
      leaving.map((change) => ({ attempt, change })),
      { cause: 'denied', candidates: ({ with: others = [] }) => others.map(({ agent }) => agent) },
    ),
    ...(denyingAll.length > 0
      ? [{ kind: 'inbox.opened' as const, item: deniedItem(denyingAll, location, setting) }]
      : []),
  ]
}

const maxChanges = 20_000

/** What follows for tasks that files left, and for those above them: other verdicts, and fewer questions. */
export async function followReleases(
  reads: Reads,
  events: readonly NewProjectEvent[],
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const settled = events.filter((event) => event.kind === 'files.settled')
  if (settled.length === 0) return []
  const [above, questions] = await Promise.all([
    reads.tasks.ancestors(settled.map(({ taskId }) => taskId)),
    reads.inboxItems.scopesOfAttempts(settled.map(({ attemptId }) => attemptId)),
  ])
  const closed = settled.flatMap((left) =>
    questions.filter((item) => concernsOnly(item, left)).map(dismissQuestion),
  )
  const concerned = settled.flatMap((left) =>
    [left.taskId, ...(above.get(left.taskId) ?? [])].map((taskId) => ({ taskId, left })),
  )
  const judged = [...Map.groupBy(concerned, ({ taskId }) => taskId)].map(([taskId, some]) =>
    judgeReleased(
      reads,
      taskId,
      some.map(({ left }) => left),
      setting,
    ),
  )
  return [...closed, ...(await Promise.all(judged)).flat()]
}

function dismissQuestion({ id, missionId, taskId, paths }: InboxItem): NewProjectEvent {
  const answer = `Not its own: ${paths.slice(0, 5).join(', ')}.`
  return { kind: 'inbox.closed', itemId: id, missionId, taskId, status: 'dismissed', answer }
}

function settledEvents(
  holders: readonly UncertainHolder[],
  {
    cause,
    candidates,
  }: {
    readonly cause: 'claimed' | 'denied'
    readonly candidates: (change: ReportedChange) => readonly string[]
  },
): readonly NewProjectEvent[] {
  return [...Map.groupBy(holders, ({ attempt }) => attempt.id).values()].flatMap((some) => {
    const [holder] = some
    if (holder === undefined) return []
    const { id: attemptId, taskId, missionId } = holder.attempt
    const paths = some.map(({ change }) => change.path)
    const names = [...new Set(some.flatMap(({ change }) => candidates(change)))]
    return [{ kind: 'files.settled', attemptId, taskId, missionId, paths, candidates: names, cause }]
  })
}

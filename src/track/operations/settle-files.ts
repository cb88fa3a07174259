import type { AttemptMeasurement, NewProjectEvent, Outcome } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId, TaskId, TransactionContext } from '../../kernel/id.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../domain/changes.ts'
import { concernsOnly, deniedItem } from '../domain/completion.ts'
import type { Attempt } from '../domain/task.ts'
import { isComparedFile } from '../domain/weakened/line-patterns.ts'
import { judgeReleased, type SettledFiles } from './change-verdict.ts'
import { claimedPaths, deniedPaths } from './judge-report.ts'
import type { AttemptChangesContext } from './measure-attempt.ts'

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
  const holders = (await tasks.uncertainHolders(paths)).filter(({ attempt: { id } }) => neighbors.has(id))
  const listed = new Set(holders.map(({ attempt: { id }, change }) => `${id} ${change.path}`))
  // A file that was probably another's is not among the changes.
  const doubting = [...statements].flatMap(([id, { uncertain }]) => {
    const other = neighbors.get(id)
    const open = uncertain.filter((path) => paths.includes(path) && !listed.has(`${id} ${path}`))
    return other === undefined ? [] : open.map((path) => ({ attempt: other, change: { path } }))
  })
  const leaving = [...holders, ...doubting].filter(({ attempt: other, change }) => {
    const statement = statements.get(other.id)
    return statement !== undefined && !claimedPaths([change], other, statement.claimed).has(change.path)
  })
  return settledEvents(leaving, { cause: 'claimed', candidates: () => [displayName(attempt)] })
}

/** Files that the agent of an ended attempt denies leave it, unless nobody else can have changed them. */
export async function denyFiles(
  { tasks }: Reads,
  attempt: Attempt,
  denied: readonly string[],
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  if (denied.length === 0) return []
  const [changes, statements] = await Promise.all([
    tasks.changes(attempt.id, { limit: maxChanges, offset: 0 }),
    tasks.statements([attempt.id]),
  ])
  const named = deniedPaths(changes, attempt, denied)
  const uncertain = changes.filter(
    ({ path, attribution, with: others = [] }) =>
      named.has(path) && attribution !== 'certain' && others.length > 0,
  )
  // Files that were probably others' are not among the changes: the denial only ends the doubt.
  const listed = new Set(changes.map(({ path }) => path))
  const doubts = (statements.get(attempt.id)?.uncertain ?? []).flatMap((path) =>
    listed.has(path) ? [] : [{ path }],
  )
  const ended = [...deniedPaths(doubts, attempt, denied)]
  if (uncertain.length + ended.length === 0) return []
  const [holders, open] = await Promise.all([
    tasks.uncertainHolders(uncertain.map(({ path }) => path)),
    tasks.openAttempts(),
  ])
  const isHeldByOther = (change: ReportedChange) =>
    holders.some((other) => isCandidate({ attempt, change }, other)) ||
    open.some(({ taskId }) => change.with?.some((one) => one.taskId === taskId))
  const leaving = uncertain.filter(isHeldByOther)
  const denyingAll = uncertain.filter((change) => !isHeldByOther(change)).map(({ path }) => path)
  const location = { ...attempt, attemptId: attempt.id }
  return [
    ...settledEvents(
      [...leaving, ...ended.map((path): SettledChange => ({ path }))].map((change) => ({ attempt, change })),
      { cause: 'denied', candidates: ({ with: others = [] }) => others.map(({ agent }) => agent) },
    ),
    ...(denyingAll.length > 0
      ? [{ kind: 'inbox.opened' as const, item: deniedItem(denyingAll, location, setting) }]
      : []),
  ]
}

/** More changed files of one attempt are not settled. */
export const maxChanges = 20_000

/**
 * What follows for tasks that files left, for those above them, and for those whose files they are: other verdicts, and
 * fewer questions. `ending` may leave files to others as well.
 */
export async function followReleases(
  reads: Reads,
  events: readonly NewProjectEvent[],
  setting: TransactionContext,
  ending?: { readonly attempt: Attempt; readonly evidence: AttemptMeasurement },
): Promise<readonly NewProjectEvent[]> {
  const settled = events.filter((event) => event.kind === 'files.settled')
  const left = settled.flatMap(({ cause, paths }) => (cause === 'denied' ? paths : []))
  const owned = await soleOwners(reads, [...left, ...(ending?.evidence.released ?? [])], {
    settled,
    ending: ending?.attempt.id,
  })
  if (settled.length + owned.length === 0) return []
  const [above, questions] = await Promise.all([
    reads.tasks.ancestors(settled.map(({ taskId }) => taskId)),
    reads.inboxItems.ofAttempts(settled.map(({ attemptId }) => attemptId)),
  ])
  const closed = settled.flatMap((left) =>
    questions.filter((item) => item.kind === 'scope' && concernsOnly(item, left)).map(dismissQuestion),
  )
  const concerned = settled.flatMap((event) =>
    [event.taskId, ...(above.get(event.taskId) ?? [])].map((taskId) => ({ ...event, taskId })),
  )
  const taskIds = new Set([...concerned, ...owned].map(({ taskId }) => taskId))
  const isOf = (id: TaskId) => (one: { readonly taskId: TaskId }) => one.taskId === id
  const judged = [...taskIds].map((id) =>
    judgeReleased(reads, id, { left: concerned.filter(isOf(id)), owned: owned.filter(isOf(id)) }, setting),
  )
  return [...closed, ...(await Promise.all(judged)).flat()]
}

/** The ended attempts that claim a file which no other one holds any more. */
async function soleOwners(
  { tasks }: Reads,
  paths: readonly string[],
  { settled, ending }: { readonly settled: readonly SettledFiles[]; readonly ending: AttemptId | undefined },
): Promise<readonly (SettledFiles & { readonly taskId: TaskId })[]> {
  if (paths.length === 0) return []
  const [holders, open] = await Promise.all([tasks.uncertainHolders(paths), tasks.openAttempts()])
  const staying = holders.filter(
    ({ attempt: { id }, change: { path } }) =>
      !settled.some((event) => event.attemptId === id && event.paths.includes(path)),
  )
  const isOpen = ({ taskId }: { readonly taskId: string }) =>
    open.some((one) => one.taskId === taskId && one.id !== ending)
  const alone = staying.filter(
    (one) => !staying.some((other) => isCandidate(one, other)) && !(one.change.with ?? []).some(isOpen),
  )
  const statements = await tasks.statements(alone.map(({ attempt }) => attempt.id))
  const owned = await Promise.all(
    alone.map(async ({ attempt, change }) => {
      const claimed = statements.get(attempt.id)?.claimed
      const isClaimed = claimed !== undefined && claimedPaths([change], attempt, claimed).has(change.path)
      const isOwn = isClaimed || (await isDeniedByOthers({ tasks }, change, settled))
      return isOwn ? [{ attemptId: attempt.id, taskId: attempt.taskId, paths: [change.path] }] : []
    }),
  )
  return owned.flat()
}

/** Whether another attempt may have made this very change: not one that left the same file uncertain at another time. */
function isCandidate({ attempt: one, change: { path, with: others = [] } }: Holder, other: Holder): boolean {
  const { id, taskId, openedAt, closedAt } = other.attempt
  const isBeside =
    openedAt <= (one.closedAt ?? Number.POSITIVE_INFINITY) &&
    one.openedAt <= (closedAt ?? Number.POSITIVE_INFINITY)
  return (
    id !== one.id && other.change.path === path && isBeside && others.some((each) => each.taskId === taskId)
  )
}

type Holder = Awaited<ReturnType<Reads['tasks']['uncertainHolders']>>[number]

/**
 * Whether each other task that may have changed a file denied it, with these events or before. Not for tests and checks:
 * what they lost is compared for certain files alone, and judged where nobody names the file.
 */
async function isDeniedByOthers(
  { tasks }: Pick<Reads, 'tasks'>,
  { path, with: others = [] }: ReportedChange,
  settled: readonly SettledFiles[],
): Promise<boolean> {
  if (isComparedFile(path)) return false
  const lasts = await Promise.all(others.map(({ taskId }) => tasks.lastAttempt(taskId as TaskId))) // a brand
  const statements = await tasks.statements(lasts.flatMap((last) => last?.id ?? []))
  const isDenied = (last: Attempt | null) =>
    last !== null &&
    (settled.some(({ attemptId, paths }) => attemptId === last.id && paths.includes(path)) ||
      statements.get(last.id)?.denied.includes(path) === true)
  return lasts.length > 0 && lasts.every(isDenied)
}

function dismissQuestion({ id, missionId, taskId, paths }: InboxItem): NewProjectEvent {
  const answer = `Not its own: ${paths.slice(0, 5).join(', ')}.`
  return { kind: 'inbox.closed', itemId: id, missionId, taskId, status: 'dismissed', answer }
}

type SettledChange = Pick<ReportedChange, 'path' | 'with'>

function settledEvents(
  holders: readonly { readonly attempt: Attempt; readonly change: SettledChange }[],
  {
    cause,
    candidates,
  }: {
    readonly cause: 'claimed' | 'denied'
    readonly candidates: (change: SettledChange) => readonly string[]
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

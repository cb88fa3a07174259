import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { ChangesRequest, InboxItem } from '../../../track/domain/records.ts'
import { type Attempt, treeOf } from '../../../track/domain/task.ts'
import { runItem } from '../../domain/decisions.ts'
import type { NamedGuard } from '../../domain/definition.ts'
import type { ObservedChanges } from '../../domain/evidence.ts'
import type { MissingGuard } from '../../domain/expression.ts'
import { changesFindings, changesGuardKey } from '../../domain/guards/changes.ts'
import type { RunRecord } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import type { MeasurementQuestions, RunMeasurements } from './measurements.ts'
import { guardLine } from './refusal.ts'

/** What stands in the way of a guard over changes, as a person may accept it: exactly so, and no longer than it is so. */
export interface AcceptableChanges {
  readonly name: string
  /** What the guard asks, by which it is known whatever it is called. */
  readonly guard: string
  /** Hash of what was found, with what is on disk and what git holds of it. */
  readonly content: string
  readonly files: ChangesRequest['files']
  /** A person is asked about all of it at a task, or will be when the task is completed. */
  readonly isAsked: boolean
}

interface AcceptableContext {
  readonly context: Pick<RecordContext, 'machine' | 'fingerprint'>
  readonly attempts: readonly Attempt[]
  readonly guards: readonly NamedGuard[]
  readonly observed: ObservedChanges
  readonly asked: ReadonlySet<string>
}

/** Null until the files were looked at. What cannot be told exactly cannot be accepted. */
export function prepareAcceptable(
  questions: Pick<MeasurementQuestions<RunMeasurements>, 'ask'>,
  { context, attempts, guards, observed, asked }: AcceptableContext,
): readonly AcceptableChanges[] | null {
  const { machine, fingerprint } = context
  const here = attempts.filter(({ snapshot }) => snapshot.machineId === machine?.id)
  const trees = [...Map.groupBy(here, ({ snapshot }) => treeOf(snapshot)).values()].flatMap(
    ([first]) => first?.snapshot ?? [],
  )
  // Of work on other machines the record tells, which does not change.
  const elsewhere = attempts
    .filter(({ snapshot, status }) => snapshot.machineId !== machine?.id && status !== 'abandoned')
    .map(({ id }) => id)
  const acceptable: AcceptableChanges[] = []
  let isWhole = true
  for (const { name, guard } of guards) {
    if (guard.type !== 'changes') continue
    const findings = changesFindings(guard, observed).filter(({ isAcceptable }) => isAcceptable)
    if (findings.length === 0) continue
    const paths = [...new Set(findings.flatMap((finding) => finding.paths))].sort()
    const isWholeTree = findings.some((finding) => finding.isWholeTree)
    const states = trees.map((first) => questions.ask('fileStates', { first, paths, isWholeTree }))
    const known = states.flatMap((state) => state ?? [])
    if (known.length < states.length) {
      isWhole = false
      continue
    }
    if (known.some(({ isExact }) => !isExact)) continue
    const found = findings.map(({ reason, paths: named }) => ({ reason, paths: [...named].sort() }))
    const contents = known.map(({ files, tree }) => ({ files, tree }))
    const key = changesGuardKey(guard)
    acceptable.push({
      name,
      guard: key,
      content: fingerprint({ guard: key, found, contents, elsewhere }),
      files: known.flatMap(({ files }) => files),
      isAsked: findings.every(
        (finding) => finding.isAskedAtTask && finding.paths.every((path) => asked.has(path)),
      ),
    })
  }
  return isWhole ? acceptable : null
}

const maxAnswers = 100

/** The guards of which a person accepted exactly what is found now, since the run came to its state. */
export async function acceptedGuards(
  { inboxItems }: Reads,
  { record, visits }: LoadedRun,
  acceptable: readonly AcceptableChanges[],
): Promise<NonNullable<ObservedChanges['accepted']>> {
  const entered = visits.find(({ state }) => state === record.state)?.last ?? 1
  const answered = await inboxItems.answeredOfRun(record.id, maxAnswers)
  return acceptable.flatMap(({ guard, content }) => {
    const item = answered.find(
      ({ action, request }) =>
        action === 'accepted' &&
        request?.kind === 'changes' &&
        request.revision >= entered &&
        request.guards.some((one) => one.guard === guard && one.content === content),
    )
    return item ? [{ guard, author: item.closedBy ?? 'a person' }] : []
  })
}

interface RefusedChanges {
  readonly context: Pick<RecordContext, 'machine' | 'fingerprint' | 'actor'>
  readonly record: RunRecord
  readonly event: string
  readonly author: string
  readonly missing: readonly MissingGuard[]
  readonly acceptable: readonly AcceptableChanges[]
  /** Open items of the run. */
  readonly open: readonly InboxItem[]
}

/**
 * The question whether changes that stand in the way of an event are accepted as they are; null where there is nothing to
 * ask. A question about another content ends. What a person said no to is not asked again for an agent.
 */
export async function changesQuestion(
  { inboxItems }: Reads,
  { context, record, event, author, missing, acceptable, open }: RefusedChanges,
  setting: TransactionContext,
): Promise<{ readonly id: InboxItem['id']; readonly events: readonly NewProjectEvent[] } | null> {
  const asked = acceptable.flatMap(({ isAsked, ...one }) => {
    const guard = missing.find(({ name }) => name === one.name)
    return guard && !isAsked ? [{ ...one, line: guardLine(guard), reason: guard.reason }] : []
  })
  if (asked.length === 0) return null
  const content = context.fingerprint(asked.map((one) => one.content))
  const isSame = ({ request }: InboxItem) => request?.kind === 'changes' && request.content === content
  const known = open.find(isSame)
  if (known) return { id: known.id, events: [] }
  if (context.actor.kind !== 'person') {
    const [last] = (await inboxItems.answeredOfRun(record.id, maxAnswers)).filter(isSame)
    if (last?.status === 'dismissed') return null
  }
  const files = [...new Map(asked.flatMap((one) => one.files).map((file) => [file.path, file])).values()]
  const { state, revision } = record
  const item = runItem(
    record,
    {
      kind: 'scope',
      request: {
        kind: 'changes',
        state,
        revision,
        event,
        guards: asked.map(({ name, guard, reason, content: own }) => ({ name, guard, reason, content: own })),
        content,
        files: files.slice(0, maxFiles),
        ...(context.machine && { machine: context.machine.id }),
      },
      reason: `${author} asks for "${event}" of run ${record.id} (${record.process.name}), which is in "${state}". ${asked.map(({ line }) => `${line}.`).join(' ')} May it pass with exactly this?`,
      paths: files.map(({ path }) => path),
    },
    setting,
  )
  const earlier = open.filter(({ request }) => request?.kind === 'changes')
  return {
    id: item.id,
    events: [
      ...earlier.map(
        ({ id, missionId, taskId }): NewProjectEvent => ({
          kind: 'inbox.closed',
          itemId: id,
          missionId,
          taskId,
          status: 'dismissed',
          answer: `The changes are different now: see ${item.id}.`,
        }),
      ),
      { kind: 'inbox.opened', item },
    ],
  }
}

const maxFiles = 200

import type { NewProjectEvent } from '../../../events/domain/project-event.ts'
import type { ChangesRequest, InboxItem } from '../../../inbox/domain/inbox-item.ts'
import type { TransactionContext } from '../../../kernel/id.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { type Attempt, treeOf } from '../../../track/domain/task.ts'
import { runItem } from '../../domain/decisions.ts'
import type { NamedGuard } from '../../domain/definition.ts'
import type { ObservedChanges } from '../../domain/evidence.ts'
import type { MissingGuard } from '../../domain/expression.ts'
import { changesFindings, changesGuardKey } from '../../domain/guards/changes.ts'
import { entryRevision, type RunRecord } from '../../domain/run.ts'
import type { LoadedRun } from '../../ports/run-reads.ts'
import { guardLine } from './refusal.ts'
import type { MeasurementQuestions, RunMeasurements } from './run-measurements.ts'

/** Changes that fail a guard and that a person may accept; the acceptance ends with any further change. */
export interface AcceptableChanges {
  readonly name: string
  /** The guard's condition as a key, which survives a rename of the guard. */
  readonly guard: string
  /** Hash of the findings, with the files' content on disk and in git. */
  readonly content: string
  readonly files: ChangesRequest['files']
  /** An item of a task asks about all of it, or will when the task is completed. */
  readonly isAsked: boolean
}

interface AcceptableContext {
  readonly context: Pick<RecordContext, 'machine' | 'fingerprint'>
  readonly attempts: readonly Attempt[]
  readonly guards: readonly NamedGuard[]
  readonly observed: ObservedChanges
  readonly askedPaths: ReadonlySet<string>
}

/** Null until measured. Changes that are not known exactly cannot be accepted. */
export function prepareAcceptable(
  questions: Pick<MeasurementQuestions<RunMeasurements>, 'ask'>,
  { context, attempts, guards, observed, askedPaths }: AcceptableContext,
): readonly AcceptableChanges[] | null {
  const { machine, fingerprint } = context
  const here = attempts.filter(({ snapshot }) => snapshot.machineId === machine?.id)
  const trees = [...Map.groupBy(here, ({ snapshot }) => treeOf(snapshot)).values()].flatMap(
    ([first]) => first?.snapshot ?? [],
  )
  // The record has the final state of work on other machines.
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
    const measuredStates = states.flatMap((state) => state ?? [])
    if (measuredStates.length < states.length) {
      isWhole = false
      continue
    }
    if (measuredStates.some(({ isExact }) => !isExact)) continue
    const found = findings.map(({ reason, paths: named }) => ({ reason, paths: [...named].sort() }))
    const contents = measuredStates.map(({ files, tree }) => ({ files, tree }))
    const key = changesGuardKey(guard)
    acceptable.push({
      name,
      guard: key,
      content: fingerprint({ guard: key, found, contents, elsewhere }),
      files: measuredStates.flatMap(({ files }) => files),
      isAsked: findings.every(
        (finding) => finding.isAskedAtTask && finding.paths.every((path) => askedPaths.has(path)),
      ),
    })
  }
  return isWhole ? acceptable : null
}

const maxAnswers = 100

/** The guards whose current findings a person accepted since the run entered its state. */
export async function acceptedGuards(
  { inboxItems }: Reads,
  { record, visits }: LoadedRun,
  acceptable: readonly AcceptableChanges[],
): Promise<NonNullable<ObservedChanges['accepted']>> {
  const entered = entryRevision(visits, record.state)
  const answered = await inboxItems.answeredOfRun(record.id, maxAnswers)
  return acceptable.flatMap(({ guard, content }) => {
    const item = answered.find(
      ({ action, request }) =>
        action === 'approved' &&
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
 * The item that asks to accept changes that block an event; null if there is nothing to ask. It closes items about other
 * content. An agent's event does not repeat a question that a person dismissed.
 */
export async function changesQuestion(
  { inboxItems }: Reads,
  { context, record, event, author, missing, acceptable, open }: RefusedChanges,
  setting: TransactionContext,
): Promise<{ readonly id: InboxItem['id']; readonly events: readonly NewProjectEvent[] } | null> {
  const questions = acceptable.flatMap(({ isAsked, ...one }) => {
    const guard = missing.find(({ name }) => name === one.name)
    return guard && !isAsked ? [{ ...one, line: guardLine(guard), reason: guard.reason }] : []
  })
  if (questions.length === 0) return null
  const content = context.fingerprint(questions.map((one) => one.content))
  const isSame = ({ request }: InboxItem) => request?.kind === 'changes' && request.content === content
  const existing = open.find(isSame)
  if (existing) return { id: existing.id, events: [] }
  if (context.actor.kind !== 'person') {
    const [last] = (await inboxItems.answeredOfRun(record.id, maxAnswers)).filter(isSame)
    if (last?.status === 'dismissed') return null
  }
  const files = [...new Map(questions.flatMap((one) => one.files).map((file) => [file.path, file])).values()]
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
        guards: questions.map(({ name, guard, reason, content: own }) => ({
          name,
          guard,
          reason,
          content: own,
        })),
        content,
        files: files.slice(0, maxFiles),
        ...(context.machine && { machine: context.machine.id }),
      },
      reason: `${author} asks for "${event}" of run ${record.id} (${record.process.name}), which is in "${state}". ${questions.map(({ line }) => `${line}.`).join(' ')} Accept exactly this?`,
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

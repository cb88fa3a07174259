import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { gateSettingsOf } from '../../inbox/domain/inbox-gate.ts'
import type { AttemptId, InboxItemId, TaskId, TransactionContext } from '../../kernel/id.ts'
import { findTask } from '../../kernel/operations/find.ts'
import type { Reads } from '../../store/ports/store.ts'
import { changeVerdict } from '../domain/completion.ts'
import { type Attempt, taskOutcomes } from '../domain/task.ts'
import {
  type CheckFact,
  type CheckRefusal,
  isSameVerdict,
  type Verdict,
  withCheckResults,
  withoutDoubts,
  withoutFiles,
} from '../domain/verdict.ts'

/** A verdict that later results of checks changed, and the events that record it. */
export interface ChangedVerdict {
  readonly verdict: Verdict
  readonly events: readonly NewProjectEvent[]
}

/**
 * Judges a completion again with later results of its checks, if they ran on its content and no other attempt replaced
 * it. Null where nothing changes.
 */
export async function judgeAgain(
  reads: Reads,
  attempt: Attempt,
  { content, checks }: { readonly content: string | null; readonly checks: readonly CheckFact[] },
  setting: TransactionContext,
): Promise<ChangedVerdict | null> {
  const { tasks } = reads
  const status = taskOutcomes.find((one) => one === attempt.status)
  const [last, verdicts] = await Promise.all([tasks.lastAttempt(attempt.taskId), tasks.verdicts(attempt.id)])
  const before = verdicts.at(-1)?.verdict
  if (status === undefined || last?.id !== attempt.id || before == null) return null
  if (content === null || before.content !== content) return null
  const verdict = withCheckResults(before, { status, checks })
  if (isSameVerdict(verdict, before)) return null
  return { verdict, events: await verdictEvents(reads, verdict, { attempt, before }, setting) }
}

async function verdictEvents(
  reads: Reads,
  verdict: Verdict,
  judged: {
    readonly attempt: Attempt
    readonly before: Verdict
    readonly released?: readonly string[]
    readonly cause?: string
  },
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const { taskId } = judged.attempt
  const [task, items, settings] = await Promise.all([
    findTask(reads, taskId),
    reads.inboxItems.ofTask(taskId),
    reads.runs.settings(),
  ])
  const verdictItems = items.filter(({ kind }) => kind === 'verdict')
  const { completion } = gateSettingsOf(settings)
  return changeVerdict(
    verdict,
    { ...judged, isDone: task.status === 'done', verdictItems, completion },
    setting,
  )
}

/** Files whose author was uncertain, and that are an attempt's, or not, by what the agents say. */
export interface SettledFiles {
  readonly attemptId: AttemptId
  readonly paths: readonly string[]
}

/**
 * Judges the last completion of a task again after files left attempts at it or at its subtasks, or turned out to be its
 * own, by what is recorded alone: nothing is measured.
 */
export async function judgeReleased(
  reads: Reads,
  taskId: TaskId,
  { left, owned }: { readonly left: readonly SettledFiles[]; readonly owned: readonly SettledFiles[] },
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const { tasks } = reads
  const attempt = await tasks.lastAttempt(taskId)
  const status = taskOutcomes.find((one) => one === attempt?.status)
  if (attempt === null || status === undefined) return []
  const [verdicts, related, own] = await Promise.all([
    tasks.verdicts(attempt.id),
    tasks.relatedAttempts(attempt),
    tasks.changes(attempt.id, { limit: maxChanges, offset: 0 }),
  ])
  const before = verdicts.at(-1)?.verdict
  if (before == null) return []
  // What another attempt at the task changed as well is still the task's.
  const leaves = (id: AttemptId, path: string) =>
    left.some(({ attemptId, paths }) => attemptId === id && paths.includes(path))
  const kept = [{ attempt, changes: own }, ...related].flatMap(({ attempt: { id }, changes }) =>
    changes.filter(({ path }) => !leaves(id, path)),
  )
  const stay = new Set(kept.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))
  const released = [...new Set(left.flatMap(({ paths }) => paths))].filter((path) => !stay.has(path))
  const settled = owned.flatMap(({ attemptId, paths }) => (attemptId === attempt.id ? paths : []))
  const verdict = withoutDoubts(
    withoutFiles(before, { status, prefix: attempt.snapshot.prefix, paths: released }),
    { status, paths: [...released, ...settled] },
  )
  return isSameVerdict(verdict, before)
    ? []
    : verdictEvents(reads, verdict, { attempt, before, released: [...released, ...settled] }, setting)
}

/** Judges the completion that found a loss again, without the files that a person says were meant to go. */
export async function judgeDismissedLoss(
  reads: Reads,
  itemId: InboxItemId,
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const { tasks } = reads
  const loss = await reads.fileLosses.byItem(itemId)
  const attempt = loss?.ending === undefined ? null : await tasks.attempt(loss.ending)
  const status = taskOutcomes.find((one) => one === attempt?.status)
  if (loss === null || attempt === null || status === undefined) return []
  const [last, verdicts] = await Promise.all([tasks.lastAttempt(attempt.taskId), tasks.verdicts(attempt.id)])
  const before = verdicts.at(-1)?.verdict
  if (last?.id !== attempt.id || before == null) return []
  const paths = loss.files.map(({ path }) => path)
  const verdict = withoutDoubts(before, { status, paths, rule: 'files_lost' })
  const cause = 'A person dismissed the loss of its files.'
  return isSameVerdict(verdict, before)
    ? []
    : verdictEvents(reads, verdict, { attempt, before, cause }, setting)
}

/** Judges a completion again whose check did not run: a person rejected the command. */
export async function judgeRejectedCheck(
  reads: Reads,
  taskId: TaskId,
  { run, ...refusal }: CheckRefusal & { readonly run: string },
  setting: TransactionContext,
): Promise<readonly NewProjectEvent[]> {
  const { tasks } = reads
  const attempt = await tasks.lastAttempt(taskId)
  const status = taskOutcomes.find((one) => one === attempt?.status)
  const before = attempt && (await tasks.verdicts(attempt.id)).at(-1)?.verdict
  if (attempt === null || status === undefined || before == null) return []
  const checks = before.checks.map((check) =>
    check.command === run && check.state === 'not_approved' ? { ...check, refusal } : check,
  )
  const verdict = withCheckResults(before, { status, checks })
  const cause = `${refusal.author} rejected "${run}".`
  return isSameVerdict(verdict, before)
    ? []
    : verdictEvents(reads, verdict, { attempt, before, cause }, setting)
}

const maxChanges = 20_000

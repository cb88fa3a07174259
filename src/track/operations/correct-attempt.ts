import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { openItemEntry } from '../../inbox/operations/item-answer.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { findAttempt, findTask } from '../../kernel/operations/find.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { correctAttempt } from '../domain/completion.ts'
import { nameSome } from '../domain/owner-notes.ts'
import { withoutSettled } from '../domain/settled-files.ts'
import type { Attempt } from '../domain/task.ts'
import type { AttemptEnd } from '../ports/attempt-reads.ts'
import { completionReport, verdictEntry } from './attempt-answer.ts'
import { canAmend, isByItsAgent, openItemsOfTask, storedCompletion } from './completion.ts'
import { deniedPaths } from './judge-report.ts'
import { denyFiles, followReleases, maxChanges } from './settle-files.ts'

/** Who ends or corrects an attempt, and when. */
export interface CompletionAuthor {
  readonly actor: Actor
  readonly setting: TransactionContext
}

/** A later correction of an ended attempt; the original claims and measurements stay unchanged. */
export async function correct(
  reads: Reads,
  { actor, setting }: CompletionAuthor,
  request: {
    readonly task_id: string
    readonly attempt_id?: string | undefined
    readonly correction: string
    readonly not_mine?: readonly string[] | undefined
    readonly status?: unknown
    readonly outcome?: { readonly not_mine?: readonly string[] | undefined } | undefined
  },
) {
  const task = await findTask(reads, request.task_id)
  const attempt =
    request.attempt_id === undefined
      ? await reads.tasks.lastAttempt(task.id)
      : await findAttempt(reads, request.attempt_id)
  const before = attempt === null ? [] : await reads.tasks.corrections(attempt.id)
  const corrected = correctAttempt({ task, attempt, before }, { text: request.correction, actor }, setting)
  const denied = [...(request.not_mine ?? []), ...(request.outcome?.not_mine ?? [])]
  if (denied.length > 0 && !isByItsAgent(corrected.attempt, actor)) throw notItsAgent(corrected.attempt)
  const settled = await denyFiles(reads, corrected.attempt, denied, setting)
  const followed = await followReleases(reads, settled, setting)
  const [end, verdicts] = await Promise.all([
    reads.tasks.end(corrected.attempt.id),
    reads.tasks.verdicts(corrected.attempt.id),
  ])
  const { settled: __, ...answer } = storedCompletion(end?.answer ?? {})
  const [changed] = followed.flatMap((event) =>
    event.kind === 'verdict.changed' && event.attemptId === corrected.attempt.id ? [event.verdict] : [],
  )
  const verdict = changed ?? verdicts.at(-1)?.verdict
  const own = settled.flatMap((event) => (event.kind === 'files.settled' ? [event] : []))
  const taken = own.flatMap(({ paths }) => paths)
  const kept = denied.filter((path) => !taken.includes(path.trim().replace(/^\.\//, '')))
  const changes =
    kept.length === 0 ? [] : await reads.tasks.changes(corrected.attempt.id, { limit: maxChanges, offset: 0 })
  const isListed = (path: string) => deniedPaths(changes, corrected.attempt, [path]).size > 0
  const [listed, absent] = [kept.filter(isListed), kept.filter((path) => !isListed(path))]
  const ignored = request.status !== undefined || request.outcome !== undefined
  const closed = new Set(followed.flatMap((event) => (event.kind === 'inbox.closed' ? [event.itemId] : [])))
  const waitsFor = (await openItemsOfTask(reads, task.id))
    .filter(({ id }) => !closed.has(id))
    .map(openItemEntry)
  const notes = [
    ...(ignored ? ['status and outcome are unchanged; the correction is stored beside them.'] : []),
    ...(absent.length === 0
      ? []
      : [`Not among the files of this attempt: ${nameSome(absent)}. Nothing is to be taken off.`]),
    ...(listed.length === 0
      ? []
      : [
          `Not taken off: ${nameSome(listed)}. Only files that another agent may have changed are; where all deny one, a person is asked.`,
        ]),
    ...(verdict?.is === 'contradicted' && changed === undefined
      ? [
          'The verdict stays contradicted: a correction does not change it.',
          ...((await canAmend(reads, corrected.attempt))
            ? ['Complete the task again without a correction, with the status and a corrected outcome.']
            : []),
        ]
      : []),
  ]
  return {
    events: [...corrected.events, ...settled, ...followed],
    agentName: corrected.agentName,
    answer: {
      ...answer,
      ...(end !== null && denied.length > 0 && (await reportWithout(reads, corrected.attempt, end, own))),
      ...(verdict && { verdict: verdictEntry(verdict, task.id, waitsFor) }),
      task_name: excerpt(task.name, 120),
      waits_for: waitsFor,
      corrected: true as const,
      correction: { text: request.correction, created_at: instant(corrected.at) },
      ...(denied.length > 0 && { files_taken_off: taken }),
      ...(notes.length > 0 && { note: notes.join(' ') }),
    },
  }
}

/** The measured part of the answer, as it is without the files that the agent denies. */
async function reportWithout(
  { tasks }: Reads,
  attempt: Attempt,
  { evidence }: AttemptEnd,
  settled: readonly ProjectEventOf<'files.settled'>[],
) {
  const changes = await tasks.changes(attempt.id, { limit: maxChanges, offset: 0 })
  const left = settled.reduce((before, event) => withoutSettled(before, event, displayName(attempt)), {
    changes,
    evidence,
  })
  return completionReport({ ...left.evidence, changes: left.changes }, attempt.taskId)
}

function notItsAgent(attempt: Attempt): Failure {
  return new Failure(
    'FORBIDDEN',
    `Only ${displayName(attempt)} or a person can say which files of attempt ${attempt.id} are not its own.`,
    { reason: 'attempt_of_other_agent', hint: 'Send only "task_id" and "correction".' },
  )
}

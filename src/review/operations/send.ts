import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { endItem, endingOf } from '../../inbox/domain/answers.ts'
import { approve, reject } from '../../inbox/operations/answer.ts'
import { prepareSeen, shownByPorts } from '../../inbox/operations/shown-content.ts'
import { findInboxItem } from '../../inbox/operations/subject.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { localMeasurer } from '../../kernel/operations/measurement.ts'
import { type CommandContext, defineOperation } from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded } from '../../track/domain/mission.ts'
import type { InboxItem } from '../../track/domain/records.ts'
import { type Review, reopenTask, sendReview, subjectKey, tasksSentBack, verdicts } from '../domain/review.ts'
import { markOf, placeKey } from './gather.ts'
import {
  answeredByVerdict,
  decisionObstacle,
  inspectSubject,
  type ReviewPreview,
  tasksOf,
} from './inspect.ts'
import { findSubject, reviewerOf, subjectField } from './subject.ts'

export const reviewSend = defineOperation({
  name: 'review_send',
  command: 'review send',
  screen: true,
  toolset: 'track',
  audience: 'person',
  access: 'contributor',
  title: 'Send a review',
  description:
    'All your comments at once: to send the work back, to approve exactly what you were shown, or only to say them.',
  kind: 'command',
  input: z.strictObject({
    subject: subjectField,
    verdict: z.enum(verdicts),
    text: text('What you say of the whole').optional(),
    content: identifier(
      'The content that you were shown; refused if it has changed since. An approval needs it',
    ).optional(),
    viewed: z.boolean().describe('Marks all its files as viewed').optional(),
    role: identifier(
      'The role in which you decide about a run, where its process has several for people',
    ).optional(),
  }),
  output: z.object({
    review_id: z.string(),
    verdict: z.enum(verdicts),
    comments: z.int(),
    /** Tasks that are to do again. */
    reopened: strings,
    closed_holds: strings,
    runs: list(z.object({ run_id: z.string(), state: z.string().nullable() })),
    by: z.string(),
    at: z.string(),
    notes: strings,
  }),
}).handler(async (handling, input) => {
  const { verdict } = input
  const by = reviewerOf(handling)
  const why = decisionObstacle(handling)
  const found = await handling.store.view((reads) => findSubject(reads, input.subject, by))
  const { subject } = found
  const isVerdict = verdict === 'send_back' || (verdict === 'approve' && subject.kind !== 'since')
  if (isVerdict && why !== null) {
    throw new Failure('FORBIDDEN', why, {
      reason: handling.actor.kind === 'person' ? 'access_too_low' : 'person_needed',
      hint: 'Send your comments with the verdict comment.',
    })
  }
  if (verdict === 'approve' && input.content === undefined) {
    throw new Failure('INVALID_INPUT', 'An approval names what was shown: give content.', {
      reason: 'content_missing',
      hint: hintOf`${callTo('review_show')} answers the content of what is there.`,
    })
  }
  const look = await inspectSubject(handling, found)
  await shownByPorts(handling, async (_, questions) => {
    const about = { id: nameOf(subjectKey(subject)), seen: input.content }
    return prepareSeen(questions, about, async () => look.shown)
  })
  const { files, works } = look.gathered
  if (verdict === 'approve' && files.length === 0 && look.waiting.length === 0 && subject.kind !== 'since') {
    throw new Failure(
      'REFUSED',
      `There is nothing to approve: ${found.name} has no measured changes and nothing waits.`,
      { reason: 'nothing_to_approve', hint: 'waymark inbox lists what waits for you.' },
    )
  }
  const words = input.text ?? null
  const drafted = await handling.store.view(({ reviews }) => reviews.drafts(by.id, subjectKey(subject)))
  // Judged before anything is decided about a run: what is refused here must leave that as it is.
  const sending = { subject, verdict, text: words, content: look.gathered.content, by, tasks: tasksOf(found) }
  sendReview({ ...sending, drafts: drafted }, { at: handling.clock.now(), ids: handling.ids })
  const reason = words ?? reasonOf(verdict, drafted.length)
  const decided = isVerdict
    ? await decideRuns(handling, look, { verdict, reason, role: input.role })
    : { runs: [], notes: [] }
  const lastEnd = Math.max(0, ...works.map(({ attempt }) => attempt.closedAt ?? 0))
  return handling.record(async (reads, setting) => {
    const drafts = await reads.reviews.drafts(by.id, subjectKey(subject))
    const review = sendReview({ ...sending, drafts }, setting)
    const closing = isVerdict
      ? await closeAnsweredItems(reads, look, { verdict, reason })
      : { facts: [], ids: [] }
    const reopening =
      verdict === 'send_back' ? await reopenTasks(reads, review) : { facts: [], ids: [], notes: [] }
    return {
      facts: [{ kind: 'review.sent', review }, ...closing.facts, ...reopening.facts],
      beside: [
        { kind: 'drafts dropped', ownerId: by.id, ids: drafts.map(({ id }) => id) },
        ...(input.viewed === true
          ? [
              {
                kind: 'files viewed' as const,
                ownerId: by.id,
                subject: subjectKey(subject),
                at: setting.at,
                files: files.map((file) => ({ place: placeKey(file), content: markOf(file) })),
              },
            ]
          : []),
        ...(subject.kind === 'since' && verdict === 'approve' && lastEnd > 0
          ? [{ kind: 'all looked at' as const, ownerId: by.id, at: lastEnd }]
          : []),
      ],
      answer: {
        review_id: review.id,
        verdict,
        comments: drafts.length,
        reopened: reopening.ids,
        closed_holds: closing.ids,
        runs: decided.runs,
        by: by.name,
        at: instant(review.at),
        notes: [...decided.notes, ...reopening.notes],
      },
    }
  })
})

function nameOf(key: string): string {
  return key === 'since' ? 'What is new' : key
}

function reasonOf(verdict: Review['verdict'], comments: number): string {
  return verdict === 'approve'
    ? 'approved'
    : `Sent back with ${formatCount(comments, 'comment')}: get_context lists them.`
}

interface ReviewDecision {
  readonly verdict: Review['verdict']
  readonly reason: string
  readonly role?: string | undefined
}

/**
 * Runs that wait for a decision are decided as in the inbox, bound to what was shown of them. One that cannot be decided
 * so stays for the inbox, and is told of; fails where that is true of all.
 */
async function decideRuns(
  handling: CommandContext,
  { waiting, contents }: ReviewPreview,
  { verdict, reason, role }: ReviewDecision,
) {
  const asked = waiting.filter(({ hold }) => hold.kind === 'approval')
  const runs: { readonly run_id: string; readonly state: string | null }[] = []
  const refused: { readonly run: string | null; readonly failure: Failure }[] = []
  for (const { hold } of asked) {
    const decide = verdict === 'approve' ? approve : reject
    const content = contents.get(hold.id)
    try {
      // Not under the key of this call: its answer is the review's.
      const answer = await decide.handle(
        { ...handling, record: handling.recordAside, measurer: localMeasurer(handling) },
        { id: hold.id, reason, role, content, event: undefined },
      )
      if (!('run_id' in answer)) continue
      const run = await handling.store.view((reads) => reads.runs.find(answer.run_id))
      runs.push({ run_id: answer.run_id, state: run?.state ?? null })
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure
      refused.push({ run: hold.runId, failure })
    }
  }
  const [first] = refused
  if (first !== undefined && runs.length === 0) throw first.failure
  return { runs, notes: refused.map(({ run, failure }) => `Run ${run} was not decided: ${failure.message}`) }
}

/** Ends what the verdict answers. What somebody else ended meanwhile stays as they ended it. */
async function closeAnsweredItems(
  reads: Reads,
  { waiting }: ReviewPreview,
  { verdict, reason }: ReviewDecision,
) {
  const facts: NewProjectEvent[] = []
  const ids: string[] = []
  for (const { hold } of waiting) {
    if (hold.kind === 'approval' || !isAnswered(hold)) continue
    const now = await findInboxItem(reads, hold.id)
    if (now.status !== 'open') continue
    const ending = endingOf(now, verdict === 'approve' ? 'approve' : 'reject', reason)
    facts.push(...endItem(now, { ...ending, answer: reason }, { attempt: null, task: null }))
    ids.push(hold.id)
  }
  return { facts, ids }
}

function isAnswered({ kind }: InboxItem): boolean {
  return answeredByVerdict.some((answered) => answered === kind)
}

/** Done tasks are to do again. */
async function reopenTasks(reads: Reads, review: Review) {
  const facts: NewProjectEvent[] = []
  const ids: string[] = []
  const notes: string[] = []
  for (const id of tasksSentBack(review)) {
    const task = await reads.tasks.find(id)
    if (task === null) continue
    const again = reopenTask(task)
    facts.push(...again)
    if (again.length > 0) ids.push(id)
    else if (task.status === 'in_progress')
      notes.push(`Task ${id} is at work: its agent reads the comments when it asks.`)
    const mission = task.missionId === null ? null : await reads.missions.find(task.missionId)
    if (mission !== null && isEnded(mission)) {
      notes.push(
        `Mission ${mission.id} of task ${id} has ended: an agent takes the task into another mission, or without one.`,
      )
    }
  }
  return { facts, ids, notes }
}

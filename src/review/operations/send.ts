import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { withdrawForTasks } from '../../gate/operations/run/approvals.ts'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import { endItem, endingOf } from '../../inbox/domain/answers.ts'
import {
  type AnswerQuestions,
  type AnswerRequest,
  type PreparedAnswer,
  prepareRunAnswer,
  recordAnswer,
} from '../../inbox/operations/answer.ts'
import { prepareSeen } from '../../inbox/operations/approval-content.ts'
import { type DecisionMeasurements, decisionMeasurements } from '../../inbox/operations/decide.ts'
import { findDecisionSubject } from '../../inbox/operations/subject.ts'
import type { InboxItemLine } from '../../inbox/ports/item-reads.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import {
  type Measurements,
  type PreparationStep,
  requireMeasured,
} from '../../kernel/operations/measurement-protocol.ts'
import {
  defineOperation,
  type RecordContext,
  type TransactionInput,
} from '../../kernel/operations/operation.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { reopenMissions } from '../../track/operations/reopen-missions.ts'
import { isWhollyShown } from '../domain/files.ts'
import {
  assertReviewSays,
  type Review,
  type ReviewSubject,
  reopenTask,
  reviewActions,
  sendReview,
  subjectKey,
  tasksSentBack,
} from '../domain/review.ts'
import { placeKey, viewedMark } from './gather.ts'
import {
  decisionObstacle,
  isAnsweredByReview,
  preparePreview,
  previewMeasurements,
  type ReviewPreview,
  tasksOf,
} from './inspect.ts'
import { findSubject, type ResolvedSubject, reviewerOf, subjectField } from './subject.ts'

export const reviewSend = defineOperation({
  name: 'review_send',
  command: 'review send',
  screen: true,
  toolset: 'track',
  audience: 'person',
  access: 'contributor',
  title: 'Send a review',
  description:
    'Send all your comments at once: send the work back, approve exactly what you reviewed, or only comment.',
  kind: 'command',
  input: z.strictObject({
    subject: subjectField,
    action: z.enum(reviewActions),
    text: text('Comment on the whole').optional(),
    content: identifier(
      'Hash of the content you reviewed; refused if it changed. Required to approve',
    ).optional(),
    viewed: z.boolean().describe('Mark all its files as viewed').optional(),
    role: identifier(
      'Your role for a decision about a run, if its process has several for people',
    ).optional(),
  }),
  output: z.object({
    review_id: z.string(),
    action: z.enum(reviewActions),
    comments: z.int(),
    /** Tasks that must be redone. */
    reopened: strings,
    /** Tasks that were not proven, and are accepted with their mission. */
    accepted: strings,
    closed_items: strings,
    runs: list(z.object({ run_id: z.string(), state: z.string().nullable() })),
    author: z.string(),
    created_at: z.string(),
    notes: strings,
  }),
})
  .measure({ ...previewMeasurements, ...decisionMeasurements })
  .prepare(async (reads, input, context, measured, taken) => {
    const author = reviewerOf(context)
    const resolved = await findSubject(reads, input.subject, author)
    const { subject } = resolved
    assertMayDecide(context, subject, { action: input.action, content: input.content })
    const { action, text: words = null } = input
    const drafts = await reads.reviews.drafts(author.id, subjectKey(subject))
    assertReviewSays({ action, text: words, drafts })
    const questions = new MeasurementQuestions<DecisionMeasurements>(measured)
    const { states, waiting, preview } = await preparePreview(reads, questions, {
      context,
      found: resolved,
      measured,
    })
    const decision = { action, reason: words ?? reasonOf(action, drafts.length), role: input.role }
    const { runs, first } = isDecisionOn(subject, action)
      ? await prepareRuns(reads, questions, {
          context,
          waiting,
          contents: preview?.contents ?? null,
          decision,
          taken,
        })
      : { runs: [], first: undefined }
    const seen = await prepareSeen(
      questions,
      { id: nameOf(subjectKey(subject)), seen: input.content },
      async () => preview?.approvalContent,
    )
    const briefs = { ...questions.briefs, states }
    if (preview === null || runs === null || seen === undefined) return { briefs, found: null, first }
    if (
      action === 'approve' &&
      preview.gathered.files.length === 0 &&
      waiting.length === 0 &&
      subject.kind !== 'since' &&
      !(subject.kind === 'task' && (await isDoubted(reads, subject.taskId)))
    ) {
      throw new Failure(
        'REFUSED',
        `There is nothing to approve: ${resolved.name} has no measured changes and no open items.`,
        { reason: 'nothing_to_approve', hint: 'waymark inbox lists what needs you.' },
      )
    }
    return { briefs, found: { about: resolved, preview, drafts, decision, runs }, first }
  })
  .record(async (deciding, input) => {
    const { reads, context, setting } = deciding
    const { about, preview, drafts, decision, runs } = requireMeasured(deciding.found ?? undefined)
    const { subject } = about
    const { files, works, content } = preview.gathered
    const { action } = input
    const author = reviewerOf(context)
    const decided = await decideRuns(deciding, runs)
    const [refused] = decided.refused
    if (refused !== undefined && decided.runs.length === 0) {
      return { events: decided.events, refused: refused.failure }
    }
    const acceptance =
      action === 'approve' ? await acceptTasks(reads, about, preview) : { accepted: [], notes: [] }
    const { accepted } = acceptance
    const review = sendReview(
      { subject, action, text: input.text ?? null, content, author, tasks: tasksOf(about), accepted, drafts },
      setting,
    )
    const closing = isDecisionOn(subject, action)
      ? closeAnsweredItems(preview, decision)
      : { events: [], ids: [] }
    const reopening =
      action === 'send_back'
        ? await reopenTasks(reads, review, setting)
        : { events: [], ids: [], notes: [], tasks: [] }
    const decidedRuns = new Set(decided.runs.map(({ run_id: id }) => id))
    const withdrawn =
      action === 'send_back'
        ? await withdrawForTasks(reads, reopening.tasks, {
            actor: context.actor,
            setting,
            decided: decidedRuns,
          })
        : []
    const lastEnd = Math.max(0, ...works.map(({ attempt }) => attempt.closedAt ?? 0))
    return {
      events: [
        ...decided.events,
        { kind: 'review.sent', review },
        ...closing.events,
        ...reopening.events,
        ...withdrawn,
      ],
      sideWrites: [
        { kind: 'drafts dropped', ownerId: author.id, ids: drafts.map(({ id }) => id) },
        ...(input.viewed === true
          ? [
              {
                kind: 'files viewed' as const,
                ownerId: author.id,
                subject: subjectKey(subject),
                at: setting.at,
                files: files.map((file) => ({ place: placeKey(file), content: viewedMark(file) })),
              },
            ]
          : []),
        ...(subject.kind === 'since' && action === 'approve' && lastEnd > 0
          ? [{ kind: 'all looked at' as const, ownerId: author.id, at: lastEnd }]
          : []),
      ],
      answer: {
        review_id: review.id,
        action,
        comments: drafts.length,
        reopened: reopening.ids,
        accepted,
        closed_items: closing.ids,
        runs: decided.runs,
        author: author.name,
        created_at: instant(review.createdAt),
        notes: [
          ...decided.refused.map(({ runId, failure }) => `Run ${runId} was not decided: ${failure.message}`),
          ...acceptance.notes,
          ...reopening.notes,
        ],
      },
    }
  })

/** Whether the action decides on the work and its open items, instead of only commenting. */
function isDecisionOn(subject: ReviewSubject, action: Review['action']): boolean {
  return action === 'send_back' || (action === 'approve' && subject.kind !== 'since')
}

function assertMayDecide(
  context: Pick<RecordContext, 'actor' | 'permissions'>,
  subject: ReviewSubject,
  { action, content }: { readonly action: Review['action']; readonly content?: string | undefined },
): void {
  const why = decisionObstacle(context)
  if (isDecisionOn(subject, action) && why !== null) {
    throw new Failure('FORBIDDEN', why, {
      reason: context.actor.kind === 'person' ? 'access_too_low' : 'person_needed',
      hint: 'Send your comments with the action comment.',
    })
  }
  if (action === 'approve' && content === undefined) {
    throw new Failure('INVALID_INPUT', 'Pass content to confirm the version you reviewed.', {
      reason: 'content_missing',
      hint: hintOf`${callTo('review_show')} returns the current content.`,
    })
  }
}

/** Whether approving the review of a task accepts a completion that is not proven. */
async function isDoubted({ tasks }: Reads, taskId: TaskId): Promise<boolean> {
  const attempt = await tasks.lastAttempt(taskId)
  const verdict = attempt && (await tasks.verdicts(attempt.id)).at(-1)?.verdict
  return verdict != null && verdict.is !== 'proven'
}

function nameOf(key: string): string {
  return key === 'since' ? 'What is new' : key
}

/** The reason where the person wrote none; an approval needs none. */
function reasonOf(action: Review['action'], comments: number): string | null {
  return action === 'approve' ? null : `Sent back with ${formatCount(comments, 'comment')}.`
}

interface ReviewDecision {
  readonly action: Review['action']
  readonly reason: string | null
  readonly role: string | undefined
}

/** A run that waits for a decision, with the prepared answer; or why it cannot be decided. */
type ReviewedRun = { readonly runId: string } & (
  | { readonly failure: Failure }
  | { readonly request: AnswerRequest; readonly prepared: PreparedAnswer }
)

interface ReviewedRuns {
  readonly context: RecordContext
  readonly waiting: readonly InboxItemLine[]
  /** The content of the items; null until it is measured. */
  readonly contents: ReviewPreview['contents'] | null
  readonly decision: ReviewDecision
  readonly taken: ReadonlySet<string>
}

/** Prepares decisions of waiting runs as in the inbox, bound to the shown content. Null until it is measured. */
async function prepareRuns(
  reads: Reads,
  questions: AnswerQuestions,
  { context, waiting, contents, decision, taken }: ReviewedRuns,
): Promise<{ readonly runs: readonly ReviewedRun[] | null; readonly first: PreparationStep | undefined }> {
  const { action, reason, role } = decision
  const approvals = waiting.flatMap(({ item: { id, kind, runId } }) =>
    kind === 'approval' && runId !== null ? [{ id, runId }] : [],
  )
  const runs: ReviewedRun[] = []
  const steps: PreparationStep[] = []
  let isWhole = contents !== null
  // One after the other, to keep the order of measurements. A run may have several items and is decided once.
  for (const { id, runId } of new Map(approvals.map((one) => [one.runId, one])).values()) {
    const verb = action === 'approve' ? 'approve' : 'reject'
    const seen = contents?.get(id) ?? null
    const request: AnswerRequest = { verb, id, words: reason, role, content: seen?.content }
    try {
      const subject = await findDecisionSubject(reads, id)
      if (subject.kind !== 'run') continue
      const { loaded } = subject
      const { found, first } = await prepareRunAnswer(reads, questions, {
        answer: request,
        context,
        loaded,
        seen,
      })
      if (first) steps.push({ ...first, name: `${first.name} ${runId}` })
      if (found === null) isWhole = false
      else runs.push({ runId, request, prepared: found })
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure
      runs.push({ runId, failure })
    }
  }
  const first = steps.find(({ name }) => !taken.has(name))
  return { runs: isWhole ? runs : null, first }
}

/** Decides the runs. One that cannot be decided stays in the inbox, and the answer names it. */
async function decideRuns(
  { reads, context, setting }: Pick<TransactionInput<Measurements, unknown>, 'reads' | 'context' | 'setting'>,
  reviewedRuns: readonly ReviewedRun[],
) {
  const events: NewProjectEvent[] = []
  const runs: { readonly run_id: string; readonly state: string | null }[] = []
  const refused: { readonly runId: string; readonly failure: Failure }[] = []
  for (const reviewedRun of reviewedRuns) {
    const { runId } = reviewedRun
    if ('failure' in reviewedRun) {
      refused.push(reviewedRun)
      continue
    }
    try {
      const decided = await recordAnswer(
        { reads, context, setting, found: reviewedRun.prepared },
        reviewedRun.request,
      )
      events.push(...decided.events)
      if ('refused' in decided) refused.push({ runId, failure: decided.refused })
      else runs.push({ run_id: runId, state: await stateAfter(reads, runId, decided.answer) })
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure
      refused.push({ runId, failure })
    }
  }
  return { events, runs, refused }
}

/** The state of a run after a decision. */
async function stateAfter(
  { runs }: Reads,
  runId: string,
  answer: Extract<Awaited<ReturnType<typeof recordAnswer>>, { answer: unknown }>['answer'],
): Promise<string | null> {
  const moved = 'transition' in answer ? answer.transition?.to_state : undefined
  return moved ?? (await runs.find(runId))?.state ?? null
}

/** Closes the items that the review answers; runs are decided by their own rules. */
function closeAnsweredItems({ waiting }: ReviewPreview, { action, reason }: ReviewDecision) {
  const items = waiting.flatMap(({ item }) =>
    item.kind !== 'approval' && isAnsweredByReview(item) ? [item] : [],
  )
  const events = items.flatMap((item) => {
    const ending = endingOf(item, action === 'approve' ? 'approve' : 'reject', reason)
    return endItem(item, { ...ending, answer: reason }, { attempt: null, task: null })
  })
  return { events, ids: items.map(({ id }) => id) }
}

/**
 * The tasks of an approved mission that were not proven, and whose changes were all in what was approved. The others stay
 * as they are, and the notes name them.
 */
async function acceptTasks(
  { missions, tasks }: Reads,
  { subject, attempts, isCut }: ResolvedSubject,
  { gathered, waiting }: ReviewPreview,
): Promise<{ readonly accepted: readonly TaskId[]; readonly notes: readonly string[] }> {
  if (subject.kind !== 'mission') return { accepted: [], notes: [] }
  const doubted = await missions.doubtedTasks(subject.missionId, maxAccepted)
  const asked = new Set(waiting.flatMap(({ item: { kind, taskId } }) => (kind === 'verdict' ? [taskId] : [])))
  const cards = await tasks.cards(doubted.tasks.map(({ id }) => id))
  const shown = new Set(
    cards.flatMap(({ task: { id }, attempt: last }) => {
      const own = attempts.filter(({ taskId }) => taskId === id)
      // Attempts are numbered from 1: those of another mission are not shown.
      return !isCut && last?.number === own.length && isWhollyShown(own, gathered) ? [id] : []
    }),
  )
  const accepted = doubted.tasks.filter(({ id }) => asked.has(id) || shown.has(id))
  const left = doubted.contradicted + doubted.unproven - accepted.length
  const [first] = doubted.tasks.filter((task) => !accepted.includes(task))
  return {
    accepted: accepted.map(({ id }) => id),
    notes: [
      ...(accepted.length > 0 ? [`Accepted: ${formatCount(accepted.length, 'task')} without proof.`] : []),
      ...(first === undefined
        ? []
        : [
            `${formatCount(left, 'task')} without proof not accepted: this review did not show all changes. Accept each: waymark review ${first.id}`,
          ]),
    ],
  }
}

const maxAccepted = 200

/** Reopens done tasks that were sent back, and their missions if these have ended. */
async function reopenTasks(reads: Reads, review: Review, setting: TransactionContext) {
  const events: NewProjectEvent[] = []
  const ids: string[] = []
  const notes: string[] = []
  const taskIds = tasksSentBack(review)
  const byId = new Map((await reads.tasks.withIds(taskIds)).map((task) => [task.id, task]))
  const tasks = taskIds.flatMap((id) => byId.get(id) ?? [])
  for (const task of tasks) {
    const { id } = task
    const again = reopenTask(task)
    events.push(...again)
    if (again.length > 0) ids.push(id)
    else if (task.status === 'in_progress')
      notes.push(`Task ${id} is in progress: its agent reads the comments at its next call.`)
  }
  const missions = await reopenMissions(reads, tasks, review.author.name, setting)
  events.push(...missions.events)
  notes.push(...missions.notes)
  return { events, ids, notes, tasks }
}

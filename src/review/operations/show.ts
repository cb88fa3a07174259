import { z } from 'zod'
import { awaitedDecision, eventFor } from '../../gate/domain/decisions.ts'
import { transitionsFor } from '../../gate/domain/transitions.ts'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import { type InboxItem, itemKinds } from '../../inbox/domain/inbox-item.ts'
import { prepareStored, type ShownMeasurements } from '../../inbox/operations/approval-content.ts'
import { displayName } from '../../kernel/actor.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import {
  type Briefs,
  type MeasurementValues,
  requireMeasured,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import { deniedFiles } from '../../track/domain/claimed-paths.ts'
import { type Attempt, attemptStatuses, outcomeAuthorOf } from '../../track/domain/task.ts'
import { claimsWithNoChange } from '../../track/domain/verdict.ts'
import { lastCorrection, VerdictEntry, verdictEntry } from '../../track/operations/attempt-answer.ts'
import { type ReviewComment, type ReviewSubject, subjectKey } from '../domain/review.ts'
import { anchorComments, commentMeasurements, currentPlaces, linesBriefs } from './comment-anchors.ts'
import { CommentEntry, commentEntry, DraftEntry, draftEntry, ReviewActionEntry } from './entries.ts'
import {
  attemptsOf,
  contentOfMark,
  type GatherContext,
  isOwnFile,
  knownContents,
  placeKey,
  placesOfContents,
  type ReviewedFile,
  viewedMark,
} from './gather.ts'
import {
  decisionObstacle,
  isAnsweredByReview,
  preparePreview,
  previewMeasurements,
  tasksOf,
} from './inspect.ts'
import { contentIds, FileFigures, figuresOf, fileFigures } from './measure-files.ts'
import { runRequestOn, sentBackInMission, sentBackOf } from './sent-back.ts'
import { findSubject, type ResolvedSubject, reviewerOf, subjectFields } from './subject.ts'

const figureMeasurements = { figures: fileFigures, ...commentMeasurements }

const certainties = ['certain', 'probable', 'contested'] as const
const statuses = ['added', 'modified', 'deleted', 'renamed'] as const

const FileEntry = z.object({
  path: z.string(),
  from: z.string().nullable(),
  tree: z.string().nullable(),
  /** What people call that work tree: its folder, and its machine where there are several. */
  tree_name: z.string().nullable(),
  status: z.enum(statuses),
  mode: z.object({ before: z.string(), after: z.string() }).nullable(),
  ...FileFigures.shape,
  before: z.string().nullable(),
  after: z.string().nullable(),
  attempts: strings,
  certainty: z.enum(certainties),
  viewed: z
    .object({
      viewed_at: z.string(),
      /** The viewed content; empty for a deleted file. */
      content: z.string(),
      /** Whether it is the current content. */
      current: z.boolean(),
    })
    .nullable(),
  comments: z.object({ open: z.int(), answered: z.int(), done: z.int(), drafts: z.int() }),
})

const AttemptLine = z.object({
  attempt_id: z.string(),
  task_id: z.string(),
  task_name: z.string(),
  number: z.int(),
  agent: z.string(),
  status: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
})

const WaitingEntry = z.object({
  item_id: z.string(),
  kind: z.enum(itemKinds),
  reason: z.string(),
  run_id: z.string().nullable(),
  task_id: z.string().nullable(),
  /** Whether an approval of the work answers it. */
  is_answered: z.boolean(),
  /** The state that an approval sends its run to, once the guards hold. */
  moves_to: z.string().nullable(),
})

export const reviewShow = defineOperation({
  name: 'review_show',
  command: 'review show',
  toolset: 'track',
  audience: 'person',
  title: 'Show the files to review',
  description:
    'Show the files that a task, a mission, or all work since your last review changed, with your viewed marks, comments, and whether you may decide.',
  kind: 'query',
  positional: ['task'],
  input: z.strictObject(subjectFields),
  output: z.object({
    subject: z.object({
      kind: z.enum(['task', 'mission', 'since']),
      task_id: z.string().nullable(),
      mission_id: z.string().nullable(),
      since: z.string().nullable(),
      name: z.string(),
      mission_name: z.string().nullable(),
      status: z.string().nullable(),
      goal: z.string().nullable(),
    }),
    agents: strings,
    /** Of a task: files that its last completion names and that did not change. */
    unchanged_claims: strings,
    /** Of a task: files that its agent says are not its own work, at most 50. */
    not_mine: strings,
    /** Of a task: what its last completion says. */
    claimed: z
      .object({
        author: z.string(),
        status: z.enum(attemptStatuses),
        summary: z.string(),
        limitations: strings,
        /** What its agent added last, after the end. */
        correction: z.string().nullable(),
      })
      .nullable(),
    /** Of a task: what the measurement says of its last completion. */
    verdict: VerdictEntry.nullable(),
    /** How this version of a task or mission was decided, if nothing waits for a decision any more. */
    decision: z
      .object({ action: z.enum(['approved', 'sent back']), author: z.string(), created_at: z.string() })
      .nullable(),
    attempts: list(AttemptLine),
    content: z.string(),
    totals: z.object({
      files: z.int(),
      added: z.int(),
      removed: z.int(),
      viewed: z.int(),
    }),
    files: list(FileEntry),
    comments: list(CommentEntry),
    drafts: list(DraftEntry),
    /** `current`: the files did not change since. `task_id`: the review was of this task alone. */
    reviews: list(ReviewActionEntry.extend({ current: z.boolean(), task_id: z.string().nullable() })),
    /** What a person last asked for, in a review or the inbox, and nobody approved since. */
    request: z.object({ author: z.string(), text: z.string() }).nullable(),
    waiting: list(WaitingEntry),
    may: z.object({
      decide: z.boolean(),
      /** Why not, as a sentence. */
      why: z.string().nullable(),
    }),
    notes: strings,
  }),
})
  .measure({ ...previewMeasurements, ...figureMeasurements })
  .prepare(async (reads, input, context, measured) => {
    const questions = new MeasurementQuestions<ShownMeasurements>(measured)
    const resolved = await findSubject(reads, input, reviewerOf(context))
    const { states, gathered, preview } = await preparePreview(reads, questions, {
      context,
      found: resolved,
      measured,
    })
    const { files = [] } = gathered ?? {}
    const remarks = gathered === null ? [] : await commentsAbout(reads, resolved.subject, resolved)
    const anchors = anchorComments(remarks, files)
    const content = preview ? prepareStored(questions, preview.approvalContent) : undefined
    return {
      briefs: { ...questions.briefs, states, ...(gathered && figuresBriefs(context, files, anchors)) },
      found:
        preview && content !== undefined ? { about: resolved, preview, content, remarks, anchors } : null,
    }
  })
  .answer(async ({ reads, found: prepared, measured, context }) => {
    const { about: resolved, preview, content, remarks, anchors } = requireMeasured(prepared ?? undefined)
    const { subject, task, mission, attempts } = resolved
    const { files, works, notes } = preview.gathered
    const reader = reviewerOf(context)
    const key = subjectKey(subject)
    const [drafts, sent, viewed, names] = await Promise.all([
      reads.reviews.drafts(reader.id, key),
      reads.reviews.sentAbout(reviewSubjectKeys(subject, resolved)),
      reads.reviews.viewedAt(reader.id, files.map(placeKey)),
      reads.tasks.names(tasksOf(resolved)),
    ])
    const completed =
      subject.kind === 'task' ? attempts.findLast(({ status }) => status !== 'open') : undefined
    const end = completed === undefined ? null : await reads.tasks.end(completed.id)
    const verdicts = completed === undefined ? [] : await reads.tasks.verdicts(completed.id)
    const verdict = verdicts.at(-1)?.verdict ?? null
    const figures = await figuresByFile(reads, context, { files, measured })
    const now = await currentPlaces(reads, anchors, measured)
    const comments = remarks.map((comment, at) =>
      commentEntry(comment, now[at] ?? { path: comment.path, line: null, line_is: null }),
    )
    const entries = files.map((file) => {
      const own = comments.filter((comment) => comment.now.path === file.path && isInTree(file, comment.tree))
      return {
        path: file.path,
        from: file.from,
        tree: file.tree,
        tree_name: file.treeName,
        status: file.status,
        mode: modeChange(file),
        ...(figures.get(file) ?? unknownFigures),
        before: file.before?.id ?? null,
        after: file.after?.id ?? null,
        attempts: attemptsOf(file),
        certainty: file.touched.certainty,
        viewed: viewedState(file, key, viewed),
        comments: {
          open: own.filter(({ status }) => status === 'open').length,
          answered: own.filter(({ status }) => status === 'answered').length,
          done: own.filter(({ status }) => status === 'done').length,
          drafts: drafts.filter(({ path, tree }) => path === file.path && isInTree(file, tree)).length,
        },
      }
    })
    const why = decisionObstacle(context)
    const waiting = await Promise.all(preview.waiting.map(({ item }) => waitingEntry(reads, item)))
    return {
      subject: {
        kind: subject.kind,
        task_id: subject.kind === 'task' ? subject.taskId : null,
        mission_id: subject.kind === 'since' ? null : subject.missionId,
        since: instantOrNull(resolved.since),
        name: resolved.name,
        mission_name: mission?.name ?? null,
        status: task?.status ?? mission?.status ?? null,
        goal: task?.goal ?? null,
      },
      agents: [...new Set(attempts.map(({ agentName, actor }) => displayName({ actor, agentName })))],
      unchanged_claims: end === null ? [] : claimsWithNoChange(end.evidence, verdict),
      not_mine: end === null ? [] : deniedFiles(end.outcome, end.evidence).slice(0, 50),
      claimed:
        end === null || completed === undefined
          ? null
          : {
              author: outcomeAuthorOf(completed),
              status: completed.status,
              summary: end.outcome.summary,
              limitations: end.outcome.limitations,
              correction: lastCorrection(await reads.tasks.corrections(completed.id), 600),
            },
      verdict: verdict && completed ? verdictEntry(verdict, completed.taskId) : null,
      decision:
        (completed === undefined && subject.kind !== 'mission') ||
        waiting.some(({ is_answered }) => is_answered)
          ? null
          : await decisionOf(reads, completed, {
              reviews: sent.filter(
                ({ content: reviewed, taskId }) =>
                  reviewed === preview.gathered.content && (subject.kind === 'task' || taskId === null),
              ),
            }),
      attempts: works.map(({ attempt }) => ({
        attempt_id: attempt.id,
        task_id: attempt.taskId,
        task_name: names.get(attempt.taskId) ?? attempt.taskId,
        number: attempt.number,
        agent: displayName(attempt),
        status: attempt.status,
        started_at: instant(attempt.openedAt),
        ended_at: instantOrNull(attempt.closedAt),
      })),
      content,
      totals: {
        files: entries.length,
        added: entries.reduce((sum, { added }) => sum + (added ?? 0), 0),
        removed: entries.reduce((sum, { removed }) => sum + (removed ?? 0), 0),
        viewed: entries.filter(({ viewed }) => viewed?.current === true).length,
      },
      files: entries,
      comments,
      drafts: drafts.map(draftEntry),
      reviews: sent.map(
        ({ id, action, text, content: reviewed, author, comments: count, createdAt, taskId }) => ({
          review_id: id,
          action,
          text,
          content: reviewed,
          author: author.name,
          comments: count,
          created_at: instant(createdAt),
          current: reviewed === preview.gathered.content,
          task_id: taskId,
        }),
      ),
      request: await openRequest(reads, resolved),
      waiting,
      may: { decide: why === null, why },
      notes,
    }
  })

async function openRequest(reads: Reads, resolved: ResolvedSubject) {
  const { subject } = resolved
  const returns =
    subject.kind === 'mission'
      ? [...(await sentBackInMission(reads, subject.missionId)).values()]
      : await Promise.all(tasksOf(resolved).map((id) => sentBackOf(reads, id)))
  const ofRun = subject.kind === 'since' ? null : await runRequestOn(reads, { taskId: null, ...subject })
  const requests = [...returns, ofRun].flatMap((one) => (one?.text ? [{ ...one, text: one.text }] : []))
  const last = requests.toSorted((a, b) => a.at - b.at).at(-1)
  return last === undefined ? null : { author: last.author, text: last.text }
}

interface CurrentReviews {
  /** Those of the files as they are. */
  readonly reviews: Awaited<ReturnType<Reads['reviews']['sentAbout']>>
}

async function waitingEntry(reads: Reads, item: InboxItem): Promise<z.output<typeof WaitingEntry>> {
  const { id, kind, reason, runId, taskId } = item
  const run = kind === 'approval' && runId !== null ? await runApproval(reads, runId) : null
  return {
    item_id: id,
    kind,
    reason,
    run_id: runId,
    task_id: taskId,
    is_answered: isAnsweredByReview(item) && run?.isPossible !== false,
    moves_to: run?.movesTo ?? null,
  }
}

/** Whether a run takes a person's approval, and the state that it leads to: null if it sends no event, or guards choose. */
async function runApproval({ runs }: Reads, runId: string) {
  const loaded = await runs.load(runId)
  if (loaded === null) return null
  const { definition, record } = loaded
  const { events = [], approvals = [] } = awaitedDecision(definition, record.state) ?? {}
  const event = eventFor('approve', events)
  const states = new Set(
    event === null ? [] : transitionsFor(definition, record.state, event).map(({ to }) => to),
  )
  const [state = null] = states
  return { isPossible: event !== null || approvals.length > 0, movesTo: states.size === 1 ? state : null }
}

/** The last decision about an attempt or a mission: by a review of its files, or by the answer to an inbox item. */
async function decisionOf(reads: Reads, attempt: Attempt | undefined, { reviews }: CurrentReviews) {
  const items = attempt === undefined ? [] : await reads.inboxItems.ofAttempt(attempt.id)
  const decisions = [
    ...reviews.flatMap(({ action, author, createdAt }) =>
      action === 'comment' ? [] : [{ action: actionDone[action], author: author.name, at: createdAt }],
    ),
    ...items.flatMap(({ action, closedBy, closedAt }) =>
      action === 'approved' || action === 'sent back'
        ? [{ action, author: closedBy ?? 'a person', at: closedAt ?? 0 }]
        : [],
    ),
  ]
  const last = decisions.toSorted((a, b) => a.at - b.at).at(-1)
  return last === undefined
    ? null
    : { action: last.action, author: last.author, created_at: instant(last.at) }
}

const actionDone = { approve: 'approved', send_back: 'sent back' } as const

/** Measures figures for files that are only on the caller's machine, else the contents that it has. */
function figuresBriefs(
  context: GatherContext,
  files: readonly ReviewedFile[],
  anchors: ReturnType<typeof anchorComments>,
): Briefs<typeof figureMeasurements> {
  const own = files.filter((file) => isOwnFile(context, file))
  const others = files.filter((file) => !isOwnFile(context, file))
  const figures = {
    places: placesOfContents(own),
    files: own.map(({ path, before, after }) => ({ path, before, after })),
  }
  return {
    ...linesBriefs(context, anchors, { files: others, ids: others.flatMap(contentIds) }),
    ...(own.length > 0 && { figures }),
  }
}

async function figuresByFile(
  reads: Reads,
  context: GatherContext,
  {
    files,
    measured,
  }: {
    readonly files: readonly ReviewedFile[]
    readonly measured: MeasurementValues<typeof figureMeasurements>
  },
): Promise<ReadonlyMap<ReviewedFile, FileFigures>> {
  const own = files.filter((file) => isOwnFile(context, file))
  const others = files.filter((file) => !isOwnFile(context, file))
  const counted = await figuresOf(others, (ids, most) => knownContents(reads, measured, ids, most))
  const all = [...own, ...others]
  return new Map(
    [...(measured.figures ?? []), ...counted].flatMap((figures, at) => {
      const file = all[at]
      return file === undefined ? [] : [[file, figures] as const]
    }),
  )
}

const unknownFigures = {
  kind: 'text',
  added: null,
  removed: null,
  folded: null,
  error: 'It could not be read.',
} as const

function modeChange({ before, after }: ReviewedFile) {
  if (before === null || after === null || before.mode === after.mode) return null
  return { before: before.mode, after: after.mode }
}

function isInTree(file: ReviewedFile, tree: string | null): boolean {
  return tree === null || file.tree === null || file.tree === tree
}

/** The viewed content of a file: the current one in any review, else the last one in this review. */
function viewedState(
  file: ReviewedFile,
  key: string,
  viewed: Awaited<ReturnType<Reads['reviews']['viewedAt']>>,
): z.output<typeof FileEntry>['viewed'] {
  const own = viewed.filter(({ place }) => place === placeKey(file))
  const same = own.find(({ content }) => content === viewedMark(file))
  const last = same ?? own.filter(({ subject }) => subject === key).sort((a, b) => b.viewedAt - a.viewedAt)[0]
  return last === undefined
    ? null
    : { viewed_at: instant(last.viewedAt), content: contentOfMark(last.content), current: same !== undefined }
}

/** Comments for the agents of the tasks, and those on the whole, oldest first. */
export async function commentsAbout(
  reads: Reads,
  subject: ReviewSubject,
  resolved: ResolvedSubject,
): Promise<readonly ReviewComment[]> {
  if (subject.kind === 'mission') {
    const inMission = await reads.reviews.commentsInMission(subject.missionId)
    const onTasks = await reads.reviews.commentsOn(tasksOf(resolved))
    return sortComments([...inMission, ...onTasks])
  }
  return sortComments(await reads.reviews.commentsOn(tasksOf(resolved)))
}

function sortComments(comments: readonly ReviewComment[]): readonly ReviewComment[] {
  const once = new Map(comments.map((comment) => [comment.id, comment]))
  return [...once.values()].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

function reviewSubjectKeys(subject: ReviewSubject, resolved: ResolvedSubject): readonly string[] {
  if (subject.kind === 'since') return ['since']
  return subject.kind === 'task'
    ? [subject.taskId, ...(subject.missionId === null ? [] : [subject.missionId])]
    : [subject.missionId, ...tasksOf(resolved)]
}

import type { z } from 'zod'
import type { AttemptMeasurement, NewProjectEvent, Outcome } from '../../events/domain/project-event.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import { assertPhaseFree } from '../../gate/operations/run/gating.ts'
import { type GateSettings, gatingItemKinds } from '../../inbox/domain/inbox-gate.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { openItemEntry } from '../../inbox/operations/item-answer.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { findTask } from '../../kernel/operations/find.ts'
import type {
  Briefs,
  MeasurementValues as MeasuredSoFar,
  MeasurementOf,
  PreparedOperation,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { withRecordedCounts } from '../../lines/domain/recorded-counts.ts'
import {
  changedLineContext,
  changedLines,
  type LineRecordContext,
  linesBrief,
  recordedLines,
  reportedBrief,
  reportedContents,
  type SnapshotBoundary,
} from '../../lines/operations/record-lines.ts'
import { promisesOf } from '../../plan/operations/done-when.ts'
import type { ReviewComment } from '../../review/domain/review.ts'
import { commentStatuses, removedComments } from '../../review/operations/agent-reviews.ts'
import {
  type FilesToKeep,
  fileContentsToKeep,
  filesToKeep,
  reportedBriefFor,
} from '../../review/operations/files-to-keep.ts'
import { commentLines } from '../../review/operations/measure-files.ts'
import { sentBackBefore } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { namesOf } from '../domain/changes.ts'
import { pathsNamedBeside } from '../domain/claimed-paths.ts'
import type { CompletionRequest, CompletionSituation } from '../domain/completion.ts'
import {
  amendCompletion,
  endAttempt as decide,
  itemsOpenedBy,
  refuseContradicted,
  refuseOpenSubtasks,
  replacedReviews,
  restoredItems,
} from '../domain/completion.ts'
import { isLostOf } from '../domain/losses.ts'
import { assertOpen } from '../domain/records.ts'
import {
  type Attempt,
  isOfOtherConnection,
  isOfOtherToken,
  speakerOf,
  type Task,
  type TaskOutcome,
} from '../domain/task.ts'
import type { Verdict } from '../domain/verdict.ts'
import type { AttemptEnd } from '../ports/attempt-reads.ts'
import type { MissionTree } from '../ports/mission-reads.ts'
import { verdictEntry } from './attempt-answer.ts'
import { comparedContents, comparisonBrief } from './compare-contents.ts'
import {
  attemptToClose,
  CompletionAnswer,
  completionAnswer,
  loadCompletion,
  openItemsOfTask,
  readGateSettings,
  storedCompletion,
} from './completion.ts'
import { type CompletionInput, inputFields, outcomeOf, parseCompletion } from './completion-input.ts'
import { type CompletionAuthor, correct } from './correct-attempt.ts'
import { judgeCompletion, taskTraces, tracesBrief, workOfOthers } from './judge-completion.ts'
import { pathsNamed } from './judge-report.ts'
import {
  findLosses,
  type LossContext,
  lossContext,
  lossNotes,
  lostBrief,
  lostContents,
  recordedLosses,
} from './losses.ts'
import {
  type AttemptChangesContext,
  type AttemptEndState,
  attemptChanges,
  attemptEnds,
  attemptEndsBrief,
  changesAround,
  changesBrief,
  endedTree,
  measurementOf,
} from './measure-attempt.ts'
import { maxDiffLength, unifiedDiffs } from './measure-diff.ts'
import { missionBrief, missionRows, missionStates, missionTree } from './measure-mission.ts'
import { withMergedWork } from './merged-work.ts'
import { tasksOfSession } from './session-work.ts'
import { followReleases, releaseClaimed } from './settle-files.ts'
import {
  askOfShared,
  checkFacts,
  checkMeasurements,
  isLastAtWork,
  isPending,
  type MeasuredCheck,
  prepareChecks,
  withRunningChecks,
} from './task-checks.ts'

const completionMeasurements = {
  end: attemptEnds,
  changes: attemptChanges,
  traces: taskTraces,
  compared: comparedContents,
  mission: missionStates,
  diff: unifiedDiffs,
  held: fileContentsToKeep,
  gone: commentLines,
  reported: reportedContents,
  lines: changedLines,
  lost: lostContents,
  ...checkMeasurements,
}

export const completeTask = defineOperation({
  name: 'complete_task',
  tool: 'complete_task',
  command: 'task complete',
  synonyms: { id: 'task_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Complete a task',
  description: 'Complete a task and compute file changes via Git diff',
  kind: 'command',
  idempotent: true,
  positional: ['task_id', 'outcome.summary'],
  input: inputFields,
  output: CompletionAnswer,
  listedOutput: [
    'task_id',
    'attempt_id',
    'duration_seconds',
    'completed_at',
    'files_changed',
    'counts',
    'details',
    'contested_files',
    'contested_files_total',
    'commits',
    'commits_total',
    'claimed_paths',
    'areas_added',
    'ignored',
    'measurement',
    'verification',
    'waits_for',
    'settled',
    'phase_id',
    'phase_status',
    'phase_number',
  ],
})
  .measure(completionMeasurements)
  .prepare(prepareCompletion)
  .record(
    async ({ reads, found, measured, context, setting }, received) => {
      if (found.kind === 'correction')
        return correct(
          reads,
          { setting, actor: context.actor },
          { ...received, correction: received.correction ?? '' },
        )
      if (found.kind === 'repeated') return { events: [], answer: found.answer }
      if (found.kind === 'amended') {
        const { events, ...amended } = recordAmendment({ actor: context.actor, setting }, found)
        const asked =
          events.length === 0 ? [] : await askOfShared(reads, [found.attempt], askedBy(events), setting)
        return { ...amended, events: [...events, ...asked] }
      }
      if (found.kind !== 'ended') throw new Error('A task was completed before it was measured.')
      const review = commentStatuses(found.comments, measured.gone)
      const preview = () => previewEnd({ ...found, review, actor: context.actor, setting })
      const { checks } = found
      if (checks.some(isPending)) return withRunningChecks(preview(), checks, found.input.preview === true)
      if (found.input.preview) return preview()
      const rows = await missionRows(reads, found, measured.mission)
      const { lines, losses, attempt, outcome } = found
      const recorded =
        lines && measured.reported
          ? recordedLines(
              lines.lineContext,
              lines.now,
              { reported: measured.reported, lines: measured.lines ?? null },
              { attempt: attempt.id, names: (paths) => pathsNamed(paths, attempt, outcome) },
            )
          : []
      const { evidence } = found
      const changes = await countedByLines(reads, found, recorded)
      const lost =
        lines && losses
          ? await recordedLosses(reads, { lines: lines.lineContext, losses }, measured.lost, {
              ...lossQuestion(lines, { attempt, outcome, status: found.input.status }),
              setting,
            })
          : []
      const { events, ...ended } = recordEnd(
        { actor: context.actor, setting },
        {
          ...found,
          review,
          evidence: { ...evidence, changes, ...(attempt.missionId !== null && { mission: rows }) },
          released: [
            ...found.released,
            ...(await followReleases(reads, found.released, setting, { attempt, evidence })),
          ],
          lines: [...recorded, ...lost],
          diff: keptDiff(measured.diff?.[0]),
          files: await filesToKeep(measured.held),
        },
      )
      const asked = await askOfShared(reads, [attempt], askedBy(events), setting)
      return { ...ended, events: [...events, ...asked] }
    },
    { only: ({ preview, correction }) => preview === true && correction === undefined },
  )

/** The verdict of a completion that a person is asked about; null where nobody is. */
function askedBy(events: readonly NewProjectEvent[]): Verdict | null {
  const ended = events.find((event) => event.kind === 'attempt.closed' || event.kind === 'attempt.amended')
  const isAsked = events.some(
    (event) =>
      event.kind === 'inbox.opened' &&
      event.item.kind === 'verdict' &&
      event.item.attemptId === ended?.attemptId,
  )
  return isAsked ? (ended?.verdict ?? null) : null
}

/** Null where nobody else was at work: then git's figures are the attempt's own. */
function makersBesideOthers(
  { id }: Attempt,
  { neighbors, hookEvidence, writes }: AttemptChangesContext,
): ReadonlySet<string> | null {
  const makers = new Set<string>([id])
  for (const other of neighbors.values()) if (other.above.includes(id)) makers.add(other.id)
  const isAlone = [...neighbors.keys()].every((other) => makers.has(other))
  return isAlone && writes.length === 0 && (hookEvidence?.turns.size ?? 0) <= 1 ? null : makers
}

/** The changes with the lines that are recorded as the attempt's own. */
async function countedByLines(
  reads: Reads,
  { attempt, evidence, makers }: Pick<Completion & { kind: 'ended' }, 'attempt' | 'evidence' | 'makers'>,
  recorded: readonly NewProjectEvent[],
): Promise<AttemptMeasurement['changes']> {
  const { changes } = evidence
  if (makers === null || changes.length === 0) return changes
  const earlier = await reads.lines.stepsOfAttempts([...makers], attempt.openedAt)
  const last = recorded.flatMap((event) => (event.kind === 'lines.recorded' ? event.span.steps : []))
  return withRecordedCounts(changes, [...earlier, ...last], makers)
}

interface KeptDiff {
  readonly text: string
  readonly cut: boolean
}

function keptDiff(diff: MeasurementOf<typeof unifiedDiffs>[number] | undefined): KeptDiff | null {
  return diff ? { text: diff.text, cut: diff.cut || diff.leftOut.length > 0 } : null
}

type Completion =
  | { readonly kind: 'correction' }
  | { readonly kind: 'asking' }
  | { readonly kind: 'repeated'; readonly answer: ReturnType<typeof storedCompletion> }
  | (Amendment & { readonly kind: 'amended' })
  | (Pick<
      TaskCompletionContext,
      | 'input'
      | 'inputHash'
      | 'task'
      | 'attempt'
      | 'outcome'
      | 'evidence'
      | 'restored'
      | 'verdict'
      | 'situation'
      | 'waiting'
    > & {
      readonly kind: 'ended'
      readonly checks: readonly MeasuredCheck[]
      /** Uncertain files that leave those of other attempts. */
      readonly released: readonly NewProjectEvent[]
      /** The attempt and those at its subtasks, where others were at work as well. */
      readonly makers: ReadonlySet<string> | null
      readonly mission: MissionTree | null
      readonly comments: readonly ReviewComment[]
      readonly lines: LineRecordRequest | null
      readonly losses: LossContext | null
    })

async function prepareCompletion(
  reads: Reads,
  received: z.output<typeof inputFields>,
  context: RecordContext,
  measured: MeasuredSoFar<typeof completionMeasurements>,
): Promise<PreparedOperation<typeof completionMeasurements, Completion>> {
  if (received.correction !== undefined) return { briefs: {}, found: { kind: 'correction' as const } }
  const input = parseCompletion(received)
  const inputHash = context.fingerprint(input)
  const task = await findTask(reads, input.task_id)
  const completable = await attemptToClose(reads, task, {
    inputHash,
    attemptId: input.attempt_id,
    actor: context.actor,
    asksReview: input.outcome.manual_review_needed ?? false,
  })
  if (completable.kind === 'repeated') {
    return { briefs: {}, found: { kind: 'repeated' as const, answer: storedCompletion(completable.answer) } }
  }
  const { attempt } = completable
  refuseOtherToken(context.actor, attempt)
  const isOfOther = completable.kind === 'open' && isOfOtherConnection(attempt, context.actor)
  const outcome = outcomeOf(input.outcome, input.metadata)
  if (completable.kind === 'amendable')
    return prepareAmendment(
      reads,
      { ...completable, input, inputHash, task, outcome, now: context.clock.now() },
      measured,
    )
  const [endState, briefs] = requestedEnd(context, attempt, measured.end)
  const phaseComplete = input.phase_complete ?? false
  // One round trip: while the project is locked, every query delays other callers.
  const [
    open,
    activity,
    mission,
    comments,
    lines,
    settings,
    situation,
    waiting,
    related,
    promises,
    sentBackAt,
  ] = await Promise.all([
    reads.tasks.openSubtasks(task.id),
    endState && changesAround(reads, endState),
    input.preview || endState === null ? null : missionTree(reads, attempt),
    reads.reviews.commentsOn([task.id]),
    endState === null ? null : linesOf(reads, endState),
    reads.runs.settings(),
    loadCompletion(reads, { task, attempt, phaseComplete: !input.preview && phaseComplete }),
    openItemsOfTask(reads, task.id),
    reads.tasks.relatedAttempts(attempt),
    promisesOf(reads, task),
    sentBackBefore(reads, attempt),
    phaseComplete && assertPhaseFree(reads, attempt, context.actor.kind),
  ])
  refuseOpenSubtasks(input.status, task, open)
  if (endState === null || activity === null) return { briefs, found: { kind: 'asking' } }
  const claims = { outcome, notMine: outcome.notMine, areas: input.areas ?? [] }
  const prepared = await prepareChecks(reads, {
    context,
    task,
    promises,
    attempt,
    measured,
    status: input.status,
  })
  const changes = changesBrief(endState, activity, claims)
  const end = endState.end?.place ?? null
  const first = {
    ...briefs,
    ...prepared.briefs,
    ...(changes && { changes: [changes] }),
    ...(mission && { mission: missionBrief(attempt, mission, end) }),
    gone: removedComments(comments, end),
    ...(lines && !input.preview && { reported: reportedBrief(lines.lineContext, lines.now) }),
  }
  if ((changes !== null && measured.changes === undefined) || prepared.checks === null) {
    return { briefs: first, found: { kind: 'asking' as const } }
  }
  const measuredChanges = await withMergedWork(reads, attempt, measured.changes?.[0])
  const measuredEnd = measurementOf(endState, activity, measuredChanges, claims)
  const losses = lines && (await lossContext(reads, lines.lineContext))
  const { lost, holders } =
    lines && losses
      ? await findLosses(
          reads,
          { lines: lines.lineContext, losses },
          measured.lost,
          lossQuestion(lines, { attempt, outcome, status: input.status }),
        )
      : { lost: [], holders: null }
  const family = new Set<string>([attempt.id, ...related.map((other) => other.attempt.id)])
  const named = pathsNamed(
    lost.map(({ path }) => path),
    attempt,
    outcome,
  )
  const starts = losses?.starts ?? []
  const ownLost = lost.filter((file) =>
    isLostOf(file, holders?.get(file.path) ?? [], {
      attempt,
      family,
      starts,
      isNamed: named.has(file.path),
    }),
  )
  const completion = {
    attempt,
    status: input.status,
    outcome,
    evidence: measuredEnd,
    related,
    promises,
    checks: checkFacts(prepared.checks),
    content: prepared.content,
    lost: ownLost.map(({ path }) => path),
    sessionTasks: await tasksOfSession(reads, attempt, measuredEnd.changes),
    sentBackAt,
    others: await workOfOthers(reads, attempt, { related, sentBackAt }),
    isAmended: false,
  }
  const traces = tracesBrief(completion)
  const compared = comparisonBrief(completion)
  const { verdict, evidence, restored } = judgeCompletion(completion, measured.traces, measured.compared)
  const isLast = await isLastAtWork(reads, attempt, { verdict, now: context.clock.now() })
  const { endSnapshot } = evidence
  const released = input.preview ? [] : await releaseClaimed(reads, attempt, { evidence, outcome, activity })
  const isOn = context.machine !== undefined && settingOf(settings, 'upload_diff') !== 'off'
  const keeps = isOn && !input.preview && endSnapshot !== null && evidence.changes.length > 0
  return {
    briefs: {
      ...first,
      ...(traces && { traces }),
      ...(compared && { compared }),
      ...(keeps && {
        diff: {
          maxLength: maxDiffLength,
          parts: [{ from: attempt.snapshot, to: endSnapshot, paths: evidence.changes.flatMap(namesOf) }],
        },
        held: reportedBriefFor({ machine: context.machine, isOn }, attempt, evidence),
      }),
      ...(lines?.lineContext.isOn &&
        measured.reported && { lines: linesBrief(lines.lineContext, lines.now, measured.reported) }),
      ...(lines && losses && { lost: lostBrief(losses, lines.now) }),
    },
    first: prepared.first,
    found: {
      kind: 'ended' as const,
      checks: prepared.checks,
      released,
      makers: makersBesideOthers(attempt, activity),
      input,
      inputHash,
      task,
      attempt,
      outcome,
      evidence: isOfOther ? withSessionNote(evidence, attempt) : evidence,
      restored,
      verdict,
      mission,
      comments,
      lines,
      losses,
      situation: { ...situation, isLastAtWork: isLast },
      waiting,
    },
  }
}

/** The end state of an attempt, and the brief to measure it where it is unknown. */
function requestedEnd(
  context: RecordContext,
  attempt: Attempt,
  measured: MeasurementOf<typeof attemptEnds> | undefined,
): readonly [AttemptEndState | null, Briefs<{ end: typeof attemptEnds }>] {
  const brief = attemptEndsBrief(context, [attempt])
  if (brief.length === 0) return [{ attempt, end: null }, {}]
  const end = measured?.find(({ id }) => id === attempt.id)
  return [end ? { attempt, end: endedTree(context, end) } : null, { end: brief }]
}

interface LineRecordRequest {
  readonly lineContext: LineRecordContext
  readonly now: SnapshotBoundary
}

async function linesOf(reads: Reads, { attempt, end }: AttemptEndState): Promise<LineRecordRequest | null> {
  if (end === null || end.place === null) return null
  const now = { at: end.takenAt, place: end.place, ending: attempt.id }
  const lineContext = await changedLineContext(reads, now)
  return lineContext && { lineContext, now }
}

/** An attempt is completed with the token that started it, or by a person. */
function refuseOtherToken(actor: Actor, attempt: Attempt): void {
  if (!isOfOtherToken(attempt, actor)) return
  throw new Failure(
    'FORBIDDEN',
    `Cannot complete attempt ${attempt.id}: ${displayName(attempt)} started it with another token.`,
    {
      reason: 'attempt_of_other_token',
      hint: 'Complete it with the token that started it, or ask a person to end it (waymark inbox) and start the task again.',
    },
  )
}

/** A lead may complete what another agent began, and an agent goes on after it reconnects. */
function withSessionNote(evidence: AttemptMeasurement, attempt: Attempt): AttemptMeasurement {
  const note = `${displayName(attempt)} started attempt ${attempt.id}, in another session.`
  return { ...evidence, warnings: [...evidence.warnings, note] }
}

interface TaskCompletionContext {
  readonly situation: CompletionSituation
  /** Open inbox items of the task before this completion. */
  readonly waiting: readonly InboxItem[]
  readonly input: CompletionInput
  readonly inputHash: string
  readonly outcome: Outcome
  readonly task: Task
  readonly attempt: Attempt
  readonly evidence: AttemptMeasurement
  /** Files of earlier attempts that are as before the task changed them. */
  readonly restored: CompletionRequest['restored']
  readonly verdict: Verdict | null
  /** The status of comments on the task. */
  readonly review: ReturnType<typeof commentStatuses>
  /** Changes of lines since the work tree's last snapshot. */
  readonly lines: readonly NewProjectEvent[]
  /** Uncertain files that leave those of other attempts, and what follows. */
  readonly released: readonly NewProjectEvent[]
  readonly diff: KeptDiff | null
  /** File contents to keep, where the files are on another machine. */
  readonly files: FilesToKeep | null
}

function recordEnd({ actor, setting }: CompletionAuthor, ending: TaskCompletionContext) {
  const { input, inputHash, outcome, task, attempt, evidence, restored, verdict, situation } = ending
  const phaseComplete = input.phase_complete ?? false
  assertOpen(task, attempt)
  const request = {
    actor,
    status: input.status,
    outcome,
    phaseComplete,
    evidence,
    restored,
    verdict,
  }
  const completed = decide(request, situation, setting)
  const full = {
    ...evidence,
    warnings: [...evidence.warnings, ...completed.notes],
  }
  // The inbox item of a loss says what is still to do about it.
  const reported = { ...full, warnings: [...full.warnings, ...lossNotes(ending.lines)] }
  const opened = completed.consequences.flatMap((next) => (next.kind === 'inbox.opened' ? [next.item] : []))
  const waiting = [...stillOpen(ending, opened), ...opened]
  const answer = completionAnswer({
    task,
    attempt,
    status: input.status,
    phase: completed.phase,
    evidence: reported,
    verdict,
    at: setting.at,
    waiting,
    review: ending.review,
    unsettled: hasGatingItems(input.status, waiting, situation.waiting),
  })
  const closed = {
    kind: 'attempt.closed' as const,
    attemptId: attempt.id,
    taskId: task.id,
    missionId: attempt.missionId,
    status: input.status,
    outcome,
    evidence: full,
    verdict,
    inputHash,
    answer,
  }
  return {
    events: [...ending.lines, closed, ...ending.released, ...completed.consequences],
    agentName: speakerOf(attempt, actor),
    sideWrites: [
      ...(ending.diff ? [{ kind: 'diff kept' as const, attemptId: attempt.id, ...ending.diff }] : []),
      ...(ending.files
        ? [{ kind: 'files kept' as const, attemptId: attempt.id, at: setting.at, ...ending.files }]
        : []),
    ],
    answer,
  }
}

/** The answer that completing would give now; nothing ends or is recorded. */
function previewEnd({
  input,
  outcome,
  task,
  attempt,
  evidence,
  restored,
  verdict,
  review,
  situation,
  actor,
  setting,
  ...before
}: Omit<TaskCompletionContext, 'inputHash' | 'lines' | 'released' | 'diff' | 'files'> & CompletionAuthor) {
  const { phase } = situation
  refuseContradicted(verdict, situation)
  const openedItems = itemsOpenedBy(
    { actor, status: input.status, outcome, evidence, restored, verdict },
    situation,
    setting,
  )
  const waiting = stillOpen({ ...before, restored, situation }, openedItems)
  const answer = completionAnswer({
    task,
    attempt,
    status: input.status,
    phase,
    evidence,
    verdict,
    at: setting.at,
    waiting,
    openedItems,
    review,
    unsettled: hasGatingItems(input.status, [...waiting, ...openedItems], situation.waiting),
  })
  return { events: [], answer: { ...answer, preview: true as const, completed_at: null } }
}

/** Whether tasks that depend on this one wait for a person. */
function hasGatingItems(status: TaskOutcome, waiting: readonly InboxItem[], settings: GateSettings): boolean {
  const gatingKinds = gatingItemKinds(settings)
  return status !== 'failed' && waiting.some(({ kind }) => gatingKinds.includes(kind))
}

/** The items that the completion does not close. */
function stillOpen(
  { waiting, restored, situation }: Pick<TaskCompletionContext, 'waiting' | 'restored' | 'situation'>,
  opened: readonly InboxItem[],
): readonly InboxItem[] {
  const ended = [...restoredItems(restored, situation.scopeItems), ...replacedReviews(opened, situation)]
  const closed = new Set(ended.map(({ id }) => id))
  return withoutVerdicts(waiting).filter(({ id }) => !closed.has(id))
}

/** A completion replaces the open verdicts of its task. */
function withoutVerdicts(items: readonly InboxItem[]): readonly InboxItem[] {
  return items.filter(({ kind }) => kind !== 'verdict')
}

/** Another outcome for a closed attempt, judged on its own measurement. */
interface Amendment {
  readonly input: CompletionInput
  readonly inputHash: string
  readonly task: Task
  readonly attempt: Attempt
  readonly outcome: Outcome
  readonly end: AttemptEnd
  readonly verdict: Verdict | null
  readonly isLastAtWork: boolean
  readonly verdictItems: readonly InboxItem[]
  /** Open inbox items of the task before the amendment. */
  readonly waiting: readonly InboxItem[]
  readonly settings: GateSettings
}

const maxChanges = 20_000

async function prepareAmendment(
  reads: Reads,
  amendment: Omit<Amendment, 'verdict' | 'isLastAtWork' | 'waiting' | 'settings'> & { readonly now: number },
  { traces, compared }: MeasuredSoFar<typeof completionMeasurements>,
): Promise<PreparedOperation<typeof completionMeasurements, Completion>> {
  const { input, task, attempt, outcome, end, now } = amendment
  const [changes, related, promises, waiting, settings, before, sentBackAt] = await Promise.all([
    reads.tasks.changes(attempt.id, { limit: maxChanges, offset: 0 }),
    reads.tasks.relatedAttempts(attempt),
    promisesOf(reads, task),
    openItemsOfTask(reads, task.id),
    readGateSettings(reads),
    reads.tasks.verdicts(attempt.id),
    sentBackBefore(reads, attempt),
  ])
  const { checks = [], content = null } = before.at(-1)?.verdict ?? {}
  const evidence = { ...end.evidence, changes }
  const completion = {
    attempt,
    status: input.status,
    outcome,
    evidence,
    related,
    promises,
    checks,
    content,
    sessionTasks: await tasksOfSession(reads, attempt, changes),
    sentBackAt,
    others: await workOfOthers(reads, attempt, { related, sentBackAt }),
    isAmended: true,
  }
  const brief = tracesBrief(completion)
  const comparison = comparisonBrief(completion)
  const { verdict } = judgeCompletion(completion, traces, compared)
  const isLast = await isLastAtWork(reads, attempt, { verdict, now })
  return {
    briefs: { ...(brief && { traces: brief }), ...(comparison && { compared: comparison }) },
    found: { ...amendment, kind: 'amended' as const, verdict, isLastAtWork: isLast, waiting, settings },
  }
}

function recordAmendment({ actor, setting }: CompletionAuthor, amendment: Amendment) {
  const { input, inputHash, task, attempt, outcome, end, verdict, settings } = amendment
  const amended = amendCompletion(
    { actor, status: input.status, outcome, verdict },
    {
      task,
      attempt,
      before: end.outcome,
      isReviewOpen: amendment.waiting.some(({ kind }) => kind === 'review'),
      verdictItems: amendment.verdictItems,
      isLastAtWork: amendment.isLastAtWork,
      waiting: { ...settings, openItemsOfMission: 0 },
    },
    setting,
  )
  const waiting = [...withoutVerdicts(amendment.waiting), ...amended.opened]
  const { settled: _, verdict: __, already_completed: ___, ...stored } = storedCompletion(end.answer)
  const waitsFor = waiting.map(openItemEntry)
  const answer = {
    ...stored,
    status: input.status,
    ...(verdict && { verdict: verdictEntry(verdict, task.id, waitsFor) }),
    waits_for: waitsFor,
    ...(hasGatingItems(input.status, waiting, settings) && { settled: false as const }),
    amended: true as const,
  }
  if (input.preview) return { events: [], answer: { ...answer, preview: true as const } }
  const event: NewProjectEvent = {
    kind: 'attempt.amended',
    attemptId: attempt.id,
    taskId: task.id,
    missionId: attempt.missionId,
    status: input.status,
    outcome,
    verdict,
    agentName: speakerOf(attempt, actor),
    inputHash,
    answer,
  }
  return { events: [event, ...amended.events], agentName: speakerOf(attempt, actor), answer }
}

function lossQuestion(
  { now }: LineRecordRequest,
  {
    attempt,
    outcome,
    status,
  }: { readonly attempt: Attempt; readonly outcome: Outcome; readonly status: TaskOutcome },
) {
  const claims = { paths: (paths: readonly string[]) => pathsLetGo(paths, attempt, outcome) }
  return { now, claims, ...(status === 'failed' && { failing: attempt.id }) }
}

/** The paths that an outcome says were meant to go. */
function pathsLetGo(paths: readonly string[], { snapshot: { prefix } }: Attempt, outcome: Outcome) {
  const below = (path: string) => (path.startsWith(prefix) ? path.slice(prefix.length) : path)
  const named = new Set(
    pathsNamedBeside(
      outcome,
      paths.flatMap((path) => [path, below(path)]),
      letGo,
    ),
  )
  return paths.filter((path) => named.has(path) || named.has(below(path)))
}

const letGo =
  /\b(?:revert|undid|undo|restor|discard|delet|remov|drop|reset|roll\w* back|threw away|(?:put|took|set|brought)\b.{0,80}\bback\b|back (?:to|as|in)\b)/i

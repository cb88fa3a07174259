import { z } from 'zod'
import type { Measured, NewFact, Outcome } from '../../events/domain/fact.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import { assertPhaseFree, refuseGatedPhase } from '../../gate/operations/run/gating.ts'
import type { WholeDiff, WorkTreeWitness } from '../../git/ports/work-tree.ts'
import { type HoldsGate, holdingKinds } from '../../inbox/domain/holds.ts'
import { waitingEntry } from '../../inbox/operations/hold-answer.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { findAttempt, findTask } from '../../kernel/operations/find.ts'
import { choice, identifier, text, texts } from '../../kernel/operations/input/fields.ts'
import { defineOperation, type Handling } from '../../kernel/operations/operation.ts'
import { measuredLines } from '../../lines/operations/record-lines.ts'
import { type FilesToKeep, filesToKeep } from '../../review/operations/files-to-keep.ts'
import { metComments } from '../../review/operations/for-agents.ts'
import type { MissionTree } from '../../store/ports/reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import { changesOfMission, type MissionChange } from '../domain/changes.ts'
import { askedBy, correctAttempt, completeTask as decide, refuseOpenSubtasks } from '../domain/completion.ts'
import { assertOpen, type Hold } from '../domain/records.ts'
import {
  type Attempt,
  isOfOtherToken,
  isSameCaller,
  type SnapshotPlace,
  type Task,
  type TaskOutcome,
  taskOutcomes,
  treeOf,
} from '../domain/task.ts'
import {
  attemptToClose,
  CompletionAnswer,
  completionAnswer,
  keptAnswer,
  loadCompletion,
  waitingFor,
} from './completion.ts'
import { endOf, measureUntil, pathsNamed } from './measure.ts'

const outcomeFields = z
  .strictObject({
    summary: text('What was accomplished, in 2-4 sentences'),
    achievements: texts('Achievements').optional(),
    limitations: texts('Limitations, compromises').optional(),
    manual_review_needed: z.boolean().describe('A person must review').optional(),
    manual_review_reason: text('Why').optional(),
    next_steps: texts('Next steps').optional(),
    unexpected: z
      .array(z.strictObject({ path: text('Path'), why: text('Why') }))
      .max(200)
      .describe('Files that you changed outside the areas, and why')
      .optional(),
  })
  .describe('Your claim, kept beside what is measured')

// So that no sum of them goes beyond what is counted exactly.
const mostTokens = 1_000_000_000_000

const metadataFields = z.strictObject({
  packages_added: texts().optional(),
  packages_removed: texts().optional(),
  commands_executed: texts().optional(),
  tests_status: choice(['passed', 'failed', 'not_run'], undefined, {
    pass: 'passed',
    success: 'passed',
    fail: 'failed',
    skipped: 'not_run',
  }).optional(),
  tokens_input: z.int().min(0).max(mostTokens).optional(),
  tokens_output: z.int().min(0).max(mostTokens).optional(),
})

/** The claims of an agent, complete: what it left out is empty or null. */
function outcomeOf(
  outcome: z.output<typeof outcomeFields>,
  metadata: z.output<typeof metadataFields> | undefined,
): Outcome {
  return {
    summary: outcome.summary,
    achievements: outcome.achievements ?? [],
    limitations: outcome.limitations ?? [],
    nextSteps: outcome.next_steps ?? [],
    manualReviewNeeded: outcome.manual_review_needed ?? false,
    manualReviewReason: outcome.manual_review_reason ?? null,
    ...(outcome.unexpected && outcome.unexpected.length > 0 && { unexpected: outcome.unexpected }),
    packagesAdded: metadata?.packages_added ?? [],
    packagesRemoved: metadata?.packages_removed ?? [],
    commandsExecuted: metadata?.commands_executed ?? [],
    testsStatus: metadata?.tests_status ?? null,
    tokensInput: metadata?.tokens_input ?? null,
    tokensOutput: metadata?.tokens_output ?? null,
  }
}

const inputFields = z
  .strictObject({
    task_id: identifier('Task ID'),
    status: choice(taskOutcomes, 'Final status', {
      done: 'success',
      complete: 'success',
      completed: 'success',
      succeeded: 'success',
      ok: 'success',
      partial: 'partial_success',
      failure: 'failed',
      fail: 'failed',
      error: 'failed',
    }).optional(),
    outcome: outcomeFields.optional(),
    metadata: metadataFields.optional(),
    phase_complete: z.boolean().describe('Completes its phase').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
    areas: texts('More areas').optional(),
    preview: z.boolean().describe('Only show the verdict; the task stays open').optional(),
    correction: text('A later statement about an ended task: status and outcome are then ignored').optional(),
  })
  // They are optional only beside correction, which the plain schemas of clients cannot say.
  .meta({ required: ['task_id', 'status', 'outcome'] })

type Completing = Omit<z.output<typeof inputFields>, 'status' | 'outcome'> & {
  readonly status: TaskOutcome
  readonly outcome: z.output<typeof outcomeFields>
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
  positional: ['task_id'],
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
}).handler(async (handling, given) => {
  const { correction } = given
  if (correction !== undefined) return correct(handling, { ...given, correction })
  const input = completing(given)
  const inputHash = handling.fingerprint(input)
  const before = await handling.store.view(async (reads) => {
    const task = await findTask(reads, input.task_id)
    const found = await attemptToClose(reads, task, { inputHash, attemptId: input.attempt_id })
    if (found.attempt !== null) refuseOtherToken(handling.actor, found.attempt)
    if (found.attempt !== null)
      refuseOpenSubtasks(input.status, task, await reads.tasks.openSubtasks(task.id))
    return { ...found, task }
  })
  if (before.attempt === null) return keptAnswer(before.repeated)
  if (input.phase_complete) await refuseGatedPhase(handling, before.attempt)

  const outcome = outcomeOf(input.outcome, input.metadata)
  const { attempt } = before
  for (let round = 1; ; round += 1) {
    const ended = await endOf(handling, before.attempt)
    const claims = { outcome, areas: input.areas ?? [] }
    if (input.preview) {
      const measured = await measureUntil(handling, ended, claims)
      return previewOf(handling, before.attempt, { input, outcome, measured })
    }
    const [found, lines] = await Promise.all([
      measureUntil(handling, ended, claims).then((measured) =>
        measureBeside(handling, { ...before, attempt }, measured),
      ),
      // What became of lines takes longest: all else is measured beside it.
      ended.end?.place
        ? measuredLines(
            handling,
            { at: handling.clock.now(), place: ended.end.place },
            { attempt: before.attempt.id, names: (paths) => pathsNamed(paths, attempt, outcome) },
          )
        : [],
    ])
    try {
      const { task } = before
      return await end(handling, input, { inputHash, outcome, task, attempt, lines, ...found })
    } catch (error) {
      if (!(error instanceof MissionMoved) || round === mostRounds) throw error
    }
  }
})

const mostRounds = 10

/** What an attempt came to is told with the token that began it, or by a person. */
function refuseOtherToken(actor: Actor, attempt: Attempt): void {
  if (!isOfOtherToken(attempt, actor)) return
  throw new Failure(
    'FORBIDDEN',
    `Attempt ${attempt.id} was begun by ${displayName(attempt)} with another token.`,
    {
      reason: 'attempt_of_other_token',
      hint: 'Complete it with the token that began it, or ask a person to end it (waymark inbox) and start the task again.',
    },
  )
}

interface Found {
  readonly measured: Measured
  readonly mission: MissionState
  readonly diff: WholeDiff | null
  /** How comments on the task were met. */
  readonly review: Awaited<ReturnType<typeof metComments>>
  /** What its files held, where they are on another machine. */
  readonly files: FilesToKeep | null
}

/** What is found beside what the attempt changed. */
async function measureBeside(
  handling: Handling,
  { attempt, task }: { readonly attempt: Attempt; readonly task: Task },
  measured: Measured,
): Promise<Found> {
  const [mission, diff, review, files] = await Promise.all([
    measureMission(handling, attempt, measured),
    diffToKeep(handling, attempt, measured),
    metComments(handling, task.id, measured.endSnapshot),
    filesToKeep(handling, attempt, measured),
  ])
  return { measured, mission, diff, review, files }
}

interface Ending extends Found {
  readonly inputHash: string
  readonly outcome: Outcome
  /** As they were when the work was measured. */
  readonly task: Task
  readonly attempt: Attempt
  /** What became of lines since the work tree's last snapshot. */
  readonly lines: readonly NewFact[]
}

/** Fails with `MissionMoved` where what was measured of the mission is no longer the last. */
function end(handling: Handling, input: Completing, ending: Ending) {
  const { inputHash, outcome } = ending
  const phaseComplete = input.phase_complete ?? false
  // As they were when the work was measured: usually they still are.
  const closing = { task: ending.task, attempt: ending.attempt, phaseComplete }
  const ahead = (reads: Reads) =>
    Promise.all([
      reads.tasks.find(input.task_id),
      loadCompletion(reads, closing),
      lastEnded(reads, ending.attempt),
      reads.tasks.foreseeEnd(ending.attempt, evidenceOf(ending, ending.attempt)),
    ])
  return handling.record(async (reads, setting) => {
    const task = await findTask(reads, input.task_id)
    const open = await waitingFor(reads, task.id)
    const { repeated, attempt } = await attemptToClose(reads, task, {
      inputHash,
      attemptId: input.attempt_id ?? ending.attempt.id,
    })
    if (attempt === null) return { facts: [], answer: keptAnswer(repeated) }
    assertOpen(task, attempt)
    refuseOtherToken(handling.actor, attempt)
    await assertCurrent(reads, attempt, ending.mission)
    const evidence = evidenceOf(ending, attempt)
    const scopeReason = scopeReasonOf(evidence)
    const situation = await loadCompletion(reads, { task, attempt, phaseComplete })
    if (input.phase_complete) await assertPhaseFree(reads, attempt, handling.actor.kind)
    const request = {
      actor: handling.actor,
      status: input.status,
      outcome,
      phaseComplete,
      evidence,
      scopeReason,
    }
    const completed = decide(request, situation, setting)
    const unrecorded = evidence.changes.length > 0 && handling.unrecorded ? [handling.unrecorded] : []
    const full = { ...evidence, warnings: [...evidence.warnings, ...completed.notes, ...unrecorded] }
    const opened = completed.consequences.flatMap((next) => (next.kind === 'hold.opened' ? [next.hold] : []))
    const waiting = [...open, ...opened]
    const answer = completionAnswer({
      task,
      attempt,
      phase: completed.phase,
      evidence: full,
      at: setting.at,
      waiting,
      review: ending.review,
      unsettled: isUnsettled(input.status, waiting, situation.waiting.gate),
    })
    return {
      facts: [
        ...ending.lines,
        {
          kind: 'attempt.closed',
          attemptId: attempt.id,
          taskId: task.id,
          missionId: attempt.missionId,
          status: input.status,
          outcome,
          evidence: full,
          inputHash,
          answer,
        },
        ...completed.consequences,
      ],
      agentName: isSameCaller(attempt.actor, handling.actor) ? attempt.agentName : null,
      beside: [
        ...(ending.diff ? [{ kind: 'diff kept' as const, attemptId: attempt.id, ...ending.diff }] : []),
        ...(ending.files
          ? [{ kind: 'files kept' as const, attemptId: attempt.id, at: setting.at, ...ending.files }]
          : []),
      ],
      answer,
    }
  }, ahead)
}

function evidenceOf({ measured, mission }: Ending, { missionId }: Attempt): Measured {
  return { ...measured, ...(missionId !== null && { mission: mission.rows }) }
}

const longestKeptDiff = 4_000_000

/** Where the files are on another machine, what they changed is kept here, so that it is seen when that one is shut. */
async function diffToKeep(
  { edge, store, witness }: Handling,
  attempt: Attempt,
  { changes, endSnapshot }: Measured,
): Promise<WholeDiff | null> {
  if (!edge || endSnapshot === null || changes.length === 0) return null
  const settings = await store.view(({ runs }) => runs.settings())
  if (settingOf(settings, 'upload_diff') === 'off') return null
  return witness.wholeDiff(attempt.snapshot, endSnapshot, longestKeptDiff)
}

/** What completing would answer now; nothing ends and nothing is recorded. */
async function previewOf(
  handling: Handling,
  attempt: Attempt,
  {
    input,
    outcome,
    measured: evidence,
  }: { readonly input: Completing; readonly outcome: Outcome; readonly measured: Measured },
) {
  const { store, clock, ids } = handling
  const review = await metComments(handling, attempt.taskId, evidence.endSnapshot)
  return store.view(async (reads) => {
    const task = await findTask(reads, attempt.taskId)
    const { phase, waiting: gate } = await loadCompletion(reads, { task, attempt, phaseComplete: false })
    const waiting = await waitingFor(reads, task.id)
    const setting = { at: clock.now(), ids }
    const asked = askedBy(
      { outcome, evidence, scopeReason: scopeReasonOf(evidence) },
      { ...attempt, completedBy: handling.actor },
      setting,
    )
    const answer = completionAnswer({
      task,
      attempt,
      phase,
      evidence,
      at: setting.at,
      waiting,
      asked,
      review,
      unsettled: isUnsettled(input.status, [...waiting, ...asked], gate.gate),
    })
    return { ...answer, preview: true as const, completed_at: null }
  })
}

function scopeReasonOf({ warnings }: Measured): string {
  return warnings[0] ?? 'Files changed outside the declared scope.'
}

/** What depends on the task waits for a person. */
function isUnsettled(status: TaskOutcome, waiting: readonly Hold[], gate: HoldsGate): boolean {
  const holding = holdingKinds(gate)
  return status !== 'failed' && waiting.some(({ kind }) => holding.includes(kind))
}

function completing({ status, outcome, ...rest }: z.output<typeof inputFields>): Completing {
  if (status !== undefined && outcome !== undefined) return { ...rest, status, outcome }
  const missing =
    status === undefined ? `"status" is missing: one of ${taskOutcomes.join(', ')}` : '"outcome" is missing'
  throw new Failure('INVALID_INPUT', `complete_task: ${missing}.`, {
    reason: 'input_invalid',
    hint: 'Complete with status and outcome { summary }; only a correction after the end needs neither.',
    details: { fields: [status === undefined ? 'status' : 'outcome'] },
  })
}

/** A later statement about an attempt that ended: what was measured and said then stays as it is. */
function correct(
  { record, actor }: Handling,
  said: {
    readonly task_id: string
    readonly attempt_id?: string | undefined
    readonly correction: string
    readonly status?: unknown
    readonly outcome?: unknown
  },
) {
  return record(async (reads, setting) => {
    const task = await findTask(reads, said.task_id)
    const attempt =
      said.attempt_id === undefined
        ? await reads.tasks.lastAttempt(task.id)
        : await findAttempt(reads, said.attempt_id)
    const before = attempt === null ? [] : await reads.tasks.corrections(attempt.id)
    const corrected = correctAttempt({ task, attempt, before }, { text: said.correction, actor }, setting)
    const end = await reads.tasks.end(corrected.attempt.id)
    const { settled: _, ...answered } = keptAnswer(end?.answer ?? {})
    const ignored = said.status !== undefined || said.outcome !== undefined
    return {
      facts: corrected.facts,
      agentName: corrected.agentName,
      answer: {
        ...answered,
        waits_for: (await waitingFor(reads, task.id)).map(waitingEntry),
        corrected: true as const,
        correction: { text: said.correction, at: instant(corrected.at) },
        ...(ignored && { note: 'status and outcome stay as they were: a correction stands beside them.' }),
      },
    }
  })
}

/** What a mission's changes come to with an attempt that ends, and which end of an attempt they were measured after. */
export interface MissionState {
  /** Null where it could not be measured: then the attempt's own changes are added to what is recorded. */
  readonly rows: readonly MissionChange[] | null
  readonly after: AttemptId | null
}

/**
 * Measures a mission's changes in the work tree of an attempt that ends: the difference of the state at its first
 * attempt there and the state now, not the sum of its attempts.
 */
async function measureMission(
  { store, witness }: Handling,
  attempt: Attempt,
  { changes, endSnapshot }: Pick<Measured, 'changes' | 'endSnapshot'>,
): Promise<MissionState> {
  const tree = await store.view((reads) => missionTree(reads, attempt))
  if (tree === null) return { rows: [], after: null }
  const after = tree.lastEnded?.id ?? null
  if (endSnapshot === null) return { rows: null, after }
  if (changes.length === 0 && (await isAsAtLastEnd(witness, tree, endSnapshot))) return { rows: [], after }
  const isFirst = tree.first === null || tree.first.id === attempt.id
  const gap = gapBefore(attempt, tree)
  const [states, between] = await Promise.all([
    isFirst ? null : witness.changes(tree.first?.snapshot ?? attempt.snapshot, endSnapshot),
    gap === null ? [] : witness.touched(gap.from, gap.to),
  ])
  if (states?.status === 'unknown') return { rows: null, after }
  const own: ReadonlySet<string> = await tasksOf(store, attempt, changes)
  const rivals = changes.filter((change) => change.with?.some(({ taskId }) => !own.has(taskId)))
  const others = new Set([...(between ?? []), ...rivals.map(({ path }) => path)])
  const measured = { recorded: tree.recorded, own: changes, states: states?.changes ?? changes, others }
  return { rows: changesOfMission(measured), after }
}

/** Of the tasks that perhaps changed the same files, those of the attempt's own mission. */
async function tasksOf(
  store: Handling['store'],
  { missionId, snapshot }: Attempt,
  changes: Measured['changes'],
): Promise<ReadonlySet<TaskId>> {
  const rivals = changes.flatMap((change) => (change.with ?? []).map(({ taskId }) => taskId))
  const among = [...new Set(rivals)] as TaskId[] // that of a turn is no task's, and is not found
  if (missionId === null || among.length === 0) return new Set()
  return store.view(({ missions }) => missions.tasksInTree(missionId, treeOf(snapshot), among))
}

// Then what was measured at that end still holds. Comparing two such snapshots takes no process of git.
async function isAsAtLastEnd(
  witness: WorkTreeWitness,
  { lastEnded }: MissionTree,
  now: SnapshotPlace,
): Promise<boolean> {
  const then = lastEnded?.endSnapshot
  if (!then || then.id !== now.id) return false
  return (await witness.touched(then, now))?.length === 0
}

/** Another attempt of the mission ended in the tree since its changes were measured: they are measured again. */
class MissionMoved extends Error {}

/** Fails with `MissionMoved`. */
async function assertCurrent(reads: Reads, attempt: Attempt, { after }: MissionState): Promise<void> {
  if (attempt.missionId === null) return
  if (((await lastEnded(reads, attempt))?.id ?? null) !== after) throw new MissionMoved()
}

async function lastEnded({ missions }: Reads, { missionId, snapshot }: Attempt) {
  return missionId === null ? null : missions.lastEnded(missionId, treeOf(snapshot))
}

async function missionTree(
  { missions }: Reads,
  { missionId, snapshot }: Attempt,
): Promise<MissionTree | null> {
  return missionId === null ? null : missions.tree(missionId, treeOf(snapshot))
}

/** The time before an attempt in which no attempt of its mission was open in the tree. */
function gapBefore(
  attempt: Attempt,
  { lastEnded, openSince }: MissionTree,
): { readonly from: SnapshotPlace; readonly to: SnapshotPlace } | null {
  if (lastEnded?.endSnapshot == null || lastEnded.closedAt === null) return null
  const isCovered = lastEnded.closedAt >= attempt.openedAt || openSince.some((at) => at < attempt.openedAt)
  return isCovered ? null : { from: lastEnded.endSnapshot, to: attempt.snapshot }
}

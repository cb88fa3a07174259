import { z } from 'zod'
import type { Evidence, Outcome } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import { completeTask as decide, refuseOpenSubtasks } from '../../domain/track/complete-task.ts'
import { holdingKinds } from '../../domain/track/holds-gate.ts'
import { type Attempt, type TaskOutcome, taskOutcomes } from '../../domain/track/task.ts'
import { assertOpen } from '../../domain/track/whereabouts.ts'
import type { Handling } from '../context.ts'
import { findTask } from '../find/entities.ts'
import { choice, identifier, text, texts } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { assertPhaseFree, refuseGatedPhase } from '../run/gating.ts'
import { completionAnswer, completionShape } from './completion-answer.ts'
import { loadCompletion, repeatedAnswer, runningAttempt, waitingFor } from './completion-situation.ts'
import { correct } from './correct.ts'
import { measure } from './measure.ts'
import { assertCurrent, MissionMoved, type MissionState, measureMission } from './mission-state.ts'
import { metadataFields, outcomeFields, outcomeOf } from './outcome-fields.ts'

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
  output: completionShape,
}).handler(async (handling, given) => {
  const { correction } = given
  if (correction !== undefined) return correct(handling, { ...given, correction })
  const input = completing(given)
  const inputHash = handling.fingerprint(input)
  const before = await handling.store.view(async (reads) => {
    const task = await findTask(reads, input.task_id)
    const repeated = await repeatedAnswer(reads, task, { inputHash, attemptId: input.attempt_id })
    if (repeated) return { repeated, attempt: null }
    const attempt = await runningAttempt(reads, task, input.attempt_id)
    refuseOpenSubtasks(input.status, task, await reads.tasks.openSubtasks(task.id))
    return { repeated, attempt }
  })
  if (before.attempt === null) return completionShape.parse(before.repeated)
  if (input.phase_complete) await refuseGatedPhase(handling, before.attempt)

  const outcome = outcomeOf(input.outcome, input.metadata)
  for (let round = 1; ; round += 1) {
    const measured = await measure(handling, before.attempt, { outcome, areas: input.areas ?? [] })
    if (input.preview) return previewOf(handling, before.attempt, measured)
    const mission = await measureMission(handling, before.attempt, measured)
    try {
      return await end(handling, input, { inputHash, outcome, attempt: before.attempt, measured, mission })
    } catch (error) {
      if (!(error instanceof MissionMoved) || round === mostRounds) throw error
    }
  }
})

const mostRounds = 10

interface Ending {
  readonly inputHash: string
  readonly outcome: Outcome
  readonly attempt: Attempt
  readonly measured: Evidence
  readonly mission: MissionState
}

/** Fails with `MissionMoved` where what was measured of the mission is no longer the last. */
function end(handling: Handling, input: Completing, ending: Ending) {
  const { inputHash, outcome, measured } = ending
  return handling.record(async (reads, setting) => {
    const task = await findTask(reads, input.task_id)
    const repeated = await repeatedAnswer(reads, task, { inputHash, attemptId: input.attempt_id })
    if (repeated) return { happenings: [], answer: completionShape.parse(repeated) }
    const attempt = await runningAttempt(reads, task, input.attempt_id ?? ending.attempt.id)
    assertOpen(task, attempt)
    await assertCurrent(reads, attempt, ending.mission)
    const evidence = { ...measured, ...(attempt.missionId !== null && { mission: ending.mission.rows }) }
    const scopeReason = evidence.warnings[0] ?? 'Files changed outside the declared scope.'
    const situation = await loadCompletion(reads, task, attempt, setting.at)
    if (input.phase_complete) await assertPhaseFree(reads, attempt, handling.actor.kind)
    const request = {
      status: input.status,
      outcome,
      phaseComplete: input.phase_complete ?? false,
      evidence,
      scopeReason,
    }
    const completed = decide(request, situation, setting)
    const full = { ...evidence, warnings: [...evidence.warnings, ...completed.notes] }
    const opened = completed.consequences.flatMap((next) => (next.kind === 'hold.opened' ? [next.hold] : []))
    const waiting = [...(await waitingFor(reads, task.id)), ...opened]
    const holding = holdingKinds(situation.waiting.gate)
    const answer = completionAnswer({
      task,
      attempt,
      phase: completed.phase,
      evidence: full,
      at: setting.at,
      waiting,
      unsettled: input.status !== 'failed' && waiting.some(({ kind }) => holding.includes(kind)),
    })
    return {
      happenings: [
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
      answer,
    }
  })
}

/** What completing would answer now; nothing ends and nothing is recorded. */
async function previewOf({ store, clock }: Handling, attempt: Attempt, evidence: Evidence) {
  return store.view(async (reads) => {
    const task = await findTask(reads, attempt.taskId)
    const { phase } = await loadCompletion(reads, task, attempt, clock.now())
    const waiting = await waitingFor(reads, task.id)
    const answer = completionAnswer({
      task,
      attempt,
      phase,
      evidence,
      at: clock.now(),
      waiting,
      unsettled: false,
    })
    return { ...answer, preview: true, completed_at: null }
  })
}

function completing({ status, outcome, ...rest }: z.output<typeof inputFields>): Completing {
  if (status !== undefined && outcome !== undefined) return { ...rest, status, outcome }
  const missing =
    status === undefined ? `"status" is missing: one of ${taskOutcomes.join(', ')}` : '"outcome" is missing'
  throw new Failure('INVALID_INPUT', `complete_task: ${missing}.`, {
    hint: 'Complete with status and outcome { summary }; only a correction after the end needs neither.',
  })
}

import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { assertPhaseFree } from '../../gate/operations/run/gating.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { instant, secondsBetween } from '../../kernel/instant.ts'
import { findMission, findPhase } from '../../kernel/operations/find.ts'
import { choice, count, identifier, name, text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Phase } from '../domain/mission.ts'
import { admitTask, placeInPhase } from '../domain/phase-placement.ts'
import { phaseWords } from './mission-answer.ts'

/** Creates a phase before its first task, as Mission Control's orchestrators do. */
export const startPhase = defineOperation({
  name: 'start_phase',
  tool: 'start_phase',
  unlisted: true,
  synonyms: {
    workflow_id: 'mission_id',
    phase: 'number',
    phase_name: 'name',
  },
  command: 'phase start',
  toolset: 'track',
  audience: 'both',
  title: 'Start a phase',
  description: 'Start a phase of a mission before its first task; an existing phase is returned',
  kind: 'command',
  idempotent: true,
  positional: ['mission_id', 'number', 'name'],
  input: z.strictObject({
    mission_id: identifier('Mission or workflow'),
    number: count('Phase number (1, 2, 3...)', 1000),
    name: name('Phase name'),
    description: text('Accepted from Mission Control, not stored').optional(),
    is_parallel: z
      .boolean()
      .describe('Accepted from Mission Control, not stored: tasks of any phase may run in parallel')
      .optional(),
  }),
  output: z.object({
    phase_id: z.string(),
    mission_id: z.string(),
    workflow_id: z.string(),
    number: z.int(),
    name: z.string(),
    is_parallel: z.boolean(),
    status: z.enum(phaseWords),
    started_at: z.string(),
    warnings: strings,
    already_exists: z.literal(true).optional(),
  }),
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const mission = await findMission(reads, input.mission_id)
    const phases = await reads.missions.phases(mission.id)
    const answer = (phase: Phase, warnings: readonly string[]) => ({
      phase_id: phase.id,
      mission_id: mission.id,
      workflow_id: mission.id,
      number: phase.number ?? input.number,
      name: phase.name,
      is_parallel: input.is_parallel ?? false,
      status: phaseWords[phase.status],
      started_at: instant(phase.createdAt),
      warnings: [
        ...warnings,
        ...(input.description === undefined ? [] : ['The description was ignored: phases have none.']),
      ],
    })
    const existing = phases.find(({ number }) => number === input.number)
    if (existing) return { events: [], answer: { ...answer(existing, []), already_exists: true as const } }
    const situation = {
      mission,
      phases,
      home: null,
      parent: null,
      parentAttempt: null,
      aboveParent: [],
      planned: null,
      last: null,
      items: [],
      lostAccess: null,
      dependencies: [],
      taskOfToken: null,
    }
    const admitted = admitTask(situation)
    const placement = placeInPhase({ phase: input.number, phaseName: input.name }, situation, setting)
    if (placement.phase === null) throw new Error('a phase that is named by its number was not made')
    const phase = { ...placement.phase, status: 'in_progress' as const }
    const created = placement.events.map(
      (event): NewProjectEvent => (event.kind === 'phase.created' ? { ...event, phase } : event),
    )
    return { events: [...admitted.events, ...created], answer: answer(phase, placement.notes) }
  }),
)

const endings = ['completed', 'failed'] as const

/** Completes a phase without a task that ends it, as Mission Control's orchestrators do. */
export const completePhase = defineOperation({
  name: 'complete_phase',
  tool: 'complete_phase',
  unlisted: true,
  command: 'phase complete',
  toolset: 'track',
  audience: 'both',
  title: 'Complete a phase',
  description: 'Complete a phase, or mark it as failed',
  kind: 'command',
  idempotent: true,
  positional: ['phase_id'],
  input: z.strictObject({
    phase_id: identifier('Phase ID to complete'),
    status: choice(endings, 'Final status of the phase', {
      success: 'completed',
      done: 'completed',
      complete: 'completed',
      failure: 'failed',
      fail: 'failed',
    }),
    summary: text('Accepted from Mission Control, not stored: tasks and missions have summaries').optional(),
  }),
  output: z.object({
    phase_id: z.string(),
    mission_id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    number: z.int().nullable(),
    name: z.string(),
    status: z.enum(phaseWords),
    completed_at: z.string(),
    duration_ms: z.int(),
    tasks: z.object({ total: z.int(), in_progress: z.int() }),
    warnings: strings,
    already_completed: z.literal(true).optional(),
  }),
}).handler((handling, input) =>
  handling.record(async (reads, setting) => {
    const phase = await findPhase(reads, input.phase_id)
    const isRepeat = phase.status === input.status
    if (!isRepeat) refuseEnded(phase, input.status)
    if (input.status === 'completed' && !isRepeat)
      await assertPhaseFree(reads, { missionId: phase.missionId, phaseId: phase.id }, handling.actor.kind)
    const completedAt = isRepeat ? (phase.completedAt ?? setting.at) : setting.at
    const tasks = await phaseTally(reads, phase)
    const about = { phaseId: phase.id, missionId: phase.missionId }
    const ended: NewProjectEvent =
      input.status === 'completed'
        ? { kind: 'phase.completed', ...about }
        : { kind: 'phase.edited', ...about, changes: { status: 'failed' } }
    return {
      events: isRepeat ? [] : [ended],
      answer: {
        phase_id: phase.id,
        mission_id: phase.missionId,
        workflow_id: phase.missionId,
        number: phase.number,
        name: phase.name,
        status: phaseWords[input.status],
        completed_at: instant(completedAt),
        duration_ms: secondsBetween(phase.createdAt, completedAt) * 1000,
        tasks,
        warnings: [
          ...(tasks.in_progress === 0
            ? []
            : [`Work in the phase is still open: ${tasks.in_progress} of its tasks.`]),
          ...(input.summary === undefined
            ? []
            : ['The summary was ignored: phases have none. A mission has one when it is completed.']),
        ],
        ...(isRepeat && { already_completed: true }),
      },
    }
  }),
)

function refuseEnded(phase: Phase, action: string): void {
  if (phase.status !== 'completed' && phase.status !== 'failed') return
  throw new Failure(
    'CONFLICT',
    `Cannot set phase ${phase.id} "${phase.name}" to ${action}: it is already ${phase.status}.`,
    {
      reason: 'phase_ended',
      hint: hintOf`Reopen it with ${callTo('taskman_phase_edit', { id: phase.id, status: 'in_progress' })}.`,
    },
  )
}

async function phaseTally(reads: Reads, phase: Phase) {
  const tallies = phase.missionId === null ? [] : await reads.missions.tallies(phase.missionId)
  const tally = tallies.find(({ phaseId }) => phaseId === phase.id)
  return { total: tally?.tasks ?? 0, in_progress: tally?.openAttempts ?? 0 }
}

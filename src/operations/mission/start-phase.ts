import { z } from 'zod'
import type { Happening } from '../../domain/fact.ts'
import { instant } from '../../domain/instant.ts'
import type { Phase } from '../../domain/track/mission.ts'
import { placeInPhase } from '../../domain/track/phase-placement.ts'
import { admitTask } from '../../domain/track/task-admission.ts'
import { findMission } from '../find/entities.ts'
import { count, identifier, name, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

/** A phase before its first task, as the orchestrators of Mission Control begin one. */
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
  description: 'Begin a phase of a mission before its first task; one that exists is answered again',
  kind: 'command',
  idempotent: true,
  positional: ['mission_id', 'number', 'name'],
  input: z.strictObject({
    mission_id: identifier('Mission, or workflow'),
    number: count('Phase number (1, 2, 3...)', 1000),
    name: name('Phase name'),
    description: text('Taken from Mission Control; a phase keeps its name alone').optional(),
    is_parallel: z
      .boolean()
      .describe('Taken from Mission Control; tasks of any phase may run side by side')
      .optional(),
  }),
  output: z.looseObject({
    phase_id: z.string(),
    workflow_id: z.string(),
    number: z.int(),
    name: z.string(),
    status: z.string(),
    started_at: z.string(),
    warnings: z.array(z.string()),
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
      status: phase.status.toUpperCase(),
      started_at: instant(phase.createdAt),
      warnings: [
        ...warnings,
        ...(input.description === undefined ? [] : ['The description was not kept: a phase has none.']),
      ],
    })
    const existing = phases.find(({ number }) => number === input.number)
    if (existing) return { happenings: [], answer: { ...answer(existing, []), already_exists: true } }
    const situation = {
      mission,
      phases,
      home: null,
      parent: null,
      parentAttempt: null,
      depth: 0,
      planned: null,
      last: null,
      holds: [],
      dependencies: [],
      tokenOf: null,
    }
    const admitted = admitTask(situation)
    const placed = placeInPhase({ phase: input.number, phaseName: input.name }, situation, setting)
    if (placed.phase === null) throw new Error('a phase that is named by its number was not made')
    const phase = { ...placed.phase, status: 'in_progress' as const }
    const made = placed.happenings.map(
      (happening): Happening => (happening.kind === 'phase.created' ? { ...happening, phase } : happening),
    )
    return { happenings: [...admitted.happenings, ...made], answer: answer(phase, placed.notes) }
  }),
)

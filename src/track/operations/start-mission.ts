import { z } from 'zod'
import { startRun } from '../../gate/domain/lifecycle.ts'
import { doneWhenOf } from '../../gate/domain/settings.ts'
import { runnableProcess } from '../../gate/operations/process/processes.ts'
import { processToRun } from '../../gate/operations/run/create-run.ts'
import { ownWorkNotes } from '../../gate/operations/run/own-work.ts'
import { instant } from '../../kernel/instant.ts'
import type { JsonObject } from '../../kernel/json.ts'
import {
  choice,
  count,
  freeObject,
  identifier,
  name,
  text,
  unlistedField,
} from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { newDoneWhen } from '../../plan/domain/done-when.ts'
import { doneWhenField, givenDoneWhen } from '../../plan/operations/done-when.ts'
import type { Reads } from '../../store/ports/store.ts'
import { expectedPhases, type Mission, profiles } from '../domain/mission.ts'
import { createMission as decide } from '../domain/start-mission.ts'
import { profileWords } from './mission-answer.ts'

export const startMission = defineOperation({
  name: 'start_mission',
  tool: 'start_mission',
  command: 'mission start',
  toolset: 'track',
  audience: 'both',
  title: 'Start a mission',
  description: 'Initialize a new mission tracking session for multi-phase orchestration',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: name('Short name'),
    objective: text('Measurable goal'),
    description: text('Details').optional(),
    profile: choice(profiles, 'simple=2 phases, standard=3 (default), complex=4+').optional(),
    total_phases: count('Expected number of phases', 1000).optional(),
    scope: text('What is in and out').optional(),
    constraints: text('Technical constraints').optional(),
    process_id: identifier('Process that gates the mission (e.g., feature)').optional(),
    done_when: unlistedField(doneWhenField('What each task promises, as in plan_tasks')).optional(),
    process_context: freeObject('Variables of its run at the start').optional(),
  }),
  output: z.object({
    mission_id: z.string(),
    profile: z.enum(profileWords),
    total_phases: z.int(),
    created_at: z.string(),
    run: z.object({ run_id: z.string(), current_state: z.string(), revision: z.int() }).optional(),
    warnings: strings.optional(),
  }),
  listedOutput: ['mission_id', 'profile', 'total_phases', 'created_at'],
})
  .measure({ process: runnableProcess })
  .prepare(async (_, { process_id }, context, { process }) => ({
    briefs: { ...(process_id !== undefined && { process: { process: process_id } }) },
    found: process ? await processToRun(context, process) : null,
  }))
  .record(async ({ reads, found: gate, context, setting }, input) => {
    const mission = { ...decide(input, setting), ...newDoneWhen(givenDoneWhen(input), context.actor) }
    const started =
      gate &&
      startRun(
        {
          ...gate,
          isKept: (await reads.runs.definition(gate.hash)) !== null,
          context: (input.process_context ?? {}) as JsonObject, // a record, as its schema says
          missionId: mission.id,
          taskId: null,
          author: context.actor.name,
        },
        setting,
      )
    const namesakes = (await reads.missions.openNamed(mission.name)).map(
      ({ id }) =>
        `An open mission has this name: ${id}. If you were asked to work in it, use its mission_id.`,
    )
    const ownWork = gate && started ? ownWorkNotes(gate.definition, context) : []
    const unproven = context.actor.kind === 'person' ? await noCheckNotes(reads, mission) : []
    const warnings = [...namesakes, ...ownWork, ...unproven]
    return {
      events: [{ kind: 'mission.started', mission }, ...(started?.events ?? [])],
      answer: {
        mission_id: mission.id,
        profile: profileWords[mission.profile ?? 'standard'],
        total_phases: expectedPhases(mission, []),
        created_at: instant(mission.createdAt),
        ...(started && { run: { run_id: started.run.id, current_state: started.run.state, revision: 1 } }),
        ...(warnings.length > 0 && { warnings }),
      },
    }
  })

/** A person who plans has it in hand that tasks can be proven. */
async function noCheckNotes(
  { runs }: Reads,
  { doneWhen }: Pick<Mission, 'doneWhen'>,
): Promise<readonly string[]> {
  const ofProject = doneWhenOf(await runs.settings())
  if ([...(doneWhen?.check ?? []), ...(ofProject?.check ?? [])].length > 0) return []
  return [
    'No command must pass for its tasks yet, and without one no task is proven. Give each task a check, or all of them one: waymark setting set done_when \'{"check": ["npm test"]}\'',
  ]
}

import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { PhaseId } from '../../domain/id.ts'
import { phaseStatus } from '../../domain/plan/task-status.ts'
import { isEnded, nextNumber, type Phase } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { identifier, name } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { briefEntity, briefIdField, orBrief } from './brief.ts'
import { missionField, sortOrderField, statusField } from './fields.ts'
import { ownerOf } from './find.ts'
import { printEntity } from './print.ts'
import { phaseFields, phaseShape } from './shapes.ts'

export const phaseAdd = defineOperation({
  name: 'taskman_phase_add',
  tool: 'taskman_phase_add',
  command: 'phase add',
  synonyms: { phase_id: 'id', mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a phase',
  description: 'Add a phase to the plan',
  kind: 'command',
  input: z.strictObject({
    id: identifier('Unique ID'),
    name: name('Name'),
    status: statusField('Status').optional(),
    'sort-order': sortOrderField.optional(),
    mission: missionField.optional(),
    brief: briefIdField.optional(),
  }),
  output: orBrief(phaseFields),
  brief: briefEntity,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const missionId = await ownerOf(reads, input.mission)
    await assertFreeId(reads, input.id)
    const status = phaseStatus(input.status ?? 'to_do')
    const phase: Phase = {
      id: input.id as PhaseId, // people name the phases of a plan
      missionId,
      number: missionId === null ? null : nextNumber(await reads.missions.phases(missionId)),
      name: input.name,
      status,
      sortOrder: input['sort-order'] ?? null,
      createdAt: setting.at,
      completedAt: status === 'completed' ? setting.at : null,
    }
    return { happenings: [{ kind: 'phase.created', phase }], answer: phaseShape(phase) }
  }),
)

/** Phases of one project have ids of their own, whatever plan they are of. */
export async function assertFreeId(reads: Reads, id: string): Promise<void> {
  const clash = await clashOf(reads, id)
  if (clash === null) return
  throw new Failure('CONFLICT', clash.says, {
    hint: `Take "${clash.free}", which is free, or change that one with taskman_phase_edit { id: "${id}" }.`,
  })
}

/** That an id is taken, and one that is free; null where the id is. */
export async function clashOf(reads: Reads, id: string) {
  const phase = await reads.plan.phase(id)
  if (phase === null || (await isFreed(reads, phase))) return null
  let number = 2
  while (await reads.plan.phase(`${id}-${number}`)) number += 1
  const where = phase.missionId === null ? '' : ` in mission ${phase.missionId}`
  return { says: `phase already exists: ${id} "${phase.name}"${where}`, free: `${id}-${number}` }
}

/** A mission that somebody ended needs its phases' ids no more; a workflow that ended by itself may go on. */
async function isFreed(reads: Reads, { missionId }: Phase): Promise<boolean> {
  const mission = missionId === null ? null : await reads.missions.find(missionId)
  return mission !== null && isEnded(mission) && !(mission.kind === 'workflow' && mission.summary === null)
}

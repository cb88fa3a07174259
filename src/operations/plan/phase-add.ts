import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { PhaseId } from '../../domain/id.ts'
import { phaseStatus } from '../../domain/plan/task-status.ts'
import type { Phase } from '../../domain/track/mission.ts'
import { identifier, name } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { missionField, sortOrderField, statusField } from './fields.ts'
import { ownerOf } from './find.ts'
import { printEntity } from './print.ts'
import { phaseFields, phaseShape } from './shapes.ts'

export const phaseAdd = defineOperation({
  name: 'taskman_phase_add',
  tool: 'taskman_phase_add',
  command: 'phase add',
  toolset: 'plan',
  audience: 'both',
  title: 'Add a phase',
  description: 'Add a phase to the plan',
  kind: 'command',
  input: z.strictObject({
    id: identifier('Unique phase identifier'),
    name: name('Phase name'),
    status: statusField('Phase status').optional(),
    'sort-order': sortOrderField.optional(),
    mission: missionField.optional(),
  }),
  output: phaseFields,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const missionId = await ownerOf(reads, input.mission)
    if (await reads.plan.phase(input.id)) {
      throw new Failure('CONFLICT', `phase already exists: ${input.id}`, {
        hint: `Choose another id, or change it with taskman_phase_edit { id: "${input.id}" }.`,
      })
    }
    const status = phaseStatus(input.status ?? 'to_do')
    const phase: Phase = {
      id: input.id as PhaseId, // people name the phases of a plan
      missionId,
      number: null,
      name: input.name,
      status,
      sortOrder: input['sort-order'] ?? null,
      createdAt: setting.at,
      completedAt: status === 'completed' ? setting.at : null,
    }
    return { happenings: [{ kind: 'phase.created', phase }], answer: phaseShape(phase) }
  }),
)

import { z } from 'zod'
import type { PhaseChanges } from '../../domain/plan/happening.ts'
import { phaseStatus } from '../../domain/plan/task-status.ts'
import { identifier, name } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { assertPhaseFree, refuseGatedPhase } from '../run/gating.ts'
import { briefEntity, briefIdField, orBrief } from './brief.ts'
import { sortOrderField, statusField } from './fields.ts'
import { findPhase } from './find.ts'
import { printEdited } from './print-edited.ts'
import { phaseFields, phaseShape } from './shapes.ts'

export const phaseEdit = defineOperation({
  name: 'taskman_phase_edit',
  tool: 'taskman_phase_edit',
  command: 'phase edit',
  synonyms: { phase_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a phase',
  description: 'Change fields of a phase; what is not given stays',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Phase ID'),
    name: name('Name').optional(),
    status: statusField('Status').optional(),
    'sort-order': sortOrderField.optional(),
    clear: z
      .array(z.enum(['sort-order']))
      .describe('Fields to empty')
      .optional(),
    brief: briefIdField.optional(),
  }),
  output: orBrief(phaseFields),
  brief: briefEntity,
  print: printEdited,
}).handler(async (handling, input) => {
  const asked = input.status === undefined ? undefined : phaseStatus(input.status)
  const before = await handling.store.view((reads) => findPhase(reads, input.id))
  // What gates a phase gates it by whatever call an agent ends it.
  const isGated = asked === 'completed' && before.status !== 'completed' && handling.actor.kind === 'agent'
  if (isGated) await refuseGatedPhase(handling, { missionId: before.missionId, phaseId: before.id })
  return handling.record(async (reads, setting) => {
    const phase = await findPhase(reads, input.id)
    if (isGated) await assertPhaseFree(reads, { missionId: phase.missionId, phaseId: phase.id }, 'agent')
    const changes: PhaseChanges = {
      ...(input.name !== undefined && { name: input.name }),
      ...(asked !== undefined && { status: asked }),
      ...(input['sort-order'] !== undefined && { sortOrder: input['sort-order'] }),
      ...(input.clear?.includes('sort-order') && { sortOrder: null }),
    }
    if (Object.keys(changes).length === 0) return { happenings: [], answer: phaseShape(phase) }
    return {
      happenings: [{ kind: 'phase.edited', phaseId: phase.id, missionId: phase.missionId, changes }],
      answer: phaseShape({ ...phase, ...changes, ...ended(changes, setting.at) }),
    }
  })
})

function ended({ status }: PhaseChanges, at: number) {
  return status === undefined ? {} : { completedAt: status === 'completed' ? at : null }
}

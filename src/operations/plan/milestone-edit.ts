import { z } from 'zod'
import type { MilestoneChanges } from '../../domain/plan/happening.ts'
import { identifier, name, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { briefEntity, briefIdField, orBrief } from './brief.ts'
import { reachedField } from './fields.ts'
import { findMilestone, findPhase } from './find.ts'
import { printEdited } from './print-edited.ts'
import { milestoneFields, milestoneShape } from './shapes.ts'

export const milestoneEdit = defineOperation({
  name: 'taskman_milestone_edit',
  tool: 'taskman_milestone_edit',
  command: 'milestone edit',
  synonyms: { milestone_id: 'id', phase_id: 'phase' },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a milestone',
  description: 'Change fields of a milestone; moving it moves its open tasks',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Milestone ID'),
    name: name('Name').optional(),
    criterion: text('Criterion').optional(),
    reached: reachedField.optional(),
    phase: identifier('Phase to move to').optional(),
    clear: z
      .array(z.enum(['name', 'criterion']))
      .describe('Fields to empty')
      .optional(),
    brief: briefIdField.optional(),
  }),
  output: orBrief(milestoneFields),
  brief: briefEntity,
  print: printEdited,
}).handler(({ record }, input) =>
  record(async (reads) => {
    const milestone = await findMilestone(reads, input.id)
    const phase = input.phase === undefined ? null : await findPhase(reads, input.phase)
    const home = phase ?? (await findPhase(reads, milestone.phaseId))
    const changes: MilestoneChanges = {
      ...(input.name !== undefined && { name: input.name }),
      ...(input.criterion !== undefined && { criterion: input.criterion }),
      ...(input.reached !== undefined && { reached: input.reached === '1' }),
      ...(phase && { phaseId: phase.id }),
      ...(input.clear?.includes('name') && { name: null }),
      ...(input.clear?.includes('criterion') && { criterion: null }),
    }
    if (Object.keys(changes).length === 0)
      return { happenings: [], answer: milestoneShape(milestone, home.missionId) }
    return {
      happenings: [{ kind: 'milestone.edited', milestoneId: milestone.id, changes }],
      answer: milestoneShape({ ...milestone, ...changes }, home.missionId),
    }
  }),
)

import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import type { MilestoneId } from '../../domain/id.ts'
import type { Milestone } from '../../domain/plan/plan.ts'
import { identifier, name, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { briefEntity, briefIdField, orBrief } from './brief.ts'
import { reachedField } from './fields.ts'
import { findPhase } from './find.ts'
import { printEntity } from './print.ts'
import { milestoneFields, milestoneShape } from './shapes.ts'

export const milestoneAdd = defineOperation({
  name: 'taskman_milestone_add',
  tool: 'taskman_milestone_add',
  command: 'milestone add',
  synonyms: { milestone_id: 'id', phase_id: 'phase' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a milestone',
  description: 'Add a milestone, a goal with a criterion, to a phase',
  kind: 'command',
  input: z.strictObject({
    id: identifier('Unique ID'),
    phase: identifier('Phase ID'),
    name: name('Name').optional(),
    criterion: text('When it is reached').optional(),
    reached: reachedField.optional(),
    brief: briefIdField.optional(),
  }),
  output: orBrief(milestoneFields),
  brief: briefEntity,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const phase = await findPhase(reads, input.phase)
    if (await reads.plan.milestone(input.id)) {
      throw new Failure('CONFLICT', `milestone already exists: ${input.id}`, {
        hint: `Choose another id, or change it with taskman_milestone_edit { id: "${input.id}" }.`,
      })
    }
    const milestone: Milestone = {
      id: input.id as MilestoneId, // people name their milestones
      phaseId: phase.id,
      name: input.name ?? null,
      criterion: input.criterion ?? null,
      reached: input.reached === '1',
      createdAt: setting.at,
    }
    return {
      happenings: [{ kind: 'milestone.created', milestone }],
      answer: milestoneShape(milestone, phase.missionId),
    }
  }),
)

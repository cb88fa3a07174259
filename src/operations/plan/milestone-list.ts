import { z } from 'zod'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { missionField } from './fields.ts'
import { findPhase, ownerOf } from './find.ts'
import { printList } from './print.ts'
import { milestoneFields, milestoneShape } from './shapes.ts'

export const milestoneList = defineOperation({
  name: 'taskman_milestone_list',
  tool: 'taskman_milestone_list',
  command: 'milestone list',
  toolset: 'plan',
  audience: 'both',
  title: 'List milestones',
  description: 'List the milestones of the plan, or of one phase',
  kind: 'query',
  input: z.strictObject({
    phase: identifier('Filter by phase ID').optional(),
    mission: missionField.optional(),
  }),
  output: z.looseObject({ milestones: z.array(milestoneFields), total: z.int() }),
  print: printList('milestones'),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const milestones = await reads.plan.milestones({
      ...((input.phase === undefined || input.mission !== undefined) && {
        owner: await ownerOf(reads, input.mission),
      }),
      ...(input.phase !== undefined && { phaseId: (await findPhase(reads, input.phase)).id }),
    })
    return { milestones: milestones.map(milestoneShape), total: milestones.length }
  }),
)

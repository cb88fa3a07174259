import { z } from 'zod'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { spanField } from './fields.ts'
import { findPhase, spanOf } from './find.ts'
import { printList } from './print.ts'
import { milestoneFields, milestoneShape } from './shapes.ts'

export const milestoneList = defineOperation({
  name: 'taskman_milestone_list',
  tool: 'taskman_milestone_list',
  command: 'milestone list',
  synonyms: { phase_id: 'phase', mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'List milestones',
  description: 'List the milestones',
  kind: 'query',
  input: z.strictObject({
    phase: identifier('Phase ID').optional(),
    mission: spanField.optional(),
  }),
  output: z.looseObject({ milestones: z.array(milestoneFields), total: z.int() }),
  print: printList('milestones'),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const span = await spanOf(reads, input.mission)
    const phase = input.phase === undefined ? null : await findPhase(reads, input.phase)
    const milestones = await reads.plan.milestones({
      ...((phase === null || input.mission !== undefined) && { owner: span }),
      ...(phase && { phaseId: phase.id }),
    })
    const homes = new Map((phase ? [phase] : await reads.plan.phases(span)).map((home) => [home.id, home]))
    return {
      milestones: milestones.map((milestone) =>
        milestoneShape(milestone, homes.get(milestone.phaseId)?.missionId ?? null),
      ),
      total: milestones.length,
    }
  }),
)

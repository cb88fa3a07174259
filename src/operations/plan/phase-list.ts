import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { spanField } from './fields.ts'
import { spanOf } from './find.ts'
import { printList } from './print.ts'
import { phaseFields, phaseShape } from './shapes.ts'

export const phaseList = defineOperation({
  name: 'taskman_phase_list',
  tool: 'taskman_phase_list',
  command: 'phase list',
  synonyms: { mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'List phases',
  description: 'List the phases in order',
  kind: 'query',
  input: z.strictObject({ mission: spanField.optional() }),
  output: z.looseObject({ phases: z.array(phaseFields), total: z.int() }),
  print: printList('phases'),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const phases = await reads.plan.phases(await spanOf(reads, input.mission))
    return { phases: phases.map(phaseShape), total: phases.length }
  }),
)

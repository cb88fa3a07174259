import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { missionField } from './fields.ts'
import { ownerOf } from './find.ts'
import { printList } from './print.ts'
import { phaseFields, phaseShape } from './shapes.ts'

export const phaseList = defineOperation({
  name: 'taskman_phase_list',
  tool: 'taskman_phase_list',
  command: 'phase list',
  toolset: 'plan',
  audience: 'both',
  title: 'List phases',
  description: 'List the phases in order',
  kind: 'query',
  input: z.strictObject({ mission: missionField.optional() }),
  output: z.looseObject({ phases: z.array(phaseFields), total: z.int() }),
  print: printList('phases'),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const phases = await reads.plan.phases(await ownerOf(reads, input.mission))
    return { phases: phases.map(phaseShape), total: phases.length }
  }),
)

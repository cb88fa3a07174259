import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { defineOperation } from '../operation.ts'
import { addPlan } from './add-plan.ts'
import { demoPlan } from './demo-plan.ts'

export const demo = defineOperation({
  name: 'demo',
  command: 'demo',
  toolset: 'plan',
  audience: 'both',
  title: 'Fill a demonstration plan',
  description:
    'Fills an empty plan with a realistic one: a small web shop, midway. Touches no existing plan.',
  kind: 'command',
  input: z.strictObject({}),
  output: z.looseObject({ added: z.looseObject({ tasks: z.int() }) }),
}).handler(async (handling) => {
  const existing = await handling.store.view(({ plan }) => plan.phases(null))
  if (existing.length > 0) {
    throw new Failure(
      'CONFLICT',
      `This project has a plan already, of ${existing.length} phase(s): ${existing
        .slice(0, 5)
        .map(({ name }) => name)
        .join(', ')}.`,
      {
        hint: 'Look at the demonstration in another folder, or with WAYMARK_DATABASE=/tmp/demo.db waymark demo.',
      },
    )
  }
  return addPlan(handling, demoPlan, { mission: undefined, dryRun: false })
})

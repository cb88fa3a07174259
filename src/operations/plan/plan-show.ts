import { z } from 'zod'
import { criticalPath } from '../../domain/plan/chains.ts'
import { outline } from '../../domain/plan/outline.ts'
import { readyTasks } from '../../domain/plan/ready.ts'
import { defineOperation } from '../operation.ts'
import { missionField } from './fields.ts'
import { ownerOf } from './find.ts'
import { planSource } from './plan-source.ts'

export const planShow = defineOperation({
  name: 'plan_show',
  command: 'plan show',
  toolset: 'plan',
  audience: 'both',
  title: 'Show the plan',
  description: 'The outline of the plan: phases, milestones, tasks, what is ready, and the critical path.',
  kind: 'query',
  input: z.strictObject({ mission: missionField.optional() }),
  output: z.looseObject({
    phases: z.array(z.looseObject({})),
    tasks: z.int(),
    done: z.int(),
    dropped: z.int(),
    ready: z.int(),
    critical_path: z.array(z.string()),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const source = await planSource(reads, await ownerOf(reads, input.mission), clock.now())
    const kept = source.tasks.filter(({ dropped }) => dropped !== true)
    return {
      phases: outline(source).map((phase) => ({ ...phase })),
      tasks: kept.length,
      done: kept.filter(({ status }) => status === 'done').length,
      dropped: source.tasks.length - kept.length,
      ready: readyTasks(source.tasks).length,
      critical_path: criticalPath(source.tasks).map(({ id }) => id),
    }
  }),
)

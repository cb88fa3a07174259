import { z } from 'zod'
import { excerpt } from '../../domain/budget.ts'
import { defineOperation } from '../operation.ts'

/** Most tasks that one list names. */
const mostTasks = 5_000

export const names = defineOperation({
  name: 'names',
  command: 'names',
  screen: true,
  toolset: 'track',
  audience: 'person',
  title: 'Everything that has a name',
  description: 'The missions, runs and tasks by id and name, for a search that answers while one types.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.looseObject({
    missions: z.array(z.looseObject({})),
    runs: z.array(z.looseObject({})),
    tasks: z.array(z.looseObject({})),
  }),
}).handler(({ store, clock }) =>
  store.view(async ({ missions, runs, plan }) => {
    const found = await missions.list({ limit: 1_000 })
    const running = await runs.list({}, { limit: 1_000 })
    const tasks = await plan.graph(undefined, mostTasks, clock.now())
    return {
      missions: found.items.map(({ item }) => ({
        id: item.id,
        name: excerpt(item.name, 120),
        status: item.status,
      })),
      runs: running.items.map(({ item: { id, process, state, status } }) => ({
        id,
        name: `${excerpt(process.name, 80)}: ${state}`,
        status,
      })),
      tasks: tasks.map(({ id, name, status }) => ({ id, name: excerpt(name, 120), status })),
    }
  }),
)

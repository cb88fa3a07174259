import { z } from 'zod'
import { defineOperation } from '../../kernel/operations/operation.ts'

export const init = defineOperation({
  name: 'taskman_init',
  tool: 'taskman_init',
  command: 'init',
  toolset: 'plan',
  audience: 'both',
  title: 'Initialize the project',
  description:
    'Create and initialize the database tables (phases, milestones, tasks, task_deps). Run once when starting a new project.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({ message: z.string() }),
  print: (answer) => [String(answer['message'])],
}).handler(({ record }) =>
  // An empty record creates the database; an existing one stays.
  record(async () => ({ events: [], answer: { message: 'Database initialized.' } })),
)

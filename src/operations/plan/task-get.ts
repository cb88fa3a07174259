import { z } from 'zod'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { toldStory } from '../task/task-story.ts'
import { formatField } from './fields.ts'
import { findPlanned } from './find.ts'
import { printEntity } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'

const mostNotes = 50

export const taskGet = defineOperation({
  name: 'taskman_task_get',
  tool: 'taskman_task_get',
  command: 'task get',
  synonyms: { task_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'Get a task',
  description: 'One task of the plan: what it depends on, what was tried before',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({ id: identifier('Task ID'), format: formatField.optional() }),
  output: taskFields,
  print: printEntity,
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const planned = await findPlanned(reads, input.id)
    const notes = await reads.plan.notes(planned.task.id, { limit: mostNotes })
    const ids = notes.items.map(({ item }) => item.id)
    return {
      ...taskShape(planned, clock.now()),
      ...(ids.length > 0 && { note_ids: ids }),
      ...(await toldStory(reads, planned.task.id)),
    }
  }),
)

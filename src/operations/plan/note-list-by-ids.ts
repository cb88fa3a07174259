import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { formatField } from './fields.ts'
import { fitted } from './page.ts'
import { printList } from './print.ts'
import { noteFields, noteShape } from './shapes.ts'

const mostNotes = 200

/** Notes by their ids, which taskman_task_get names; what does not exist is left out, as taskman does. */
export const noteListByIds = defineOperation({
  name: 'taskman_task_note_list_by_ids',
  tool: 'taskman_task_note_list_by_ids',
  unlisted: true,
  command: 'task note list-by-ids',
  toolset: 'plan',
  audience: 'both',
  title: 'List notes by their ids',
  description: 'The notes with these ids, oldest first; ids that do not exist are left out',
  kind: 'query',
  positional: ['ids'],
  input: z.strictObject({
    ids: z
      .string()
      .min(1)
      .max(10_000)
      .describe('Note IDs with commas between them, from note_ids of taskman_task_get'),
    format: formatField.optional(),
  }),
  output: z.looseObject({ notes: z.array(noteFields), total: z.int() }),
  print: printList('notes'),
}).handler(({ store, actor }, { ids }) =>
  store.view(async (reads) => {
    const named = [...new Set(ids.split(',').map((id) => id.trim()))].filter((id) => id !== '')
    const notes = (await reads.plan.notesWithIds(named.slice(0, mostNotes))).map(noteShape)
    return { notes: [...fitted(notes, undefined, actor)], total: notes.length }
  }),
)

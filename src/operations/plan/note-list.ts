import { z } from 'zod'
import { nextCursor, readCursor } from '../input/cursor.ts'
import { count, identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { formatField } from './fields.ts'
import { findPlanned } from './find.ts'
import { fitted, pageSize } from './page.ts'
import { printList } from './print.ts'
import { noteFields, noteShape } from './shapes.ts'

export const noteList = defineOperation({
  name: 'taskman_task_note_list',
  tool: 'taskman_task_note_list',
  command: 'task note list',
  synonyms: { task_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'List notes',
  description: 'The notes of a task, newest first',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Task ID'),
    limit: count('Default 20', 1000).optional(),
    cursor: identifier('next_cursor').optional(),
    format: formatField.optional(),
  }),
  output: z.looseObject({ notes: z.array(noteFields), total: z.int(), next_cursor: z.string().nullable() }),
  print: printList('notes'),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const { task } = await findPlanned(reads, input.id)
    const limit = pageSize(input.limit, actor)
    const before = readCursor(input.cursor, ['notes'])?.get('notes')
    const page = await reads.plan.notes(task.id, {
      limit: limit + 1,
      ...(before !== undefined && { before }),
    })
    const entries = page.items.slice(0, limit).map(({ item }) => noteShape(item))
    const shown = fitted(entries, input.limit, actor)
    const seqs = page.items.slice(0, shown.length).map(({ seq }) => seq)
    return {
      notes: [...shown],
      total: page.total,
      next_cursor: nextCursor([{ name: 'notes', seqs, more: page.items.length > shown.length }]),
    }
  }),
)

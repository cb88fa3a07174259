import { z } from 'zod'
import { type Note, noteKinds } from '../../domain/plan/plan.ts'
import { choice, identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { assertRole, formatField, roleField } from './fields.ts'
import { findPlanned } from './find.ts'
import { printEntity } from './print.ts'
import { noteFields, noteShape } from './shapes.ts'

export const noteAdd = defineOperation({
  name: 'taskman_task_note_add',
  tool: 'taskman_task_note_add',
  command: 'task note add',
  synonyms: { task_id: 'id', note: 'content' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a note',
  description: 'Add a note to a task',
  kind: 'command',
  positional: ['id', 'content'],
  input: z.strictObject({
    id: identifier('Task ID'),
    content: text('Text'),
    kind: choice(noteKinds, 'Kind').optional(),
    role: roleField.optional(),
    format: formatField.optional(),
  }),
  output: noteFields,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const { task } = await findPlanned(reads, input.id)
    await assertRole(reads, input.role)
    const note: Note = {
      id: setting.ids.next('note'),
      taskId: task.id,
      content: input.content,
      kind: input.kind ?? null,
      role: input.role ?? null,
      author: actor.name,
      createdAt: setting.at,
    }
    return { happenings: [{ kind: 'note.added', note }], answer: noteShape(note) }
  }),
)

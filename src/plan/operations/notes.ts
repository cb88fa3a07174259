import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { findPlanned } from '../../kernel/operations/find.ts'
import { choice, identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { printEntity, printList } from '../../kernel/operations/print.ts'
import { ownName } from '../domain/claims.ts'
import { type Note, noteKinds } from '../domain/plan.ts'
import { assertRole, formatField, roleField } from './fields.ts'
import { NoteEntry, noteEntry } from './plan-answer.ts'

export const noteAdd = defineOperation({
  name: 'taskman_task_note_add',
  tool: 'taskman_task_note_add',
  command: 'task note add',
  synonyms: { task_id: 'id', note: 'content' },
  toolset: 'plan',
  audience: 'both',
  title: 'Add a note to a task',
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
  output: NoteEntry,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input.id)
    const { task } = planned
    await assertRole(reads, input.role)
    const attempt = await reads.tasks.openAttempt(task.id)
    const agentName = ownName(planned, attempt, { actor, at: setting.at })
    const note: Note = {
      id: setting.ids.next('note'),
      taskId: task.id,
      content: input.content,
      kind: input.kind ?? null,
      role: input.role ?? null,
      author: displayName({ actor, agentName }),
      createdAt: setting.at,
    }
    return { events: [{ kind: 'note.added', note }], agentName, answer: noteEntry(note) }
  }),
)

export const noteList = defineOperation({
  name: 'taskman_task_note_list',
  tool: 'taskman_task_note_list',
  command: 'task note list',
  synonyms: { task_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'List the notes of a task',
  description: 'List the notes of a task, newest first',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('Task ID'),
    ...pageFields(1000),
    format: formatField.optional(),
  }),
  output: z.object({ notes: list(NoteEntry), ...page }),
  print: printList('notes'),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const { task } = await findPlanned(reads, input.id)
    const paging = new Paging('taskman_task_note_list', input, actor)
    const found = await reads.plan.notes(task.id, paging.request())
    const notes = paging.fit(found.items.map(({ item }) => noteEntry(item)))
    return {
      notes,
      total: found.total,
      next_cursor: paging.next(found.items, notes.length, ({ seq }) => seq),
    }
  }),
)

const maxNotes = 200

/** Notes by the ids of taskman_task_get; missing ones are left out, as in taskman. */
export const noteListByIds = defineOperation({
  name: 'taskman_task_note_list_by_ids',
  tool: 'taskman_task_note_list_by_ids',
  unlisted: true,
  command: 'task note list-by-ids',
  toolset: 'plan',
  audience: 'both',
  title: 'List notes by id',
  description: 'List the notes with these ids, oldest first; unknown ids are skipped',
  kind: 'query',
  positional: ['ids'],
  input: z.strictObject({
    ids: z
      .string()
      .min(1)
      .max(10_000)
      .describe('Note IDs, comma-separated, from note_ids of taskman_task_get'),
    format: formatField.optional(),
  }),
  output: z.object({ notes: list(NoteEntry), total: z.int() }),
  print: printList('notes'),
}).handler(({ store, actor }, { ids }) =>
  store.view(async (reads) => {
    const named = [...new Set(ids.split(',').map((id) => id.trim()))].filter((id) => id !== '')
    const notes = (await reads.plan.notesWithIds(named.slice(0, maxNotes))).map(noteEntry)
    return {
      notes: new Paging('taskman_task_note_list_by_ids', {}, actor, maxNotes).fit(notes),
      total: notes.length,
    }
  }),
)

import type { DocumentNote, DocumentTask } from '../../domain/plan/document/plan-document.ts'
import { type DescriptionPart, descriptionText } from '../description-text.ts'
import { done, dropped, type ForeignStatus, foreignStatus, toDo, unknownStatus } from '../foreign-status.ts'
import { instantOfText } from '../instant-text.ts'
import type { BacklogFile, BacklogKind } from './backlog-file.ts'
import { backlogStatuses } from './statuses.ts'

/** A task whose references are still the words of the files. */
export interface BacklogTask extends Omit<DocumentTask, 'key' | 'phase' | 'foreignId'> {
  readonly id: string
  readonly place: string
  readonly kind: BacklogKind
}

/** Sections that tell what happened rather than what is to be done. */
const noteKinds: ReadonlyMap<string, string> = new Map([
  ['implementation notes', 'implementation_notes'],
  ['final summary', 'final_summary'],
  ['comments', 'comments'],
])

export function backlogTask(file: BacklogFile, notices: string[]): BacklogTask {
  const { fields, path, sections } = file
  const word = fields.textOrNull('status') ?? ''
  const { status, resolution, keepWord } = standing(file, word, notices)
  const list = (name: string): string => fields.texts(name).join(', ')
  const instant = (name: string): number | null => {
    const text = fields.textOrNull(name)
    const at = text === null ? null : instantOfText(text)
    if (text !== null && at === null)
      notices.push(`${path}: left out: the ${name} "${text}", which is no date.`)
    return at
  }
  const parts = sections.filter(({ title }) => noteKind(title) === undefined)
  return {
    id: fields.text('id'),
    place: path,
    kind: file.kind,
    title: fields.text('title'),
    description: descriptionText([
      ...parts.flatMap(({ title, text }): DescriptionPart[] => [
        { title: title === null || title.toLowerCase() === 'description' ? null : title, text },
      ]),
      { title: 'Type', text: fields.textOrNull('type') },
      { title: 'Assignee', text: list('assignee') },
      { title: 'Labels', text: list('labels') },
      { title: 'Priority', text: fields.textOrNull('priority') },
      {
        title: 'References',
        text: [...fields.texts('references'), ...fields.texts('documentation')].join(', '),
      },
      { title: 'Status in Backlog.md', text: keepWord ? word : null },
    ]),
    milestone: fields.textOrNull('milestone'),
    parent: fields.textOrNull('parent_task_id') ?? fields.textOrNull('parent'),
    role: null,
    status,
    resolution,
    sortOrder: ordinal(fields.textOrNull('ordinal')),
    dependsOn: fields.texts('dependencies'),
    notes: sections.flatMap(({ title, text }): DocumentNote[] => {
      const kind = noteKind(title)
      return kind === undefined ? [] : [{ content: text, kind, role: null, author: null, createdAt: null }]
    }),
    creator: fields.textOrNull('reporter'),
    createdAt: instant('created_date'),
    updatedAt: instant('updated_date'),
  }
}

function noteKind(title: string | null): string | undefined {
  return noteKinds.get(title?.toLowerCase() ?? '')
}

function standing({ kind, path }: BacklogFile, word: string, notices: string[]): ForeignStatus {
  const found = foreignStatus(backlogStatuses, word)
  if (kind === 'archived') return found?.status === 'done' ? found : dropped
  if (kind === 'completed') return found?.status === 'done' ? found : done
  if (found) return found
  if (word !== '') notices.push(unknownStatus(path, word))
  return { ...toDo, keepWord: true }
}

function ordinal(text: string | null): number | null {
  const number = text === null ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : null
}

import type { DocumentNote } from '../../domain/plan/document/plan-document.ts'
import { descriptionText } from '../description-text.ts'
import type { FieldReader } from '../field-reader.ts'

export interface BeadsIssue {
  readonly place: string
  readonly id: string
  readonly title: string
  readonly status: string
  readonly description: string | null
  readonly notes: readonly DocumentNote[]
  readonly links: readonly BeadsLink[]
  readonly creator: string | null
  readonly createdAt: number | null
  readonly updatedAt: number | null
}

export interface BeadsLink {
  readonly to: string
  /** `blocks`, `parent-child`, `related`, `discovered-from`, … */
  readonly type: string
}

export function beadsIssue(fields: FieldReader): BeadsIssue {
  const status = fields.textOrNull('status') ?? 'open'
  const estimate = fields.numberOrNull('estimated_minutes')
  return {
    place: fields.place,
    id: fields.text('id'),
    title: fields.text('title'),
    status,
    description: descriptionText([
      { title: null, text: fields.textOrNull('description') },
      { title: 'Design', text: fields.textOrNull('design') },
      { title: 'Acceptance criteria', text: fields.textOrNull('acceptance_criteria') },
      { title: 'Type', text: fields.textOrNull('issue_type') },
      { title: 'Priority', text: fields.textOrNull('priority') },
      { title: 'Labels', text: fields.texts('labels').join(', ') },
      { title: 'Assignee', text: fields.textOrNull('assignee') },
      { title: 'Estimate', text: estimate === null ? null : `${estimate} minutes` },
      { title: 'Elsewhere', text: fields.textOrNull('external_ref') },
    ]),
    notes: notesOf(fields),
    links: fields.records('dependencies').map(linkOf),
    creator: fields.textOrNull('created_by') || null,
    createdAt: fields.instantOrNull('created_at'),
    updatedAt: fields.instantOrNull('updated_at'),
  }
}

function linkOf(fields: FieldReader): BeadsLink {
  for (const said of ['issue_id', 'created_at', 'created_by', 'metadata', 'thread_id']) fields.ignore(said)
  return { to: fields.text('depends_on_id'), type: fields.textOrNull('type') ?? 'blocks' }
}

function notesOf(fields: FieldReader): readonly DocumentNote[] {
  const note = (kind: string, content: string | null, createdAt: number | null): readonly DocumentNote[] =>
    content === null || content.trim() === '' ? [] : [{ content, kind, role: null, author: null, createdAt }]
  const comments = fields.records('comments').map((comment): DocumentNote => {
    comment.ignore('id')
    comment.ignore('issue_id')
    return {
      content: comment.text('text'),
      kind: 'comment',
      role: null,
      author: comment.textOrNull('author'),
      createdAt: comment.instantOrNull('created_at'),
    }
  })
  return [
    ...note('notes', fields.textOrNull('notes'), null),
    ...comments,
    ...note('close_reason', fields.textOrNull('close_reason'), fields.instantOrNull('closed_at')),
  ]
}

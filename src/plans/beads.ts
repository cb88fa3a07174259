import type { DocumentNote, DocumentTask } from '../domain/plan/document.ts'
import { type FieldReader, fieldReader, jsonLines, unreadFields } from './fields.ts'
import {
  descriptionText,
  done,
  foreignStatus,
  inProgress,
  type StatusWords,
  toDo,
  unknownStatus,
} from './foreign-task.ts'
import { type ImportResult, judged } from './import-result.ts'

/** Links that make an issue wait. The others are kept as notes. */
const waitingTypes: ReadonlySet<string> = new Set(['blocks', 'conditional-blocks', 'waits-for'])

/** Reads the issues of beads, one JSON object a line. Deleted ones (tombstones) are left out. */
export function readBeads(text: string): ImportResult {
  const { lines, problems } = jsonLines(text)
  const readers = lines.map(({ place, value }) => fieldReader(value, place, problems))
  const issues = readers.map(beadsIssue)
  const kept = issues.filter(({ status }) => status !== 'tombstone')
  const known = new Set(kept.map(({ id }) => id))
  const notices: string[] = []
  const tasks = kept.map((issue) => documentTask(issue, known, notices))
  const deleted = issues.length - kept.length
  return judged({
    document: { phases: [], milestones: [], tasks },
    places: { phases: [], milestones: [], tasks: kept.map(({ place }) => place) },
    problems,
    notices: [
      ...(deleted === 0 ? [] : [`left out: deleted issues (${deleted}).`]),
      ...notices,
      ...unreadFields(readers.filter((_, at) => issues[at]?.status !== 'tombstone')),
    ],
  })
}

function documentTask(issue: BeadsIssue, known: ReadonlySet<string>, notices: string[]): DocumentTask {
  const { place, id, title, notes, links, creator, createdAt, updatedAt } = issue
  const standing = foreignStatus(beadsStatuses, issue.status)
  if (!standing) notices.push(unknownStatus(place, issue.status))
  const { status, resolution, keepWord } = standing ?? { ...toDo, keepWord: true }
  const [parent = null, ...moreParents] = links
    .filter(({ type }) => type === 'parent-child')
    .map(({ to }) => to)
  const blockers = links.filter(({ type }) => waitingTypes.has(type)).map(({ to }) => to)
  for (const name of new Set(blockers)) {
    if (!known.has(name))
      notices.push(`${place}: left out: the dependency on ${name}, which is not in the file.`)
  }
  if (parent !== null && !known.has(parent)) {
    notices.push(`${place}: left out: the parent ${parent}, which is not in the file.`)
  }
  const word = keepWord ? `Status in beads: ${issue.status}` : null
  return {
    key: id,
    title,
    description: [issue.description, word].filter((text) => text !== null).join('\n\n') || null,
    phase: null,
    milestone: null,
    parent: parent !== null && known.has(parent) ? parent : parentByName(id, parent, known),
    role: null,
    status,
    resolution,
    sortOrder: null,
    dependsOn: [...new Set(blockers)].filter((name) => known.has(name)),
    notes: [
      ...notes,
      ...links.filter(({ type }) => !waitingTypes.has(type) && type !== 'parent-child').map(linkNote),
      ...moreParents.map((to) => linkNote({ to, type: 'parent-child' })),
    ],
    creator,
    createdAt,
    updatedAt,
    foreignId: id,
  }
}

/** `bd-7.1` is a part of `bd-7`, also where no link says so. */
function parentByName(id: string, linked: string | null, known: ReadonlySet<string>): string | null {
  const stem = /^(.+)\.\d+$/.exec(id)?.[1]
  return linked === null && stem !== undefined && known.has(stem) ? stem : null
}

function linkNote({ to, type }: BeadsLink): DocumentNote {
  return { content: `${type} ${to}`, kind: 'link', role: null, author: null, createdAt: null }
}

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

function beadsIssue(fields: FieldReader): BeadsIssue {
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

const beadsStatuses: StatusWords = {
  open: toDo,
  blocked: { ...toDo, keepWord: true },
  deferred: { ...toDo, keepWord: true },
  pinned: { ...toDo, keepWord: true },
  inprogress: inProgress,
  hooked: { ...inProgress, keepWord: true },
  closed: done,
}

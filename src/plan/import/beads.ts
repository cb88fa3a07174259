import type { z } from 'zod'
import type { DocumentNote, DocumentTask } from '../domain/document.ts'
import {
  foreignInstant,
  foreignRecord,
  foreignText,
  foreignTexts,
  jsonLines,
  listOf,
  maybeText,
  number,
  passedOver,
  readFields,
  unreadFields,
} from './fields.ts'
import {
  descriptionText,
  done,
  foreignStatus,
  inProgress,
  type StatusAliases,
  toDo,
  unknownStatus,
} from './foreign-task.ts'
import { type ImportResult, importResultOf } from './import-result.ts'

const beadsIssue = foreignRecord({
  id: foreignText,
  title: foreignText,
  status: maybeText,
  description: maybeText,
  design: maybeText,
  acceptance_criteria: maybeText,
  issue_type: maybeText,
  priority: maybeText,
  labels: foreignTexts,
  assignee: maybeText,
  estimated_minutes: number,
  external_ref: maybeText,
  notes: maybeText,
  comments: listOf(
    foreignRecord({
      text: foreignText,
      author: maybeText,
      created_at: foreignInstant,
      id: passedOver,
      issue_id: passedOver,
    }),
  ),
  close_reason: maybeText,
  closed_at: foreignInstant,
  dependencies: listOf(
    foreignRecord({
      depends_on_id: foreignText,
      /** `blocks`, `parent-child`, `related`, `discovered-from`, … */
      type: maybeText,
      issue_id: passedOver,
      created_at: passedOver,
      created_by: passedOver,
      metadata: passedOver,
      thread_id: passedOver,
    }),
  ),
  created_by: maybeText,
  created_at: foreignInstant,
  updated_at: foreignInstant,
})

type BeadsIssue = z.output<typeof beadsIssue>

interface BeadsLink {
  readonly to: string
  readonly type: string
}

/** Link types that make an issue wait. Others become notes. */
const waitingTypes: ReadonlySet<string> = new Set(['blocks', 'conditional-blocks', 'waits-for'])

/** Reads the issues of beads, one JSON object per line. Deleted ones (tombstones) are left out. */
export function readBeads(text: string): ImportResult {
  const { lines, problems } = jsonLines(text)
  const read = lines.map(({ place, value }) => readFields(beadsIssue, value, { place, problems }))
  const issues = read.filter(({ fields }) => fields.status !== 'tombstone')
  const issueIds = new Set(issues.map(({ fields }) => fields.id))
  const notices: string[] = []
  const tasks = issues.map(({ place, fields }) => documentTask(fields, issueIds, { place, notices }))
  const deleted = read.length - issues.length
  return importResultOf({
    document: { phases: [], milestones: [], tasks },
    places: { phases: [], milestones: [], tasks: issues.map(({ place }) => place) },
    problems,
    notices: [
      ...(deleted === 0 ? [] : [`left out: deleted issues (${deleted}).`]),
      ...notices,
      ...unreadFields(issues),
    ],
  })
}

function documentTask(
  issue: BeadsIssue,
  issueIds: ReadonlySet<string>,
  { place, notices }: { readonly place: string; readonly notices: string[] },
): DocumentTask {
  const { id, title, dependencies } = issue
  const statusWord = issue.status ?? 'open'
  const mapped = foreignStatus(beadsStatuses, statusWord)
  if (!mapped) notices.push(unknownStatus(place, statusWord))
  const { status, resolution, keepWord } = mapped ?? { ...toDo, keepWord: true }
  const links = dependencies.map(({ depends_on_id, type }) => ({ to: depends_on_id, type: type ?? 'blocks' }))
  const [parent = null, ...moreParents] = links
    .filter(({ type }) => type === 'parent-child')
    .map(({ to }) => to)
  const blockers = links.filter(({ type }) => waitingTypes.has(type)).map(({ to }) => to)
  for (const name of new Set(blockers)) {
    if (!issueIds.has(name))
      notices.push(`${place}: left out: the dependency on ${name}, which is not in the file.`)
  }
  if (parent !== null && !issueIds.has(parent)) {
    notices.push(`${place}: left out: the parent ${parent}, which is not in the file.`)
  }
  const word = keepWord ? `Status in beads: ${statusWord}` : null
  return {
    key: id,
    title,
    description: [descriptionOf(issue), word].filter((text) => text !== null).join('\n\n') || null,
    phase: null,
    milestone: null,
    parent: parent !== null && issueIds.has(parent) ? parent : parentByName(id, parent, issueIds),
    role: null,
    assignee: null,
    areas: [],
    status,
    resolution,
    sortOrder: null,
    dependsOn: [...new Set(blockers)].filter((name) => issueIds.has(name)),
    notes: [
      ...notesOf(issue),
      ...links.filter(({ type }) => !waitingTypes.has(type) && type !== 'parent-child').map(linkNote),
      ...moreParents.map((to) => linkNote({ to, type: 'parent-child' })),
    ],
    creator: issue.created_by || null,
    createdAt: issue.created_at,
    updatedAt: issue.updated_at,
    foreignId: id,
  }
}

/** `bd-7.1` is a subtask of `bd-7`, even without a link. */
function parentByName(id: string, linked: string | null, issueIds: ReadonlySet<string>): string | null {
  const stem = /^(.+)\.\d+$/.exec(id)?.[1]
  return linked === null && stem !== undefined && issueIds.has(stem) ? stem : null
}

function linkNote({ to, type }: BeadsLink): DocumentNote {
  return { content: `${type} ${to}`, kind: 'link', role: null, author: null, createdAt: null }
}

function descriptionOf(issue: BeadsIssue): string | null {
  return descriptionText([
    { title: null, text: issue.description },
    { title: 'Design', text: issue.design },
    { title: 'Acceptance criteria', text: issue.acceptance_criteria },
    { title: 'Type', text: issue.issue_type },
    { title: 'Priority', text: issue.priority },
    { title: 'Labels', text: issue.labels.join(', ') },
    { title: 'Assignee', text: issue.assignee },
    {
      title: 'Estimate',
      text: issue.estimated_minutes === null ? null : `${issue.estimated_minutes} minutes`,
    },
    { title: 'Elsewhere', text: issue.external_ref },
  ])
}

function notesOf({ notes, comments, close_reason, closed_at }: BeadsIssue): readonly DocumentNote[] {
  const note = (kind: string, content: string | null, createdAt: number | null): readonly DocumentNote[] =>
    content === null || content.trim() === '' ? [] : [{ content, kind, role: null, author: null, createdAt }]
  return [
    ...note('notes', notes, null),
    ...comments.map(({ text, author, created_at }) => {
      return { content: text, kind: 'comment', role: null, author, createdAt: created_at }
    }),
    ...note('close_reason', close_reason, closed_at),
  ]
}

const beadsStatuses: StatusAliases = {
  open: toDo,
  blocked: { ...toDo, keepWord: true },
  deferred: { ...toDo, keepWord: true },
  pinned: { ...toDo, keepWord: true },
  inprogress: inProgress,
  hooked: { ...inProgress, keepWord: true },
  closed: done,
}

import type { DocumentNote, DocumentTask } from '../../domain/plan/document/plan-document.ts'
import { fieldReader } from '../field-reader.ts'
import { foreignStatus, toDo, unknownStatus } from '../foreign-status.ts'
import { type ImportResult, judged } from '../import-result.ts'
import { jsonLines } from '../json-lines.ts'
import { unreadFields } from '../unread-fields.ts'
import { type BeadsIssue, type BeadsLink, beadsIssue } from './beads-issue.ts'
import { beadsStatuses } from './statuses.ts'

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

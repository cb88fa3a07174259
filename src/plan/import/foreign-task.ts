import type { DocumentStatus, DocumentTask } from '../domain/document.ts'
import { readDoneWhen } from '../domain/done-when.ts'

/** The meaning of another program's status word. */
export interface ForeignStatus extends Pick<DocumentTask, 'status' | 'resolution'> {
  /** The word says more than our status, so the description keeps it. */
  readonly keepWord?: true
}

export const toDo: ForeignStatus = { status: 'to_do', resolution: null }
export const inProgress: ForeignStatus = { status: 'in_progress', resolution: null }
export const done: ForeignStatus = { status: 'done', resolution: null }
export const dropped: ForeignStatus = { status: 'done', resolution: 'dropped' }

/** Words in lower case without spaces, `-` and `_`. */
export type StatusAliases = Readonly<Record<string, ForeignStatus>>

/** Null for an unknown word. */
export function foreignStatus(words: StatusAliases, word: string): ForeignStatus | null {
  const plain = word.toLowerCase().replace(/[\s_-]+/g, '')
  return Object.hasOwn(words, plain) ? (words[plain] ?? null) : null
}

export function unknownStatus(place: string, word: string): string {
  return `${place}: the status "${word}" is unknown; the task counts as to do.`
}

/** The status of a phase, derived from its tasks. */
export function phaseStatusOfTasks(tasks: readonly { readonly status: DocumentStatus }[]): DocumentStatus {
  if (tasks.every(({ status }) => status === 'to_do')) return 'to_do'
  return tasks.every(({ status }) => status === 'done') ? 'done' : 'in_progress'
}

/** A part of a description that another program has as a separate field. */
export interface DescriptionPart {
  /** Null for the description itself. */
  readonly title: string | null
  readonly text: string | null
}

/** The entries of a list of criteria, without marks of lists and checkboxes; null if it is anything else. */
export function criteriaOf(section: string): readonly string[] | null {
  const criteria: string[] = []
  for (const line of section.split(/\r?\n/)) {
    const text = line.trim()
    const mark = /^(?:[-*+]|\d{1,4}[.)]) (?:\[.?\] ?)?(?:#\d{1,4} )?/.exec(text)
    if (mark) criteria.push(text.slice(mark[0].length))
    else if (text !== '' && line !== line.trimStart() && criteria.length > 0)
      criteria.push(`${criteria.pop()} ${text}`)
    else if (text !== '') return null
  }
  const { changes, problems } = readDoneWhen({ criteria }, 'done_when')
  return problems.length === 0 ? (changes.criteria ?? null) : null
}

/** The field of a task for criteria of another program. */
export function doneWhenFrom(criteria: readonly string[] | null): Pick<DocumentTask, 'doneWhen'> {
  return criteria === null || criteria.length === 0 ? {} : { doneWhen: { criteria } }
}

/** The parts under their titles, without empty ones. A short part takes one line. */
export function descriptionText(parts: readonly DescriptionPart[]): string | null {
  const written = parts.flatMap(({ title, text }) => {
    const body = text?.replace(/\r\n?/g, '\n').trim() ?? ''
    if (body === '') return []
    return title === null ? [{ text: body, short: false }] : [titledSection(title, body)]
  })
  if (written.length === 0) return null
  return written
    .map(({ text, short }, at) => (at === 0 ? '' : short && written[at - 1]?.short ? '\n' : '\n\n') + text)
    .join('')
}

function titledSection(title: string, body: string): { readonly text: string; readonly short: boolean } {
  const short = !body.includes('\n') && body.length <= 80
  return { text: short ? `${title}: ${body}` : `## ${title}\n\n${body}`, short }
}

/** Keys for foreign ids, ignoring case: a repeated id gets a number, and a notice. */
export function distinctIds(entities: readonly { readonly id: string; readonly place: string }[]): {
  readonly keys: readonly string[]
  readonly notices: readonly string[]
} {
  const usedIds = new Set(entities.map(({ id }) => id.toLowerCase()))
  const first = new Map<string, string>()
  const next = new Map<string, number>()
  const notices: string[] = []
  const keys = entities.map(({ id, place }) => {
    const earlier = first.get(id.toLowerCase())
    if (earlier === undefined) {
      first.set(id.toLowerCase(), place)
      return id
    }
    let number = next.get(id) ?? 2
    while (usedIds.has(`${id}-${number}`.toLowerCase())) number += 1
    next.set(id, number + 1)
    const key = `${id}-${number}`
    usedIds.add(key.toLowerCase())
    notices.push(
      `${place}: the id ${id} belongs to another task already (${earlier}), so this one became ${key}.`,
    )
    return key
  })
  return { keys, notices }
}

/** Creates unique keys from names. */
export function keyGiver(used: Iterable<string>): (name: string) => string {
  const usedKeys = new Set(used)
  const next = new Map<string, number>()
  return (name) => {
    const stem = slug(name)
    let key = stem
    for (let number = next.get(stem) ?? 2; usedKeys.has(key); number += 1) {
      key = `${stem}-${number}`
      next.set(stem, number)
    }
    usedKeys.add(key)
    return key
  }
}

/** Lower case, letters and digits of any script, joined by `-`; at most 60 UTF-16 units. */
function slug(name: string): string {
  const words =
    name
      .normalize('NFC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const short = words
    .join('-')
    .slice(0, 60)
    .replace(/[-\ud800-\udbff]$/, '')
  return short === '' ? 'unnamed' : short
}

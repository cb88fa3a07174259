import { z } from 'zod'
import type { Actor } from '../actor.ts'
import { answerBudget, fitSections } from '../budget.ts'
import { Failure } from '../failure.ts'
import { count, unlistedField } from './input/fields.ts'

/** The default limit at the command line, where people pipe lists. */
const everything = 1_000_000

/** The input fields of a page. */
export function pageFields(maxLimit: number, description = 'Default 20') {
  return {
    limit: count(description, maxLimit).optional(),
    cursor: z.string().min(1).max(1000).describe('next_cursor').optional(),
  }
}

/** The same fields for a tool whose original program has none, so that they are not listed. */
export const unlistedPageFields = {
  limit: unlistedField(pageFields(1000, 'How many').limit),
  cursor: unlistedField(pageFields(1000).cursor),
}

/** The fields of an answer with a page of a list. */
export const page = { total: z.int(), next_cursor: z.string().nullable() }

export function idOf({ id }: { readonly id: string }): string {
  return id
}

interface PageInput {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** The position after a page: a count of entries, or the id of the last entry. */
type PagePosition = number | string

/** A list with a page of it. */
export interface ShownList {
  readonly name: string
  /** The positions of the entries on the page. */
  readonly positions: readonly PagePosition[]
  /** Whether more follow. */
  readonly more: boolean
}

const CursorContent = z.tuple([
  z.string(),
  z.record(z.string(), z.union([z.int().min(0), z.string().min(1).max(200)])),
])

/** Fields that do not change the content of a list. */
const freeFields: ReadonlySet<string> = new Set(['limit', 'cursor', 'format', 'wait_seconds'])

const onlyList = 'list'

/** A page of one or several lists. Its cursor is valid only for this operation with the same fields. */
export class Paging {
  readonly limit: number
  readonly #hasLimit: boolean
  readonly #binding: string
  readonly #cursor: string | undefined
  readonly #positions: ReadonlyMap<string, PagePosition> | null
  readonly #actor: Actor

  constructor(operation: string, input: PageInput, actor: Actor, usualLimit = pageSize(actor)) {
    this.limit = input.limit ?? usualLimit
    this.#hasLimit = input.limit !== undefined
    this.#binding = bindingOf(operation, input)
    this.#cursor = input.cursor
    this.#positions = input.cursor === undefined ? null : decodeCursor(input.cursor, this.#binding)
    this.#actor = actor
  }

  get isFirst(): boolean {
    return this.#positions === null
  }

  /** The first page has every list, a later one those that have more entries. */
  covers(list: string): boolean {
    return this.#positions?.has(list) ?? true
  }

  /** The query for a page: one entry more than the limit, to detect the end. */
  request(list = onlyList): { readonly limit: number; readonly before?: number } {
    const before = this.#numberIn(list)
    return { limit: this.limit + 1, ...(before !== undefined && { before }) }
  }

  /** The number of entries on earlier pages. */
  offset(list = onlyList): number {
    return this.#numberIn(list) ?? 0
  }

  /** The id of the last entry of the previous page. */
  after(list = onlyList): string | undefined {
    const position = this.#positions?.get(list)
    if (typeof position === 'number') throw this.#wrongCursor()
    return position
  }

  /** The entries that fit an answer to an agent; with an explicit limit, all of them. */
  fit<Entry>(entries: readonly Entry[]): readonly Entry[] {
    const limited = entries.slice(0, this.limit)
    if (this.#hasLimit || this.#actor.channel === 'cli') return limited
    return limited.slice(0, fitSections([{ name: 'shown', entries: limited }], answerBudget).get('shown'))
  }

  /** The cursor after the first `shownCount` entries. */
  next<Item>(
    entries: readonly Item[],
    shownCount: number,
    positionOf: (item: Item) => PagePosition,
  ): string | null {
    const positions = entries.slice(0, shownCount).map(positionOf)
    return this.nextOf([{ name: onlyList, positions, more: entries.length > shownCount }])
  }

  /** The cursor for a list that is read by offset. */
  nextOffset(shownCount: number, total: number): string | null {
    const end = this.offset() + shownCount
    return this.nextOf([{ name: onlyList, positions: shownCount === 0 ? [] : [end], more: end < total }])
  }

  /** One cursor for several lists. Null at their end, and after an empty page. */
  nextOf(lists: readonly ShownList[]): string | null {
    const open = lists.flatMap(({ name, positions, more }) => {
      const last = positions.at(-1)
      return more && last !== undefined ? [[name, last] as const] : []
    })
    return open.length === 0 ? null : encodeCursor(this.#binding, Object.fromEntries(open))
  }

  /** A page of a list in memory. */
  slice<Entry>(all: readonly Entry[], idOf: (entry: Entry) => string) {
    const after = this.after()
    const start = after === undefined ? 0 : all.findIndex((entry) => idOf(entry) === after) + 1
    if (after !== undefined && start === 0) throw this.#wrongCursor()
    const rest = all.slice(start)
    const entries = rest.slice(0, this.limit)
    return { entries, total: all.length, next_cursor: this.next(rest, entries.length, idOf) }
  }

  #numberIn(list: string): number | undefined {
    const position = this.#positions?.get(list)
    if (typeof position === 'string') throw this.#wrongCursor()
    return position
  }

  #wrongCursor(): Failure {
    return cursorFailure(this.#cursor ?? '')
  }
}

function pageSize({ channel }: Actor): number {
  return channel === 'cli' ? everything : 20
}

function encodeCursor(binding: string, positions: Readonly<Record<string, PagePosition>>): string {
  const bytes = new TextEncoder().encode(JSON.stringify([binding, positions]))
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

function decodeCursor(cursor: string, binding: string): ReadonlyMap<string, PagePosition> {
  const content = CursorContent.safeParse(contentOf(cursor))
  if (!content.success || content.data[0] !== binding) throw cursorFailure(cursor)
  const positions = new Map(Object.entries(content.data[1]))
  if (encodeCursor(binding, Object.fromEntries(positions)) !== cursor) throw cursorFailure(cursor)
  return positions
}

function contentOf(cursor: string): unknown {
  try {
    const text = atob(cursor.replaceAll('-', '+').replaceAll('_', '/'))
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (sign) => sign.charCodeAt(0))))
  } catch {
    return null
  }
}

function cursorFailure(cursor: string): Failure {
  return new Failure('INVALID_INPUT', `The cursor "${cursor.slice(0, 100)}" does not belong to this list.`, {
    reason: 'cursor_invalid',
    hint: 'Pass next_cursor of the previous answer with the same other fields, or omit cursor to start again.',
  })
}

/** A hash of the operation and of the fields that select its list. */
function bindingOf(operation: string, input: PageInput): string {
  const fields = Object.entries(input)
    .filter(([name, value]) => !freeFields.has(name) && value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  let hash = 0x811c9dc5
  for (const sign of JSON.stringify([operation, fields])) {
    hash = Math.imul(hash ^ (sign.codePointAt(0) ?? 0), 0x01000193)
  }
  return (hash >>> 0).toString(36)
}

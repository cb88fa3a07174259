import type { z } from 'zod'
import type { CatalogOperation } from '../../../operations/catalog.ts'
import type { Ink } from '../terminal.ts'

/** What a text is laid out for. */
export interface Page {
  readonly ink: Ink
  /** Width in characters. */
  readonly width: number
  /** Milliseconds since the epoch: ages are told from it. */
  readonly now: number
}

export type OperationName = CatalogOperation['name']

/** What an operation answers. */
export type AnswerOf<Name extends OperationName> = z.output<
  Extract<CatalogOperation, { readonly name: Name }>['output']
>

/** An answer in words, for a person at a terminal. Ends without a line break. */
export type View<Name extends OperationName> = (answer: AnswerOf<Name>, page: Page) => string

/** An object in an answer. Views read it field by field, because answers may grow. */
export type Entry = Readonly<Record<string, unknown>>

/** The text in a field; empty when it is absent or null. */
export function textAt(entry: Entry, field: string): string {
  return plainText(entry[field])
}

/** A text, a number or a truth value as a text; empty for anything else. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

export function numberAt(entry: Entry, field: string): number {
  const value = entry[field]
  return typeof value === 'number' ? value : 0
}

export function entryAt(entry: Entry, field: string): Entry | null {
  const value = entry[field]
  return isEntry(value) ? value : null
}

export function entriesAt(entry: Entry, field: string): readonly Entry[] {
  const value = entry[field]
  return Array.isArray(value) ? value.filter(isEntry) : []
}

export function textsAt(entry: Entry, field: string): readonly string[] {
  const value = entry[field]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

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

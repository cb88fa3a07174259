import type { OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'
import type { Ink } from '../terminal.ts'

/** What a text is laid out for. */
export interface RenderContext {
  readonly ink: Ink
  /** Width in characters. */
  readonly width: number
  /** Milliseconds since the epoch: ages are told from it. */
  readonly now: number
}

/** An answer in words, for a person at a terminal. Ends without a line break. */
export type AnswerView<Name extends OperationName> = (answer: OutputOf<Name>, page: RenderContext) => string

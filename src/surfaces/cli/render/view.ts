import type { InputOf, OperationName, OutputOf } from '../../../kernel/operations/catalog.ts'
import type { Ink } from '../terminal.ts'

/** What a text needs beside the answer. */
export interface AnswerSupplement {
  /** Titles of tasks that the answer names by id alone. */
  readonly titles?: Readonly<Record<string, string>> | undefined
  /** The newest open mission, beside a task that was added outside it. */
  readonly openMission?:
    | { readonly id: string; readonly name: string; readonly phaseId: string | null }
    | undefined
  /** The open mission of a completed task, as status shows it. */
  readonly mission?: OutputOf<'status'>['missions'][number] | undefined
  /** How many missions ended, beside the list of the open ones. */
  readonly endedMissions?: number | undefined
  /** A person is asked below the answer whether to write it. */
  readonly isAsked?: boolean | undefined
  /** The address of the project, if a server keeps it. */
  readonly address?: string | undefined
  /** The value of `--project`, for the commands of a text. */
  readonly project?: string | undefined
  /** What to say to an agent, beside the first steps, once a client is set up. */
  readonly firstPrompt?: string | undefined
}

/** The output that a text is rendered for. */
export interface RenderContext extends AnswerSupplement {
  readonly ink: Ink
  /** Width in characters. */
  readonly width: number
  /** Milliseconds since the epoch, to compute ages. */
  readonly now: number
  /** Whether a person reads and types here. */
  readonly interactive?: boolean
}

/** Renders an answer for a person at a terminal, without a final line break. */
export type AnswerView<Name extends OperationName> = (answer: OutputOf<Name>, page: RenderContext) => string

/** The same for an answer that does not repeat what was typed. */
export type CallView<Name extends OperationName> = (
  answer: OutputOf<Name>,
  page: RenderContext,
  input: InputOf<Name>,
) => string

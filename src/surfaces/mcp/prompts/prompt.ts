export type PromptArguments = Readonly<Record<string, string | undefined>>

export interface PromptArgument {
  readonly name: string
  readonly description: string
  readonly required: boolean
  /** What it may be: some words, or the ids of missions. Anything else is free text. */
  readonly completes?: readonly string[] | 'missions'
}

/** A prompt that a person picks in a client. */
export interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly PromptArgument[]
  readonly text: (given: PromptArguments) => string
}

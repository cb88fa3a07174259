/** What a command is run at: its output, and how that is shown. */
export interface Terminal {
  /** A person reads it: text is the default format, and JSON is indented. */
  readonly interactive: boolean
  /** Width in characters. */
  readonly width: number
  readonly ink: Ink
  write(text: string): void
  writeError(text: string): void
}

export type Style = 'bold' | 'dim' | 'italic' | 'red' | 'green' | 'yellow' | 'cyan'

/** Styles a text, or answers it as it is where colours are not wanted. */
export type Ink = (style: Style, text: string) => string

import { errorCode, Failure, refusalData } from '../../kernel/failure.ts'

/** What a command is run at: its output, and how that is shown. */
export interface Terminal {
  /** A screen: JSON is indented. */
  readonly interactive: boolean
  /** Width in characters. */
  readonly width: number
  readonly ink: Ink
  write(text: string): void
  writeError(text: string): void
}

export type TextStyle = 'bold' | 'dim' | 'italic' | 'red' | 'green' | 'yellow' | 'cyan'

/** Styles a text, or answers it as it is where colours are not wanted. */
export type Ink = (style: TextStyle, text: string) => string

/** The terminal of this process. Colours follow NO_COLOR, FORCE_COLOR and whether it is a screen. */
export function processTerminal(): Terminal {
  // Every process starts with this file; imported, `node:util` makes all that it offers.
  const { styleText } = process.getBuiltinModule('node:util')
  return {
    interactive: process.stdout.isTTY === true,
    width: Math.max(40, process.stdout.columns || 120),
    ink: (style, text) => (text === '' ? '' : styleText(style, text, { stream: process.stdout })),
    write: (text) => {
      process.stdout.write(printableStyled(text))
    },
    writeError: printError,
  }
}

/** The streams of a screen that is filled whole; null where there is none, or nobody can type. */
export function screenStreams(): Pick<NodeJS.Process, 'stdin' | 'stdout'> | null {
  const { stdin, stdout } = process
  return stdin.isTTY && stdout.isTTY ? { stdin, stdout } : null
}

/** Prints a text on standard output. All that this program prints for people goes through here or through `tell`. */
export function print(text: string): void {
  process.stdout.write(withoutControlCodes(text))
}

/** Prints a result on standard output, for programs. */
export function printJson(value: unknown): void {
  process.stdout.write(
    `${printableJson(JSON.stringify(value, null, process.stdout.isTTY === true ? 2 : 0))}\n`,
  )
}

/** Prints a text on standard error. */
export function printError(text: string): void {
  process.stderr.write(withoutControlCodes(text))
}

/** What could not be done, as every command says it on standard error; the way on follows in lines of its own. */
export function complaint(message: string, way = ''): string {
  return `waymark: ${message}\n${way === '' || way.endsWith('\n') ? way : `${way}\n`}`
}

/** Whether a command line asks for JSON: then a refusal is answered as JSON too. */
export function isJsonWanted(words: readonly string[], format: string | undefined): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  const named = flags.flatMap((word, at) => {
    if (word === '--format') return [flags[at + 1]]
    return word.startsWith('--format=') ? [word.slice('--format='.length)] : []
  })
  return (named.at(-1) ?? (flags.includes('--json') ? 'json' : format)) === 'json'
}

/** A refusal on standard output, for the program that reads the answer there. */
export function refusalJson(failure: Failure, { interactive }: Pick<Terminal, 'interactive'>): string {
  return `${printableJson(JSON.stringify(refusalData(failure), null, interactive ? 2 : 0))}\n`
}

/** 0 when done, 1 when it could not be done, 2 when the command was not understood. */
export type ExitCode = 0 | 1 | 2

export function exitCodeOf({ code }: Failure): ExitCode {
  return code === 'INVALID_INPUT' ? 2 : 1
}

/** Runs a command of the program itself. A refusal is told on standard error, as JSON on standard output too, and sets the exit code. */
export async function reportFailures(run: () => Promise<void> | void, { json = false } = {}): Promise<void> {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    printError(complaint(error.message, error.hint))
    if (json) process.stdout.write(refusalJson(error, { interactive: process.stdout.isTTY === true }))
    process.exitCode = exitCodeOf(error)
  }
}

/** `waymark log | head` closes the pipe early; that is no error of ours. */
export function quietWhenClosed(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error
      process.exit(0)
    })
  }
}

// What steers a terminal: the control characters of C0 and C1 but line breaks and tabs, and the signs that turn text around.
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv

/** A text without the characters that would steer a terminal: what agents wrote is shown, never obeyed. */
export function withoutControlCodes(text: string): string {
  return text.replace(steering, '')
}

/** The same for every text in a JSON value. */
export function printableAll(value: unknown): unknown {
  if (typeof value === 'string') return withoutControlCodes(value)
  if (Array.isArray(value)) return value.map(printableAll)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [withoutControlCodes(key), printableAll(entry)]),
  )
}

/** JSON of the same value: what JSON.stringify leaves as it is, such as U+009B, is written as an escape. */
export function printableJson(json: string): string {
  return json.replace(steering, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A text that was styled by us: of all that steers a terminal, only a style that begins or ends is left. */
export function printableStyled(text: string): string {
  return text.replace(
    /(\p{Cc})(\[\d{1,2}m)|[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv,
    (_, control = '', style = '') => (kept.includes(control) ? control : '') + style,
  )
}

const kept = ['\u001b', '\n', '\t']

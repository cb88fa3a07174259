import { errorCode, Failure, refusalData } from '../../kernel/failure.ts'
import { shortRunIds } from './render/run-ids.ts'

/** The output of a command and its properties. */
export interface Terminal {
  /** Whether it is a screen: then JSON is indented. */
  readonly interactive: boolean
  /** Width in characters; infinite in a pipe, where nothing is cut. */
  readonly width: number
  readonly ink: Ink
  write(text: string): void
  /** Waits until a slow reader has taken what was written. */
  waitForDrain?(): Promise<void>
  writeError(text: string): void
}

export type TextStyle = 'bold' | 'dim' | 'italic' | 'red' | 'green' | 'yellow' | 'cyan'

/** Styles a text, or returns it unchanged without colors. */
export type Ink = (style: TextStyle, text: string) => string

/** The terminal of this process. Colors depend on NO_COLOR, FORCE_COLOR and whether it is a screen. */
export function processTerminal(): Terminal {
  // Every process loads this file; an import of `node:util` would initialize all of its exports.
  const { styleText } = process.getBuiltinModule('node:util')
  return {
    interactive: process.stdout.isTTY === true,
    width: process.stdout.isTTY ? Math.max(40, process.stdout.columns || 120) : Number.POSITIVE_INFINITY,
    ink: (style, text) => (text === '' ? '' : styleText(style, text, { stream: process.stdout })),
    write: (text) => {
      process.stdout.write(printableStyled(text))
    },
    waitForDrain: async () => {
      if (process.stdout.writableNeedDrain)
        await new Promise<void>((resolve) => process.stdout.once('drain', resolve))
    },
    writeError: printError,
  }
}

/** The streams for a full screen; null without a screen or keyboard. */
export function screenStreams(): Pick<NodeJS.Process, 'stdin' | 'stdout'> | null {
  const { stdin, stdout } = process
  return stdin.isTTY && stdout.isTTY ? { stdin, stdout } : null
}

/** Prints a text on standard output. All output for people goes through here or `printError`. */
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

/** An error message in the format of every command, with the hint on its own lines. */
export function complaint(message: string, hint = ''): string {
  return shortRunIds(`waymark: ${message}\n${hint === '' || hint.endsWith('\n') ? hint : `${hint}\n`}`)
}

/** Whether a command line requests JSON: then a failure is printed as JSON too. */
export function isJsonWanted(words: readonly string[], format: string | undefined): boolean {
  const end = words.indexOf('--')
  const flags = end < 0 ? words : words.slice(0, end)
  const named = flags.flatMap((word, at) => {
    if (word === '--format') return [flags[at + 1]]
    return word.startsWith('--format=') ? [word.slice('--format='.length)] : []
  })
  return (named.at(-1) ?? (flags.includes('--json') ? 'json' : format)) === 'json'
}

/** Prints a failure on standard output, for the program that reads the answer. */
export function refusalJson(failure: Failure, { interactive }: Pick<Terminal, 'interactive'>): string {
  return `${printableJson(JSON.stringify(refusalData(failure), null, interactive ? 2 : 0))}\n`
}

/** 0: done, 1: failed, 2: invalid command. */
export type ExitCode = 0 | 1 | 2

export function exitCodeOf({ code }: Failure): ExitCode {
  return code === 'INVALID_INPUT' ? 2 : 1
}

/** Runs a program command. A failure is printed on standard error, as JSON also on standard output, and sets the exit code. */
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

/** Ignores a pipe that closes early, as in `waymark log | head`. */
export function quietWhenClosed(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error
      process.exit(0)
    })
  }
}

// Terminal controls: C0 and C1 except line breaks and tabs, and the bidirectional marks.
const steering = /[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv

/** Removes terminal controls: text from agents must not control the terminal. */
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

/** Escapes controls that JSON.stringify keeps, such as U+009B. The value stays the same. */
export function printableJson(json: string): string {
  return json.replace(steering, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Keeps only our styles of all terminal controls. */
export function printableStyled(text: string): string {
  return text.replace(
    /(\p{Cc})(\[\d{1,2}m)|[[\p{Cc}\p{Bidi_Control}]--[\n\t]]/gv,
    (_, control = '', style = '') => (allowed.includes(control) ? control : '') + style,
  )
}

const allowed = ['\u001b', '\n', '\t']

import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { detailsOf, messageOf } from '../kernel/failure.ts'
import { stateFolder } from '../kernel/files/state-folder.ts'
import { complaint, printError } from '../surfaces/cli/terminal.ts'
import { firstSetVariable } from './settings/environment.ts'

/**
 * Ends the process with a sentence at an error that nobody handles, in place of a stack trace. A server over stdio goes
 * on after a rejected promise: it logs that itself.
 */
export function endOnUnexpected({ rejections }: { readonly rejections: boolean }): void {
  process.on('uncaughtException', endUnexpectedly)
  if (rejections) process.on('unhandledRejection', endUnexpectedly)
}

let restoreTerminal = () => {}

/** Restores the terminal from a full screen before the message is printed. */
export function beforeUnexpectedEnd(restore: () => void): void {
  restoreTerminal = restore
}

/** The one place where the program ends by an error that no command expects. */
export function endUnexpectedly(error: unknown): never {
  restoreTerminal()
  printError(complaint(...formatUnexpected(error)))
  process.exit(1)
}

function formatUnexpected(error: unknown): [sentence: string, hint: string] {
  return [`An unexpected error ended "waymark ${command()}": ${errorSummary(error)}`, wayOn]
}

const wayOn = 'Check this project with: waymark doctor'

/** What went wrong in one line, with the file that has the details. */
export function errorSummary(error: unknown): string {
  const [reason = ''] = messageOf(error).split('\n')
  const file = keepDetails(error)
  return file === null ? reason : `${reason.replace(/\.?$/, '.')} Details: ${file}`
}

/** Its first words: flags and values may be private. */
function command(): string {
  const [first = '', second = ''] = process.argv.slice(2)
  return /^[a-z][a-z-]*$/.test(second) ? `${first} ${second}` : first
}

const maxBytes = 1024 * 1024

/** Appends an error with its stack to the error log of this machine. Null where it cannot be written. */
function keepDetails(error: unknown): string | null {
  const environment = process.env
  const home = firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir()
  const file = join(stateFolder({ platform: process.platform, environment, home }), 'errors.log')
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxBytes) renameSync(file, `${file}.old`)
    appendFileSync(
      file,
      `${new Date().toISOString()} waymark ${command()}\n${detailsOf(error)}${causeOf(error)}\n`,
      {
        mode: 0o600,
      },
    )
    return file
  } catch {
    return null
  }
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause === undefined) return ''
  return `\nCause: ${detailsOf(cause)}`
}

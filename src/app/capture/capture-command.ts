import { readdirSync, rmdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, resolve } from 'node:path'
import { Failure } from '../../kernel/failure.ts'
import { canWrite } from '../../kernel/files/state-folder.ts'
import { formatCount } from '../../kernel/text.ts'
import {
  type CaptureEnvironment,
  type CaptureSettings,
  readSettings,
} from '../../sessions/capture/captured-project.ts'
import { captureHealth } from '../../sessions/capture/health.ts'
import { hasQueue } from '../../sessions/capture/hook-queue.ts'
import { settingsFile, writeSettings } from '../../sessions/capture/settings-file.ts'
import type { CaptureHealth } from '../../sessions/ports/capture-health.ts'
import { commandLineActor } from '../settings/actor.ts'
import { firstSetVariable, userName } from '../settings/environment.ts'
import { isJsonRequested, readWords } from '../settings/flags.ts'
import { missingFolder, rootWithoutGit, unusableFolder } from '../settings/project-location.ts'

const usual: CaptureSettings = { on: true, prompts: 'off', commands: 'program', secret: [] }

/** `waymark capture on|off|status`: switches the recording of hook events in this project. Returns the output. */
export function captureCommand(words: readonly string[]): string {
  const flags = readWords('capture', words)
  const { positionals, text, texts, flagFailure } = flags
  const isJson = isJsonRequested(flags)
  const [verb = 'status', odd] = positionals
  if (odd !== undefined) throw flagFailure(`capture does not take ${odd}.`)
  const environment = process.env
  const request = { flag: text('project'), environment, workingFolder: process.cwd() }
  const missing = text('project') === undefined ? null : missingFolder(resolve(text('project') ?? ''))
  if (missing) throw missing
  const root = rootWithoutGit(request)
  const refusal = unusableFolder(root, firstSetVariable(environment, ['HOME', 'USERPROFILE']) ?? homedir())
  if (refusal) throw refusal
  const output = (sentences: string) => (isJson ? jsonOf(root, environment) : sentences)
  if (verb === 'status') return output(statusOf(root, environment))
  if (verb === 'off') {
    refuseAgent('waymark capture off')
    const before = readSettings(root, environment)
    if (before === null) return output(`Capture was never on in ${root}.\n`)
    refuseUnwritable(root, environment)
    writeSettings(root, environment, { ...before, on: false })
    return output(`Capture is off in ${root}. The recorded sessions stay.\n`)
  }
  if (verb !== 'on') throw flagFailure(`capture does not know "${verb}".`)
  refuseAgent('waymark capture on')
  const prompts = text('prompts')
  const commands = text('commands')
  if (prompts !== undefined && prompts !== 'off' && prompts !== 'local') {
    throw flagFailure(`--prompts cannot be "${prompts}": choose off or local.`)
  }
  if (commands !== undefined && commands !== 'program' && commands !== 'full') {
    throw flagFailure(`--commands cannot be "${commands}": choose program or full.`)
  }
  refuseUnwritable(root, environment)
  enableRecording(root, environment, {
    ...(prompts !== undefined && { prompts }),
    ...(commands !== undefined && { commands }),
    ...(texts('secret').length > 0 && { secret: texts('secret') }),
  })
  return output(statusOf(root, environment))
}

/** Turns capture on if nobody chose yet. False if somebody did. */
export function enableRecordingUnlessOff(root: string, environment: CaptureEnvironment): boolean {
  if (readSettings(root, environment) !== null) return false
  enableRecording(root, environment)
  return true
}

/** Undoes that if nobody chose and nothing was captured since. Returns whether capture is off. */
export function restoreRecordingSwitch(root: string, environment: CaptureEnvironment): boolean {
  const found = readSettings(root, environment)
  if (!found?.on) return true
  const file = settingsFile(root, environment)
  const isUsual = JSON.stringify(found) === JSON.stringify(usual)
  if (!isUsual || hasQueue(root, environment) || !canWrite(dirname(file))) return false
  rmSync(file)
  if (readdirSync(dirname(file)).length === 0) rmdirSync(dirname(file))
  return true
}

/** Whether the choice for a project can be stored. */
export function canSwitch(root: string, environment: CaptureEnvironment): boolean {
  return canWrite(dirname(settingsFile(root, environment)))
}

/** Turns capture on in a project, and keeps its other options. */
function enableRecording(
  root: string,
  environment: CaptureEnvironment,
  chosen: Partial<CaptureSettings> = {},
): void {
  writeSettings(root, environment, { ...usual, ...readSettings(root, environment), ...chosen, on: true })
}

function refuseUnwritable(root: string, environment: CaptureEnvironment): void {
  if (canSwitch(root, environment)) return
  const folder = dirname(settingsFile(root, environment))
  throw new Failure('UNAVAILABLE', `${folder} is not writable. Nothing was changed.`, {
    reason: 'folder_not_writable',
    hint: 'It has the capture settings. Make it writable, or set XDG_STATE_HOME to a writable folder, then run the same command again.',
  })
}

function refuseAgent(command: string): void {
  const { kind, name } = commandLineActor(process.env, userName())
  if (kind === 'person') return
  throw new Failure('FORBIDDEN', `Only people can turn recording on or off. ${name} is an agent.`, {
    reason: 'person_needed',
    hint: `Ask a person to run: ${command}`,
  })
}

function statusOf(root: string, environment: CaptureEnvironment): string {
  const health = captureHealth(root, environment)
  if (health === null) {
    return `Capture was never on in ${root}. A person can turn it on: waymark capture on\n`
  }
  return [...settingsIn(root, health), ...formatQueueHealth(health)].map((line) => `${line}\n`).join('')
}

/** The same for programs. */
function jsonOf(root: string, environment: CaptureEnvironment): string {
  const health = captureHealth(root, environment)
  const answer = {
    project: root,
    on: health?.settings.on ?? false,
    chosen: health !== null,
    ...(health && {
      prompts: health.settings.prompts,
      commands: health.settings.commands,
      secret: health.settings.secret,
      waiting: health.waiting,
      bytes: health.bytes,
      failures: health.failures,
      last_failure: health.lastFailure,
    }),
  }
  return `${JSON.stringify(answer, null, 2)}\n`
}

function settingsIn(root: string, { settings }: CaptureHealth): readonly string[] {
  const { on, prompts, commands, secret } = settings
  if (!on) return [`Capture is off in ${root}. A person can turn it on: waymark capture on`]
  return [
    `Capture is on in ${root}.`,
    prompts === 'local' ? 'Prompts are kept here, redacted.' : 'Only the length of prompts is kept.',
    commands === 'full' ? 'Commands are kept here, redacted.' : 'Only the program of commands is kept.',
    ...(secret.length > 0 ? [`Never copied besides the usual secrets: ${secret.join(', ')}.`] : []),
  ]
}

function formatQueueHealth({ waiting, bytes, failures, lastFailure, log }: CaptureHealth): readonly string[] {
  return [
    waiting === 0
      ? 'The hook queue is empty.'
      : `${formatCount(waiting, 'event')} in the hook queue, ${sizeInWords(bytes)} with the copies.`,
    ...(failures > 0 ? [`${formatCount(failures, 'failure')} in ${log}, the last: ${lastFailure}`] : []),
  ]
}

function sizeInWords(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} kB` : `${(bytes / 1024 / 1024).toFixed(1)} MB`
}

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { hooksFolder } from '../../src/sessions/capture/captured-project.ts'
import { capture } from '../../src/sessions/capture/hook/capture-hook.ts'
import { type HookQueue, logFile, queueOf } from '../../src/sessions/capture/hook-queue.ts'
import { ingestQueue } from '../../src/sessions/capture/ingest.ts'
import { eventName } from '../../src/sessions/capture/queued-event.ts'
import type { HookEvent } from '../../src/sessions/domain/hook-event.ts'
import { type Ran, runAlone, type Variables } from '../support/program.ts'

/** The program that clients run, as it is installed. */
export const captureBin = join(import.meta.dirname, '..', '..', 'bin', 'waymark-capture.cjs')

export interface CapturedFolder {
  readonly home: string
  readonly folder: string
  readonly queue: HookQueue
  readonly write: (path: string, content: string | Buffer) => void
  readonly remove: (path: string) => void
  /** Calls the hook in this process, as its own process does; `said` is what the client sends. */
  readonly tell: (client: string, said: object | string, environment?: NodeJS.ProcessEnv, at?: number) => void
  /** Runs the program that clients run. */
  readonly run: (client: string, said: object | string, environment?: Record<string, string>) => Ran
  /** The event files that wait. */
  readonly events: () => readonly string[]
  readonly copies: () => readonly string[]
  readonly log: () => string
  /** Ingests, and answers the hook events that were to be recorded. */
  readonly drain: () => Promise<readonly HookEvent[]>
}

/** A folder where capture is switched on, without git and without a record: what hooks and the reader need. */
export function openCaptured(settings: object = { on: true }): CapturedFolder {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-capture-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'project')
  mkdirSync(folder)
  const queue = hookQueue({ HOME: home }, folder)
  mkdirSync(queue.folder, { recursive: true })
  writeFileSync(join(queue.folder, 'capture.json'), JSON.stringify({ root: folder, ...settings }))
  const hold = () => existsSync(queue.folder) && holdIngest({ HOME: home }, folder)
  const text = (said: object | string) => (typeof said === 'string' ? said : JSON.stringify(said))
  return {
    home,
    folder,
    queue,
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    remove: (path) => rmSync(join(folder, path), { recursive: true, force: true }),
    tell: (client, said, environment = {}, at = Date.now()) => {
      try {
        hold()
      } catch {}
      const place = {
        word: client,
        environment: { HOME: home, ...environment },
        workingFolder: folder,
        at,
        program: join(home, 'no-program'),
      }
      capture(text(said), place)
    },
    run: (client, said, environment = {}) => {
      try {
        hold()
      } catch {}
      return runAlone([captureBin, client], {
        folder,
        environment: { PATH: process.env['PATH'] ?? '', HOME: home, ...environment },
        input: text(said),
      })
    },
    events: () =>
      existsSync(queue.events) ? readdirSync(queue.events).filter((name) => eventName.test(name)) : [],
    copies: () => {
      if (!existsSync(queue.copies)) return []
      return readdirSync(queue.copies, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    },
    log: () => (existsSync(logFile(queue)) ? readFileSync(logFile(queue), 'utf8') : ''),
    drain: async () => {
      const recorded: HookEvent[] = []
      await ingestQueue(queue, { record: async (hookEvents) => void recorded.push(...hookEvents) })
      return recorded
    },
  }
}

/** The hook queue of a project whose user has this environment. */
export function hookQueue(environment: Variables, folder: string): HookQueue {
  return queueOf(folder, environment)
}

/** Somebody ingests already, so that no hook starts a process. */
export function holdIngest(environment: Variables, folder: string): void {
  writeFileSync(join(hooksFolder(folder, environment), 'ingest.lock'), 'a test')
}

/** A moment in few words, so that a list of them can be read. */
export function inWords({ what, agent, turn }: HookEvent, folder = ''): string {
  const who = agent === null ? '' : ` by ${agent.type ?? agent.id}`
  const when = turn === null ? '' : ` in ${turn}`
  return `${what.kind.replaceAll('_', ' ')}${aboutOf(what, folder)}${who}${when}`
}

function aboutOf(what: HookEvent['what'], folder: string): string {
  if (what.kind === 'edit_began' || what.kind === 'edit_ended') {
    const files = what.edits.map(({ path, absent, explained }) => {
      const state = explained === null ? '' : explained ? ', explained' : ', not explained'
      return `${path.replace(`${folder}/`, '')}${absent ? ', absent' : ''}${state}`
    })
    return `: ${what.tool} ${files.join(' and ')}${'failed' in what && what.failed ? ', failed' : ''}`
  }
  if (what.kind === 'command_began' || what.kind === 'command_ended') {
    const failed = 'failed' in what && what.failed ? ', failed' : ''
    return `: ${what.tool} ${what.program}${what.background ? ', in the background' : ''}${failed}`
  }
  if (what.kind === 'session_started') return `: ${what.source}`
  if (what.kind === 'prompted') return `: ${what.length}${what.wake ? ', woken' : ''}`
  if (what.kind === 'own_tool') return `: ${what.tool} ${what.attempt}`
  if (what.kind === 'items')
    return `: ${what.items.filter(({ done }) => done).length} of ${what.items.length} done`
  if (what.kind === 'stopped') {
    return `: ${what.error ?? (what.interrupted ? 'interrupted' : 'done')}${what.background > 0 ? `, ${what.background} running` : ''}`
  }
  if (what.kind === 'session_ended') return `: ${what.reason}`
  return what.kind === 'lost' ? `: ${what.count}, ${what.why}` : ''
}

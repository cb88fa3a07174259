import { createInterface } from 'node:readline'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { messageOf } from '../../kernel/failure.ts'
import { keepOwnTokens } from '../../people/operations/owner.ts'
import { randomIds } from '../../store/random-ids.ts'
import { complaint, print, printError } from '../../surfaces/cli/terminal.ts'
import { newSecret } from '../../surfaces/http/auth/secret.ts'
import type { DemoControl, DemoState } from '../../surfaces/http/serving.ts'
import { closeContext } from '../open-context.ts'
import { endSignal, thisProcess } from '../process.ts'
import { openLog } from '../serve/log.ts'
import { openProjects } from '../serve/projects.ts'
import type { RunningServer } from '../serve/running-servers.ts'
import { freshLogin } from '../serve/running-servers.ts'
import { openOnFreePort } from '../serve/server.ts'
import { canShowBrowser, welcome } from '../serve/welcome.ts'
import { commandLineActor } from '../settings/actor.ts'
import { userName } from '../settings/environment.ts'
import { type DemoFlags, readDemoFlags } from '../settings/flags.ts'
import { openMachinePeople } from '../settings/machine-people.ts'
import { serverFolder } from '../settings/project-location.ts'
import { play } from './play.ts'
import { type DemoProject, openDemoProject } from './project.ts'

/** The default duration of the day, in milliseconds. */
const usualLength = 60_000
const host = '127.0.0.1'

/** `waymark demo`: plays and serves a recorded day in a temporary folder, until a signal ends it. */
export async function playDemo(words: readonly string[]): Promise<void> {
  const flags = readDemoFlags(words)
  const ending = new AbortController()
  const ended = endSignal().then(() => ending.abort())
  const project = await openDemoProject(flags.recording)
  try {
    if (!ending.signal.aborted) await serveDemo(project, flags, { signal: ending.signal, ended })
  } finally {
    project.remove()
  }
}

interface DemoShutdown {
  readonly signal: AbortSignal
  readonly ended: Promise<void>
}

async function serveDemo(
  demo: DemoProject,
  flags: DemoFlags,
  { signal, ended }: DemoShutdown,
): Promise<void> {
  const { environment, events } = demo
  const folder = serverFolder(environment)
  const team = openMachinePeople(environment, process.cwd())
  await keepOwnTokens(team, team.owner, { at: Date.now(), ids: randomIds })
  const [{ served, context }] = openProjects({ named: [demo.folder], environment, workingFolder: demo.home })
  const instance = newSecret()
  const log = openLog('warn')
  const day = dayControl(flags.wait, signal)
  const options = { projects: [served] as const, team, host, allowedHosts: [], instance, log, demo: day }
  const server = await openOnFreePort(options, flags.port ?? 0)
  if ('address' in server) throw new Error('no other server was looked for')
  try {
    const address = `${host}:${server.port}`
    // As with `serve`: an agent that starts it gets no sign-in link of a person.
    const isAgent = commandLineActor(process.env, userName()).kind === 'agent'
    const visit = {
      signsIn: !isAgent,
      open: flags.open && !isAgent && canShowBrowser(process.env),
      folder,
      another: 'press Enter here for a new address',
    }
    const running = { ...thisProcess(), port: server.port, address, instance, projects: [] }
    await welcome(running, [served], visit)
    if (!isAgent) offerSignInLinks(running, signal)
    const speed = flags.speed === undefined ? lengthOf(events) / usualLength : flags.speed
    if (flags.wait)
      printSentence(
        `${visit.open ? 'The page that opens' : 'Open the address of the dashboard. The page'} offers two things: watch a recorded day of corner-books, a small book shop, or connect a project of yours.`,
      )
    await day.started
    if (!signal.aborted) printSentence(playIntroduction(events, speed))
    await play(events, { store: context.store, signal, speed })
    day.end()
    if (!signal.aborted)
      printSentence(
        'The day is over. Look around as long as you like; Ctrl-C ends the demo and removes everything.',
      )
    await ended
  } finally {
    await server.stop()
    await closeContext(context)
    await team.store.close()
  }
}

interface Day extends DemoControl {
  /** Resolves when the day begins or the demo ends. */
  readonly started: Promise<void>
  end(): void
}

function dayControl(waits: boolean, signal: AbortSignal): Day {
  let state: DemoState = waits ? 'waiting' : 'playing'
  const { promise, resolve } = Promise.withResolvers<void>()
  if (!waits || signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve())
  return {
    started: promise,
    state: () => state,
    play: () => {
      if (state === 'waiting') state = 'playing'
      resolve()
    },
    end: () => {
      state = 'over'
    },
  }
}

/** The demo has its own tokens, so no other command can print another link. */
function offerSignInLinks(server: RunningServer, signal: AbortSignal): void {
  // Reading the keyboard would stop a background process of a shell.
  process.on('SIGTTIN', () => undefined)
  process.stdin.on('error', () => undefined)
  const lines = createInterface({ input: process.stdin })
  lines.on('line', () => {
    freshLogin(server).then(
      (login) => printSentence(`Dashboard: ${login}`),
      (error: unknown) => printError(complaint(messageOf(error))),
    )
  })
  signal.addEventListener('abort', () => {
    lines.close()
    process.stdin.destroy()
  })
}

function lengthOf(events: readonly ProjectEvent[]): number {
  return (events.at(-1)?.recordedAt ?? 0) - (events[0]?.recordedAt ?? 0)
}

function playIntroduction(events: readonly ProjectEvent[], speed: number | null): string {
  if (speed === null) return 'A recorded day, all at once.'
  const seconds = Math.round(lengthOf(events) / speed / 1000)
  return `Playing a recorded day in ${seconds} seconds.`
}

function printSentence(sentence: string): void {
  print(`${sentence}\n`)
}

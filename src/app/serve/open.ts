import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../kernel/failure.ts'
import { baseOf } from '../../remote/machine/known-servers.ts'
import { print, printJson } from '../../surfaces/cli/terminal.ts'
import { connectedPlace } from '../remote/remote-project-location.ts'
import { commandLineActor } from '../settings/actor.ts'
import { userName } from '../settings/environment.ts'
import { readOpenFlags } from '../settings/flags.ts'
import { serverFolder } from '../settings/project-location.ts'
import { freshLogin, type RunningServer } from './running-servers.ts'
import { serverFinder } from './serve.ts'
import { canShowBrowser, openBrowser } from './welcome.ts'

/** `waymark open`: opens the dashboard in a browser; starts a server in the background if none runs. */
export async function openDashboard(words: readonly string[]): Promise<void> {
  const { project, browser, json } = readOpenFlags(words)
  const shows = browser && !json && canShowBrowser(process.env)
  const place = connectedPlace({ project, environment: process.env, workingFolder: process.cwd() })
  if (place) {
    const address = `${baseOf(place.server)}/`
    if (json) return printJson({ dashboard: address, process: null, started: false })
    print(`Dashboard: ${address}, at the server that keeps this project. Sign in with your token.\n`)
    if (shows) openBrowser(address)
    return
  }
  const find = await serverFinder(project)
  const found = await find()
  const server = found ?? (await startServer(project, find))
  // An agent gets no sign-in link of a person.
  const isAgent = commandLineActor(process.env, userName()).kind === 'agent'
  const login = isAgent ? null : await signInLink(server)
  const dashboard = login ?? `http://${server.address}`
  if (json) return printJson({ dashboard, process: server.pid, started: found === null })
  print(`${introduction(server, { login, isAgent, isNew: found === null })}\n`)
  if (shows && !isAgent) openBrowser(dashboard)
}

interface OpenedServer {
  readonly login: string | null
  readonly isAgent: boolean
  readonly isNew: boolean
}

function introduction({ address, pid }: RunningServer, { login, isAgent, isNew }: OpenedServer): string {
  const signIn =
    login !== null
      ? 'signs you in once, within ten minutes'
      : isAgent
        ? 'A person signs in with: waymark open'
        : 'Sign in with your token'
  return [
    `Dashboard: ${login ?? `http://${address}`}`,
    `           ${signIn}.`,
    `The server ${isNew ? 'now runs' : 'runs already'} at http://${address} in the background (process ${pid}).`,
    'Stop it with: waymark serve --stop',
  ].join('\n')
}

/** Null at a server where people sign in themselves. */
async function signInLink(server: RunningServer): Promise<string | null> {
  try {
    return await freshLogin(server)
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

/** How long a server may take to answer, in milliseconds. */
const patience = 20_000
const pollEveryMs = 100

/** Starts `waymark serve` detached from this process. If it does not start, fails with its output. */
async function startServer(
  project: string | undefined,
  find: () => Promise<RunningServer | null>,
): Promise<RunningServer> {
  const folder = serverFolder(process.env)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const log = join(folder, 'open.log')
  const errors = openSync(log, 'w', 0o600)
  const named = project === undefined ? [] : ['--project', project]
  const program = process.argv[1] ?? ''
  const child = spawn(process.execPath, [program, 'serve', '--log-level', 'warn', ...named], {
    // Standard output contains a sign-in link: it is not stored.
    stdio: ['ignore', 'ignore', errors],
    detached: true,
    windowsHide: true,
  })
  closeSync(errors)
  let ended = false
  child.on('exit', () => {
    ended = true
  })
  child.on('error', () => {
    ended = true
  })
  child.unref()
  const deadline = performance.now() + patience
  while (performance.now() < deadline) {
    const server = await find()
    if (server) return server
    if (ended) break
    await sleep(pollEveryMs)
  }
  const [why = ''] = readFileSync(log, 'utf8').split('\n')
  throw new Failure('UNAVAILABLE', `The server did not start${why === '' ? '.' : `: ${why.slice(0, 300)}`}`, {
    reason: 'server_not_started',
    hint: `Run waymark serve to see why; its messages are in ${log}.`,
  })
}

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { Failure } from '../../kernel/failure.ts'
import { print } from '../../surfaces/cli/terminal.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import type { Environment } from '../settings/environment.ts'
import { freshLogin, type RunningServer } from './running-servers.ts'

/** Who started the program, and what for. */
export interface WelcomeContext {
  /** Whether an address signs the user of this machine in: an agent is given none. */
  readonly signsIn: boolean
  /** Opens the dashboard in a browser. */
  readonly open: boolean
  /** How to get another address, where it is not by `waymark serve`. */
  readonly another?: string
  /** Where the tokens are. */
  readonly folder: string
  /** Persons of a database are let in, each with a token of their own. */
  readonly byPersons?: boolean
}

/** A server that is slow to answer itself serves all the same: null, and `waymark serve` gives an address later. */
async function signInLinkFor(server: RunningServer, isNew: boolean): Promise<string | null> {
  try {
    return await freshLogin(server)
  } catch (error) {
    if (isNew && error instanceof Failure) return null
    throw error
  }
}

/** Tells where the server is, and how to come in. `projects` are those of a new server; null for one found running. */
export async function welcome(
  server: RunningServer,
  projects: readonly ServedProject[] | null,
  { signsIn, open, folder, byPersons = false, another = 'waymark serve prints another' }: WelcomeContext,
): Promise<void> {
  const { address, pid } = server
  const login = signsIn ? await signInLinkFor(server, projects !== null) : null
  const lines = [
    projects
      ? `Waymark serves ${namesOf(projects)} at http://${address}`
      : `Waymark is already serving here, at http://${address} (process ${pid}). Stop it with: waymark serve --stop`,
    login === null
      ? `Dashboard: http://${address}. ${byPersons ? 'Sign in with a token: waymark token create --kind person --person <name> (the first admin: waymark token create --admin --person <name>).' : 'To log in, run waymark serve in a terminal of your own.'}`
      : `Dashboard: ${login}\n           logs you in, once and within ten minutes; ${another}.`,
    `MCP:       http://${address}/mcp, with ${byPersons ? 'a token of an agent: waymark token create <agent> --person <name> --project <project>' : `the token in ${join(folder, 'agent.token')}`}`,
  ]
  print(`${lines.join('\n')}\n`)
  if (open) openBrowser(login ?? `http://${address}`)
}

function namesOf(projects: readonly ServedProject[]): string {
  if (projects.length === 0) return 'no project yet (waymark project add <name>)'
  return projects.map(({ name, key }, at) => (at === 0 ? name : `${name} (/p/${key}/)`)).join(', ')
}

/** Opens an address in the user's browser; where there is none, the address was printed. */
export function openBrowser(address: string): void {
  const [program, ...words] = { darwin: ['open'], win32: ['explorer'] }[process.platform as string] ?? [
    'xdg-open',
  ]
  const child = spawn(program ?? 'xdg-open', [...words, address], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

/** Whether a person looks at this terminal, on a machine that shows windows. */
export function canShowBrowser({ CI, DISPLAY, WAYLAND_DISPLAY }: Environment): boolean {
  if (CI || !isatty(1)) return false
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY)
}

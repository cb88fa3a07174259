import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { Failure } from '../../kernel/failure.ts'
import { print } from '../../surfaces/cli/terminal.ts'
import type { ServedProject } from '../../surfaces/http/serving.ts'
import type { Environment } from '../settings/environment.ts'
import { freshLogin, type RunningServer } from './running-servers.ts'

/** The caller of the program and its purpose. */
export interface WelcomeContext {
  /** Whether to print a sign-in link for the user of this machine; never for an agent. */
  readonly signsIn: boolean
  /** Opens the dashboard in a browser. */
  readonly open: boolean
  /** The command for another sign-in link, if not `waymark serve`. */
  readonly another?: string
  /** The location of the tokens. */
  readonly folder: string
  /** The people of a database have access, each with their own token. */
  readonly byPersons?: boolean
  /** The database may get people: then only they have access. */
  readonly takesPeople?: boolean
}

/** Null if the server is slow to answer itself; `waymark serve` prints a link later. */
async function signInLinkFor(server: RunningServer, isNew: boolean): Promise<string | null> {
  try {
    return await freshLogin(server)
  } catch (error) {
    if (isNew && error instanceof Failure) return null
    throw error
  }
}

/** Prints the server's address and how to sign in. `projects` is null for a server that already ran. */
export async function welcome(
  server: RunningServer,
  projects: readonly ServedProject[] | null,
  {
    signsIn,
    open,
    folder,
    byPersons = false,
    takesPeople = false,
    another = 'waymark serve prints a new address',
  }: WelcomeContext,
): Promise<void> {
  const { address, pid } = server
  const login = signsIn ? await signInLinkFor(server, projects !== null) : null
  const lines = [
    projects
      ? `Waymark serves ${namesOf(projects)} at http://${address}`
      : `Waymark is already serving here, at http://${address} (process ${pid}). Stop it with: waymark serve --stop`,
    login === null
      ? `Dashboard: http://${address}. ${byPersons ? 'Sign in with a token: waymark token create --kind person --person <name> (the first admin: waymark token create --admin --person <name>).' : 'To sign in, run waymark serve in a terminal of your own.'}`
      : `Dashboard: ${login}\n           signs you in once, within ten minutes; ${another}.`,
    `MCP:       http://${address}/mcp, with ${byPersons ? 'a token of an agent: waymark token create <agent> --person <name> --project <project>' : `the token in ${join(folder, 'agent.token')}`}`,
    ...(takesPeople
      ? [
          'People:    you alone. For a team, add its first admin: waymark token create --admin --person <name>',
        ]
      : []),
  ]
  print(`${lines.join('\n')}\n`)
  if (open) openBrowser(login ?? `http://${address}`)
}

function namesOf(projects: readonly ServedProject[]): string {
  if (projects.length === 0) return 'no project yet (waymark project add <name>)'
  return projects.map(({ name, key }, at) => (at === 0 ? name : `${name} (/p/${key}/)`)).join(', ')
}

/** Opens an address in the user's browser, if there is one. */
export function openBrowser(address: string): void {
  const [program, ...words] = { darwin: ['open'], win32: ['explorer'] }[process.platform as string] ?? [
    'xdg-open',
  ]
  const child = spawn(program ?? 'xdg-open', [...words, address], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}

/** Whether a person uses this terminal on a machine with a desktop. */
export function canShowBrowser({ CI, DISPLAY, WAYLAND_DISPLAY }: Environment): boolean {
  if (CI || !isatty(1)) return false
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY)
}

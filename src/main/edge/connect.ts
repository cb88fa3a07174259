import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'
import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { KnownServers, keepProjectServer, parseAddress } from '../../edge/origins.ts'
import { ServerClient, ServerRefusal } from '../../edge/server-client.ts'
import { print, tell } from '../../surfaces/cli/terminal.ts'
import { commandLineActor } from '../settings/actor.ts'
import { userName } from '../settings/environment.ts'
import { readWords } from '../settings/flags.ts'
import { edgeFolder, rootOf } from './connected.ts'

const Session = z.object({
  project: z.string(),
  projects: z.array(z.object({ key: z.string(), name: z.string() })),
  actor: z.object({ name: z.string(), kind: z.enum(['agent', 'person']) }),
  version: z.string(),
})

/** `waymark connect`: this project is kept at a server from now on, and its token on this machine. */
export async function connectToServer(words: readonly string[]): Promise<void> {
  const { positionals, text, has, mistaken } = readWords('connect', words)
  const [address, odd] = positionals
  if (address === undefined) throw mistaken('connect needs the address of a server.')
  if (odd !== undefined) throw mistaken(`connect does not take ${odd}.`)
  if (has('trust-commands') && has('no-trust-commands')) {
    throw mistaken('connect takes either --trust-commands or --no-trust-commands.')
  }
  const environment = process.env
  const { origin, project } = parseAddress(address)
  const servers = new KnownServers(edgeFolder(environment))
  const known = servers.find(origin)
  const trustsCommands =
    has('trust-commands') || (known?.trustsCommands === true && !has('no-trust-commands'))
  if (has('trust-commands')) refuseAgent()
  const token = environment['WAYMARK_TOKEN'] || known?.token || (await askedToken(origin))
  const named = text('project') ?? project
  const session = await sessionAt({ origin, project: named, token, trustsCommands })
  servers.keep(origin, { token, trustsCommands })
  const root = rootOf({ environment, workingFolder: process.cwd() })
  keepProjectServer(root, { origin, project: session.project }, has('hooks-closed'))
  const { name, kind } = session.actor
  print(`${root} is kept at ${origin} now, as project ${session.project}; you are ${name} (${kind}) there.\n`)
  tell(
    trustsCommands
      ? 'Commands of guards that a person approves at the server run on this machine.\n'
      : 'Commands of guards run here only when a person approved them on this machine.\n',
  )
}

/** Looks whether the server lets this token in, and which project is meant. */
async function sessionAt(server: ConstructorParameters<typeof ServerClient>[0]) {
  const client = new ServerClient(server)
  try {
    const read = Session.safeParse(await client.get('/api/session'))
    if (read.success) return read.data
    throw new Failure('UNAVAILABLE', `${server.origin} answers, but not as a server of Waymark does.`)
  } catch (error) {
    if (!(error instanceof ServerRefusal) || error.status !== 401) throw error
    throw new Failure('FORBIDDEN', `${server.origin} does not take this token: ${error.message}`, {
      hint: 'Ask whoever runs the server for one (waymark token add <name>), then connect with WAYMARK_TOKEN=<token>.',
    })
  } finally {
    client.close()
  }
}

/** What runs on a machine is its people's to say. */
function refuseAgent(): void {
  const { kind, name } = commandLineActor(process.env, userName())
  if (kind === 'person') return
  throw new Failure(
    'FORBIDDEN',
    `People say which commands run on their machine; ${name} acts as an agent.`,
    {
      hint: 'Ask a person to run: waymark connect <url> --trust-commands',
    },
  )
}

/** The token, from a pipe or typed without being shown; never on the command line, where every process could read it. */
async function askedToken(origin: string): Promise<string> {
  const isTyped = isatty(0)
  if (isTyped) tell(`Token for ${origin}: `)
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: silent, terminal: isTyped })
  try {
    for await (const line of lines) {
      const token = line.trim()
      if (isTyped) tell('\n')
      if (token !== '') return token
    }
  } finally {
    lines.close()
    process.stdin.destroy()
  }
  throw new Failure('INVALID_INPUT', `There is no token for ${origin} on this machine, and none was given.`, {
    hint: 'Run it in a shell, or give the token with WAYMARK_TOKEN.',
  })
}

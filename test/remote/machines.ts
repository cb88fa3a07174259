import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { onTestFinished } from 'vitest'
import { commitCopied } from '../support/copied-folder.ts'
import { exportedEvents } from '../support/exported-events.ts'
import { git as runGit } from '../support/git.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Ran, runProgram } from '../support/program.ts'
import type { Answer } from '../support/project.ts'
import { ProgramTransport, runBeside } from '../support/started-program.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { refusalIn } from '../surfaces/cli/command-line.ts'
import { type Serving, serveHome } from '../surfaces/http/serve-process.ts'

/** A machine where agents work: a home, a state folder and a work tree of its own. */
export interface AgentMachine {
  readonly home: string
  readonly folder: string
  readonly environment: Record<string, string>
  readonly write: (path: string, content: string) => void
  readonly git: (...words: readonly string[]) => string
  /** Runs the built program to its end. */
  readonly run: (...words: readonly string[]) => Ran
  /** How a command is refused, as data. */
  readonly refused: (...words: readonly string[]) => Answer
  /** A client of `waymark mcp` there. */
  readonly connect: (...words: readonly string[]) => Promise<MachineAgent>
}

export interface MachineAgent {
  readonly client: Client
  /** Calls a tool; fails with its text when it answers an error. */
  readonly call: (tool: string, input?: object) => Promise<Answer>
  /** How a call is refused, as data. */
  readonly refused: (tool: string, input?: object) => Promise<Answer>
  readonly close: () => Promise<void>
  /** Ends its process at once, as `kill -9` does. */
  readonly kill: () => void
}

export interface TeamServer extends Serving {
  readonly home: string
  readonly folder: string
  readonly address: string
  readonly token: (kind: 'person' | 'agent') => string
  /** A person's or an agent's token by its own name. */
  readonly newToken: (name: string, kind?: 'person' | 'agent') => string
  readonly run: (...words: readonly string[]) => Ran
  /** The same server again, on the same port. */
  readonly again: () => Promise<Serving>
  /** Calls an operation over HTTP, as a person. */
  readonly api: (name: string, input?: object) => Promise<Answer>
  /** Every log entry, as the log is read over HTTP. */
  readonly log: () => Promise<readonly Answer[]>
}

/** A real server with a project of its own. */
export async function teamServer(): Promise<TeamServer> {
  const around = serveHome()
  const folder = around.repository('shop')
  const serving = await around.serve(folder, '--port', '0')
  const address = `http://127.0.0.1:${serving.port}`
  return {
    ...serving,
    home: around.home,
    folder,
    address,
    token: around.token,
    newToken: (name, kind = 'agent') =>
      JSON.parse(around.run(folder, 'token', 'create', name, '--kind', kind, '--json').out).secret,
    run: (...words) => around.run(folder, ...words),
    again: () => around.serve(folder, '--port', String(serving.port)),
    api: async (name, input = {}) => {
      const response = await fetch(`${address}/api/${name}`, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Bearer ${around.token('person')}`,
        },
        body: JSON.stringify(input),
      })
      return response.json()
    },
    log: async () => {
      const headers = { Authorization: `Bearer ${around.token('person')}` }
      const response = await fetch(`${address}/api/export`, { method: 'POST', headers })
      return exportedEvents(((await response.json()) as Answer).text)
    },
  }
}

const files = {
  'README.md': '# Shop\n',
  'src/auth.ts': 'export const auth = 1\n',
  'src/api.ts': 'export const api = 1\n',
}

/** A machine that is not connected to any server yet. */
export function agentMachine(
  options: { readonly home?: string; readonly folder?: string } = {},
): AgentMachine {
  const home = options.home ?? temporaryFolder()
  const { folder = join(home, 'shop') } = options
  const inherited = Object.entries(serverEnvironment(home)).filter(
    ([name]) => !/^(AI_AGENT|CODEX|GEMINI|QWEN|OPENCODE|AUGMENT|CLINE|COPILOT|CLAUDE)/.test(name),
  )
  const environment = { ...Object.fromEntries(inherited), HOME: home }
  if (!existsSync(folder)) commitCopied(folder, files)
  return {
    home,
    folder,
    environment,
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    git: (...words) => runGit(folder, ...words),
    run: (...words) => runProgram(words, { folder, environment }),
    refused: (...words) =>
      refusalIn(runProgram(words, { folder, environment: { ...environment, WAYMARK_FORMAT: 'json' } })),
    connect: (...words) => machineAgent({ folder, environment }, words),
  }
}

/** A machine whose work tree is kept at a server. */
export function connectedMachine(
  server: TeamServer,
  token = server.token('agent'),
  machine = agentMachine(),
): AgentMachine {
  const ran = runProgram(['connect', server.address], {
    folder: machine.folder,
    environment: { ...machine.environment, WAYMARK_TOKEN: token },
  })
  if (ran.code !== 0) throw new Error(ran.error)
  return machine
}

/** What the built program prints there. It runs beside this process, which may answer it as a proxy. */
export async function ranAt(
  { folder, environment }: AgentMachine,
  words: readonly string[],
  more: Record<string, string> = {},
  input?: string,
): Promise<string> {
  const { code, out, error } = await runBeside(words, {
    folder,
    environment: { ...environment, ...more },
    ...(input !== undefined && { input }),
  })
  if (code !== 0) throw new Error(error)
  return out
}

async function machineAgent(
  running: { readonly folder: string; readonly environment: Record<string, string> },
  words: readonly string[],
): Promise<MachineAgent> {
  const client = new Client({ name: 'edge-client', version: '1.0.0' })
  const transport = new ProgramTransport(['mcp', ...words], running)
  await client.connect(transport)
  let closing: Promise<void> | null = null
  const close = () => {
    closing ??= client.close()
    return closing
  }
  onTestFinished(close)
  const ask = (tool: string, input: object) => client.callTool({ name: tool, arguments: { ...input } })
  return {
    client,
    call: async (tool, input = {}) => {
      const result = await ask(tool, input)
      if (result.isError) throw new Error(JSON.stringify(result.content))
      return result.structuredContent
    },
    refused: async (tool, input = {}) => {
      const result = await ask(tool, input)
      if (!result.isError) throw new Error(`${tool} was not refused`)
      return (result.structuredContent as Answer).error
    },
    close,
    kill: () => transport.kill(),
  }
}

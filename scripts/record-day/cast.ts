import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Answer } from '../../test/support/project.ts'
import type { Ground, Tree } from './ground.ts'

/** Everybody of the day, and what they share. */
export interface Cast {
  readonly ground: Ground
  readonly think: Think
  readonly person: (...words: readonly string[]) => Answer
  /** Ids of planned tasks by their short names. */
  readonly tasks: Map<string, string>
  join(name: string, tree: Tree): Promise<Agent>
  leave(): Promise<void>
}

export function castOn(ground: Ground, think: Think): Cast {
  const joined: Agent[] = []
  return {
    ground,
    think,
    person: personIn(ground.main.folder, ground.environment),
    tasks: new Map(),
    join: async (name, { folder }) => {
      const agent = await connectAgent(name, { folder, environment: ground.environment })
      joined.push(agent)
      return agent
    },
    leave: async () => {
      await Promise.all(joined.map((agent) => agent.leave()))
    },
  }
}

export function planned(cast: Cast, name: string): string {
  const id = cast.tasks.get(name)
  if (id === undefined) throw new Error(`The plan has no task ${name}.`)
  return id
}

/** What an agent says when it completes a task. */
export function done(task: Answer, summary: string, more: object = {}): object {
  return { task_id: task.task_id, status: 'success', outcome: { summary, ...more } }
}

const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')

export interface Agent {
  call(tool: string, input: object): Promise<Answer>
  /** A call that is refused, as the day means it to be. */
  refused(tool: string, input: object): Promise<void>
  leave(): Promise<void>
}

/** A coding agent as Waymark sees it: an MCP client with a server process of its own, on stdio. */
async function connectAgent(
  name: string,
  { folder, environment }: { readonly folder: string; readonly environment: Record<string, string> },
): Promise<Agent> {
  const client = new Client({ name, version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin, 'mcp', '--toolsets', 'plan,track,gate'],
      cwd: folder,
      env: environment,
      stderr: 'inherit',
    }),
  )
  const ask = (tool: string, input: object) => client.callTool({ name: tool, arguments: { ...input } })
  return {
    call: async (tool, input) => {
      const result = await ask(tool, input)
      if (result.isError) throw new Error(`${name} ${tool}: ${JSON.stringify(result.content)}`)
      return result.structuredContent
    },
    refused: async (tool, input) => {
      const result = await ask(tool, input)
      if (!result.isError)
        throw new Error(`${name} ${tool} was to be refused: ${JSON.stringify(result.structuredContent)}`)
    },
    leave: () => client.close(),
  }
}

/** What a person does on the command line, in the project's folder. */
function personIn(
  folder: string,
  environment: Record<string, string>,
): (...words: readonly string[]) => Answer {
  return (...words) =>
    JSON.parse(
      execFileSync(process.execPath, [bin, ...words, '--format', 'json'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...environment, WAYMARK_ACTOR: 'Tess' },
      }),
    )
}

/** Waits as long as somebody thinks: the seconds of the day, or a part of them. */
export type Think = (seconds: number) => Promise<void>

export function thinkAt(pace: number): Think {
  return (seconds) => sleep(seconds * pace * 1000)
}

export function say(sentence: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${sentence}\n`)
}

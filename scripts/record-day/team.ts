import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { Answer } from '../../test/support/project.ts'
import type { ShopRepository, Tree } from './repository.ts'

const bin = join(import.meta.dirname, '..', '..', 'bin', 'waymark.js')

/** The people and agents of the day, and their repository. */
export interface Team {
  readonly repository: ShopRepository
  /** Waits as long as someone thinks. */
  readonly think: (seconds: number) => Promise<void>
  /** Runs a command of the person in the main folder. Returns its answer. */
  readonly person: (...words: readonly string[]) => Answer
  /** What the hook of a client does before a shell command in a work tree. */
  readonly hook: (tree: Tree, client: string, command: string) => void
  /** Writes a comment of the person below a line of a task's diff, as in an editor. */
  readonly comment: (taskId: string, line: string, text: string) => void
  /** Ids of planned tasks by their short names. */
  readonly tasks: Map<string, string>
  join(agent: string, tree: Tree): Promise<Agent>
  leave(): Promise<void>
}

export interface Agent {
  call(tool: string, input: object): Promise<Answer>
  /** A call that Waymark refuses, as the day intends. */
  callRefused(tool: string, input: object): Promise<void>
  leave(): Promise<void>
}

export function createTeam(repository: ShopRepository, pace: number): Team {
  const agents: Agent[] = []
  const { main, environment, home } = repository
  const asPerson = { ...environment, WAYMARK_ACTOR: 'Tess' }
  const run = (words: readonly string[], more: Record<string, string> = {}) =>
    execFileSync(process.execPath, [bin, ...words], {
      cwd: main.folder,
      encoding: 'utf8',
      env: { ...asPerson, ...more },
    })
  return {
    repository,
    think: (seconds) => sleep(seconds * pace * 1000),
    person: (...words) => JSON.parse(run([...words, '--format', 'json'])),
    comment: (taskId, line, text) => {
      const editor = join(home, 'editor.mjs')
      writeFileSync(editor, editorThatAdds)
      run(['review', taskId, '--write'], {
        EDITOR: `${process.execPath} ${editor}`,
        COMMENT_BELOW: line,
        COMMENT_TEXT: text,
      })
    },
    hook: ({ folder }, client, command) => {
      const input = {
        session_id: 'other',
        cwd: folder,
        hook_event_name: 'PreToolUse',
        tool_name: 'Bash',
        tool_input: { command },
      }
      execFileSync(process.execPath, [bin, 'hook', 'pre-tool-use', client], {
        cwd: folder,
        env: environment,
        input: JSON.stringify(input),
      })
    },
    tasks: new Map(),
    join: async (name, { folder }) => {
      const agent = await connectAgent(name, { folder, environment })
      agents.push(agent)
      return agent
    },
    leave: async () => {
      await Promise.all(agents.map((agent) => agent.leave()))
    },
  }
}

const editorThatAdds = `import { readFileSync, writeFileSync } from 'node:fs'
const file = process.argv.at(-1)
const lines = readFileSync(file, 'utf8').split('\\n')
const at = lines.findIndex((line) => line.includes(process.env.COMMENT_BELOW))
if (at < 0) throw new Error('no such line')
lines.splice(at + 1, 0, process.env.COMMENT_TEXT)
writeFileSync(file, lines.join('\\n'))
`

export function plannedTask(team: Team, name: string): string {
  const id = team.tasks.get(name)
  if (id === undefined) throw new Error(`The plan has no task ${name}.`)
  return id
}

/** The completion of a task with status success. */
export function success(task: Answer, summary: string, outcome: object = {}, metadata: object = {}): object {
  return { task_id: task.task_id, status: 'success', outcome: { summary, ...outcome }, metadata }
}

/** A mission with a run of a process, as its leader works on it. */
export interface GatedMission {
  readonly id: string
  readonly runId: string
  readonly start: (phase: number, phaseName: string, request: object) => Promise<Answer>
  /** Emits `submit`, which is accepted or refused as the day intends. */
  readonly submit: (expected: 'call' | 'callRefused') => Promise<void>
}

export async function startGatedMission(
  leader: Agent,
  agentName: string,
  request: object,
): Promise<GatedMission> {
  const { mission_id, run } = await leader.call('start_mission', {
    ...request,
    process_id: 'checked-change',
  })
  let attempt = 0
  return {
    id: mission_id,
    runId: run.run_id,
    start: (phase, phase_name, more) =>
      leader.call('start_task', {
        mission_id,
        phase,
        phase_name,
        agent_name: agentName,
        caller_type: 'orchestrator',
        ...more,
      }),
    submit: async (expected) => {
      const { revision } = await leader.call('state_gate_get_state', { run_id: run.run_id })
      attempt += 1
      await leader[expected]('state_gate_emit_event', {
        run_id: run.run_id,
        event_name: 'submit',
        expected_revision: revision,
        idempotency_key: `submit-${attempt}`,
      })
    },
  }
}

/** Connects a coding agent as Waymark sees it: an MCP client with a server process of its own, on stdio. */
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
  const send = (tool: string, input: object) => client.callTool({ name: tool, arguments: { ...input } })
  return {
    call: async (tool, input) => {
      const result = await send(tool, input)
      if (result.isError) throw new Error(`${name} ${tool}: ${JSON.stringify(result.content)}`)
      return result.structuredContent
    },
    callRefused: async (tool, input) => {
      const result = await send(tool, input)
      if (!result.isError)
        throw new Error(`${name} ${tool} was not refused: ${JSON.stringify(result.structuredContent)}`)
    },
    leave: () => client.close(),
  }
}

export function report(sentence: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${sentence}\n`)
}

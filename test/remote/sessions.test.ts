import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { serverRecorder } from '../../src/remote/machine/send-hook-events.ts'
import { ingestRemoteEvents } from '../../src/remote/operations/hook-events.ts'
import { capture } from '../../src/sessions/capture/hook/capture-hook.ts'
import { holdIngest, hookQueue } from '../sessions/captured-project.ts'
import { openCase } from '../sessions/driver.ts'
import { type Answer, troubles } from '../support/project.ts'
import { throughMachine } from '../support/through-machine.ts'
import { eventually } from '../surfaces/mcp/http/eventually.ts'
import { type AgentMachine, connectedMachine, teamServer } from './machines.ts'

/** One session of Claude Code on a machine: hooks write what it tells, and nothing is started by them. */
function sessionOn(machine: AgentMachine) {
  const { folder, environment } = machine
  let calls = 0
  const tell = (said: object) => {
    holdIngest(environment, folder)
    const payload = { session_id: 'one', cwd: folder, prompt_id: 'p', ...said }
    const place = { word: 'claude', environment, workingFolder: folder, at: Date.now(), program: 'none' }
    capture(JSON.stringify(payload), place)
  }
  return {
    start: () =>
      tell({
        hook_event_name: 'SessionStart',
        source: 'startup',
        transcript_path: `${folder}/.claude/t.jsonl`,
      }),
    prompt: (id: string) =>
      tell({ hook_event_name: 'UserPromptSubmit', prompt: 'make it blue', prompt_id: id }),
    edit: (path: string, from: string, to: string) => {
      calls += 1
      const call = {
        tool_name: 'Edit',
        tool_use_id: `c${calls}`,
        tool_input: { file_path: join(folder, path), old_string: from, new_string: to },
      }
      tell({ hook_event_name: 'PreToolUse', ...call })
      machine.write(path, to)
      tell({ hook_event_name: 'PostToolUse', ...call, tool_response: {} })
    },
    stop: (id: string) => tell({ hook_event_name: 'Stop', prompt_id: id }),
  }
}

const brief = ({ changes }: Answer) =>
  changes.map(({ path, attribution }: Answer) => `${path} ${attribution}`)

test('sessions on a machine are measured there and recorded at its server, and wait while that is away', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server)
  machine.run('capture', 'on', '--prompts', 'local')
  const drain = () => expect(machine.run('ingest', '--once')).toMatchObject({ code: 0, error: '' })
  const claude = sessionOn(machine)
  const turns = async () => {
    const { sessions } = await server.api('sessions')
    expect(sessions).toMatchObject([{ client: 'claude', client_session: 'one', folder: machine.folder }])
    return (await server.api('sessions_show', { id: sessions[0].session_id })).turns
  }
  const sessionsThere = () => JSON.parse(machine.run('sessions', '--format', 'json').out).sessions
  claude.start()
  claude.prompt('p1')
  drain()
  claude.edit('src/auth.ts', 'export const auth = 1\n', 'export const auth = 2\n')
  claude.edit('src/new.ts', '', 'export const fresh = 1\n')
  machine.write('README.md', '# By a person\n')
  claude.stop('p1')
  // Whoever asks there is answered with what hooks told until then.
  expect(sessionsThere()).toMatchObject([{ turns: 1, files: 2, open_turns: 0 }])
  const [first] = await turns()
  expect(brief(first)).toEqual(['src/auth.ts certain', 'src/new.ts certain'])
  expect(first).toMatchObject({
    machine: expect.any(String),
    baseline: 'at_start',
    outside: ['README.md'],
    prompt: null,
  })
  const there = await server.api('sessions_diff', { id: first.turn_id })
  expect(there.error).toMatchObject({ code: 'UNAVAILABLE', reason: 'turn_on_other_machine' })
  const { diff } = JSON.parse(machine.run('sessions', 'diff', first.turn_id, '--format', 'json').out)
  expect(diff).toContain('+export const auth = 2')

  server.child.kill('SIGKILL')
  await server.ended
  claude.prompt('p2')
  drain()
  claude.edit('src/api.ts', 'export const api = 1\n', 'export const api = 2\n')
  claude.stop('p2')
  drain()
  // It waits on disk.
  expect(readdirSync(hookQueue(machine.environment, machine.folder).events)).not.toEqual([])

  await server.again()
  drain()
  await eventually(async () => sessionsThere()[0].turns === 2 && sessionsThere()[0].open_turns === 0)
  const [, second] = await turns()
  expect(brief(second)).toEqual(['src/api.ts certain'])
  const projectEvents = JSON.stringify(await server.log())
  expect(projectEvents).not.toContain('make it blue')
  expect(projectEvents).not.toContain('t.jsonl')
})

test('of a file that several sessions there wrote, each has its lines, and a late first state is put right by copies', async () => {
  const stage = await openCase()
  const { context } = stage.project
  const record = serverRecorder(
    {
      send: async ({ input }) => {
        await throughMachine(
          context,
          'ingest_remote_events',
          (onMachine) => invoke(ingestRemoteEvents, onMachine, input),
          { input },
        )
      },
    },
    context,
  )
  const drain = () => record(stage.taken())
  const lines = Array.from({ length: 12 }, (_, at) => `line ${at + 1}`)
  const text = () => `${lines.join('\n')}\n`
  stage.write('shared.txt', text())
  const [one, two] = [stage.session('one'), stage.session('two')]
  for (const { start, prompt } of [one, two]) {
    start()
    prompt()
  }
  lines[0] = 'one was here'
  one.edit('shared.txt', text())
  // Only now the first state is recorded.
  await drain()
  lines.push('two a', 'two b', 'two c')
  two.edit('shared.txt', text())
  one.stop()
  two.stop()
  await drain()
  const [own] = await stage.turns('one')
  const [other] = await stage.turns('two')
  expect([own.baseline, own.measurement]).toEqual(['late', 'partial'])
  expect(own.changes).toMatchObject([
    { attribution: 'certain', lines: 'own', added_lines: 1, deleted_lines: 1 },
  ])
  expect(other.changes).toMatchObject([{ attribution: 'certain', added_lines: 3, deleted_lines: 0 }])
  expect(troubles(await stage.project.call('doctor'))).toEqual([])
})

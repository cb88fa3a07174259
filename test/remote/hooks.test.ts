import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRemoteHook } from '../../src/app/remote/hook-remote.ts'
import { connectedPlace } from '../../src/app/remote/remote-project-location.ts'
import { awakeTime } from '../support/awake-time.ts'
import { runProgram } from '../support/program.ts'
import { type AgentMachine, connectedMachine, teamServer } from './machines.ts'

/** What the hook says to the use of a tool: `none` where it says nothing. */
function answerTo(machine: AgentMachine, tool_name: string, tool_input: object) {
  const said = { cwd: machine.folder, hook_event_name: 'PreToolUse', tool_name, tool_input }
  const { out, code } = runProgram(['hook', 'pre-tool-use'], {
    folder: machine.folder,
    environment: machine.environment,
    input: JSON.stringify(said),
  })
  expect(code).toBe(0)
  const { permissionDecision: decision = 'none', permissionDecisionReason: reason = '' } =
    out === '' ? {} : JSON.parse(out).hookSpecificOutput
  return { decision, reason } as { readonly decision: string; readonly reason: string }
}

const decide = (machine: AgentMachine, path: string) =>
  answerTo(machine, 'Write', { file_path: join(machine.folder, path) }).decision

/** The number of attempts in the briefing from the server, with a timeout for slow machines. */
async function judged(machine: AgentMachine, timeout: number): Promise<'nothing' | 'closed' | number> {
  const place = connectedPlace({ environment: machine.environment, workingFolder: machine.folder })
  if (place === null) throw new Error('it is not connected')
  const hook = await openRemoteHook(place, machine.folder, timeout)
  if (hook === null) return 'nothing'
  if (await hook.isClosed()) return 'closed'
  return hook.look(async (answer) => (await answer.briefing()).attempts.length)
}

test('a hook asks the server, and makes no decision where that does not answer in time', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  const mission = await agent.call('start_mission', { name: 'M', objective: 'It works' })
  await agent.call('start_task', { mission_id: mission.mission_id, name: 'A', goal: 'g', areas: ['src/'] })
  expect(await judged(machine, 90_000)).toBe(1)

  // It takes requests, and answers none.
  server.child.kill('SIGSTOP')
  const silent = expect(judged(machine, 100)).resolves.toBe('nothing')
  expect(await awakeTime(silent)).toBeLessThan(5_000)
  expect(decide(machine, 'config/keys.yaml')).toBe('none')
  machine.write('.waymark/server', `${server.address}/p/shop\nhooks: closed\n`)
  expect(decide(machine, 'config/keys.yaml')).toBe('deny')
  expect(await judged(machine, 100)).toBe('closed')
  server.child.kill('SIGKILL')
  await server.ended
  expect(decide(machine, 'config/keys.yaml')).toBe('deny')
})

test('the guard asks before a git command on the machine that has the files, and a loss is restored there only', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  const { task_id } = await agent.call('start_task', { name: 'A', goal: 'g' })
  machine.write('src/auth.ts', 'export const auth = 2\n')
  const bash = (command: string) => answerTo(machine, 'Bash', { command, description: 'Go back' })
  // A server that does not answer in time leaves the hook without an opinion.
  let asked = bash('git checkout -- .')
  const until = Date.now() + 90_000
  while (asked.decision === 'none' && Date.now() < until) asked = bash('git checkout -- .')
  const { decision, reason } = asked
  expect({ decision, names: ['src/auth.ts', task_id].filter((text) => !reason.includes(text)) }).toEqual({
    decision: 'ask',
    names: [],
  })
  expect(bash('git status').decision).toBe('none')
  await agent.call('complete_task', {
    task_id,
    status: 'success',
    outcome: { summary: 'Changed src/auth.ts.' },
  })
  machine.git('checkout', '--', '.')
  expect(await agent.call('start_task', { name: 'B', goal: 'g' })).toMatchObject({
    warnings: [expect.stringContaining('src/auth.ts')],
  })
  const { items } = await server.api('inbox', { kind: 'loss' })
  expect(items).toMatchObject([{ task_id, paths: ['src/auth.ts'] }])
  expect(await server.api('restore', { id: items[0].item_id, yes: true })).toMatchObject({
    error: { code: 'UNAVAILABLE', reason: 'files_on_other_machine' },
  })
  const restore = ['restore', items[0].item_id, '--yes']
  expect(machine.refused(...restore)).toMatchObject({ reason: 'person_needed' })
  const restored = runProgram(restore, {
    folder: machine.folder,
    environment: {
      ...machine.environment,
      WAYMARK_SERVER: server.address,
      WAYMARK_TOKEN: server.newToken('mira', 'person'),
    },
  })
  expect({ code: restored.code, error: restored.error }).toEqual({ code: 0, error: '' })
  expect(readFileSync(join(machine.folder, 'src/auth.ts'), 'utf8')).toBe('export const auth = 2\n')
  expect((await server.api('inbox', { kind: 'loss' })).items).toEqual([])
})

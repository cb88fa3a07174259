import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openRemoteHook } from '../../src/app/remote/hook-remote.ts'
import { connectedPlace } from '../../src/app/remote/remote-project-location.ts'
import { awakeTime } from '../support/awake-time.ts'
import { runProgram } from '../support/program.ts'
import { type AgentMachine, connectedMachine, teamServer } from './machines.ts'

/** What the hook says to an edit of a file: `none` where it says nothing. */
function decide(machine: AgentMachine, path: string): string {
  const said = {
    cwd: machine.folder,
    hook_event_name: 'PreToolUse',
    tool_name: 'Write',
    tool_input: { file_path: join(machine.folder, path) },
  }
  const { out, code } = runProgram(['hook', 'pre-tool-use'], {
    folder: machine.folder,
    environment: machine.environment,
    input: JSON.stringify(said),
  })
  expect(code).toBe(0)
  return out === '' ? 'none' : JSON.parse(out).hookSpecificOutput.permissionDecision
}

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
  expect(await judged(machine, 20_000)).toBe(1)

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

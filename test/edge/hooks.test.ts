import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { eventually } from '../mcp-http/eventually.ts'
import { runProgram } from '../support/program.ts'
import { connectedMachine, type EdgeMachine, teamServer } from './edges.ts'

/** What the hook says to an edit of a file: `none` where it says nothing. */
function decide(machine: EdgeMachine, path: string): string {
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

/** Lets the brief that is kept be so much older. */
function age(machine: EdgeMachine, milliseconds: number): void {
  const database = new Database(join(machine.folder, '.waymark', 'edge.db'))
  database.prepare("update copy set at = at - ? where name like 'brief %'").run(milliseconds)
  database.close()
}

test('case 37: a hook judges by the brief that is kept here, and does not wait for the server', async () => {
  const server = await teamServer()
  const machine = connectedMachine(server, server.newToken('ada'))
  const agent = await machine.connect()
  const mission = await agent.call('start_mission', { name: 'M', objective: 'It works' })
  await agent.call('start_task', { mission_id: mission.mission_id, name: 'A', goal: 'g', areas: ['src/'] })
  await eventually(async () => decide(machine, 'config/keys.yaml') === 'ask')
  expect(decide(machine, 'src/auth.ts')).toBe('none')
  const started = runProgram(['hook', 'session-start'], {
    folder: machine.folder,
    environment: machine.environment,
    input: JSON.stringify({ cwd: machine.folder, hook_event_name: 'SessionStart' }),
  })
  expect(started.out).toContain('Open task')

  server.child.kill('SIGKILL')
  await server.ended
  age(machine, 60_000)
  const began = performance.now()
  expect(decide(machine, 'config/keys.yaml')).toBe('ask')
  expect(decide(machine, 'src/auth.ts')).toBe('none')
  expect(performance.now() - began).toBeLessThan(30_000)

  await agent.close()
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(machine.folder, '.waymark', `edge.db${end}`), { force: true })
  expect(decide(machine, 'config/keys.yaml')).toBe('none')
  machine.write('.waymark/server', `${server.address}/p/shop\nhooks: closed\n`)
  expect(decide(machine, 'config/keys.yaml')).toBe('deny')
})

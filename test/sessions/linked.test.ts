import { expect, test } from 'vitest'
import { capture } from '../../src/sessions/capture/hook/capture-hook.ts'
import { agentMachine } from '../remote/machines.ts'
import type { Answer } from '../support/project.ts'
import { holdIngest } from './captured-project.ts'

test('case 18: a real server links an attempt to the session that the call, or a remote machine, names', async () => {
  const machine = agentMachine()
  const { folder, environment } = machine
  expect(machine.run('init', '--yes')).toMatchObject({ code: 0 })
  machine.run('capture', 'on')
  const tell = (session: string, said: object) => {
    holdIngest(environment, folder)
    const payload = { session_id: session, turn_id: `${session}-1`, cwd: folder, ...said }
    const place = { word: 'codex', environment, workingFolder: folder, at: Date.now(), program: 'none' }
    capture(JSON.stringify(payload), place)
  }
  const agent = await machine.connect()
  const started: Record<string, string> = {}
  const metas: Record<string, Record<string, string>> = {
    thread: { threadId: 'thread' },
    opencode: { 'ai.opencode/sessionID': 'opencode' },
    inherited: { 'waymark/session': 'inherited' },
  }
  for (const [session, meta] of Object.entries(metas)) {
    tell(session, { hook_event_name: 'SessionStart', source: 'startup' })
    tell(session, { hook_event_name: 'UserPromptSubmit', prompt: 'x' })
    const given = { name: session, goal: 'g', areas: ['src'] }
    const result = await agent.client.callTool({ name: 'start_task', arguments: given, _meta: meta })
    started[session] = (result.structuredContent as Answer).attempt_id
  }
  const { sessions } = JSON.parse(machine.run('sessions', '--format', 'json').out)
  const linked = sessions.map(({ session_id: id, client_session: session }: Answer) => {
    const { turns } = JSON.parse(machine.run('sessions', 'show', id, '--all', '--format', 'json').out)
    return [session, turns.map(({ attempts }: Answer) => attempts)]
  })
  expect(Object.fromEntries(linked)).toEqual({
    thread: [[{ attempt_id: started['thread'], link: 'call' }]],
    opencode: [[{ attempt_id: started['opencode'], link: 'call' }]],
    inherited: [[{ attempt_id: started['inherited'], link: 'environment' }]],
  })
})

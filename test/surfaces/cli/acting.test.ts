import { expect, test } from 'vitest'
import { commandLineActor, stdioActor } from '../../../src/app/settings/actor.ts'
import { openCommandLine, startWork } from './command-line.ts'

test('the command line acts as a person, and as an agent in the shell of one', () => {
  const project = openCommandLine()
  const { taskId } = startWork(project)
  const issue = [
    '--type',
    'bug',
    '--description',
    'It breaks',
    '--resolution',
    'Left out',
    '--requires-human-review',
  ]
  const { issue_id: issueId } = project.json('issue', 'log', taskId, ...issue)
  const environment = { CLAUDECODE: '1' }
  const refused = project.runWith({ environment }, 'resolve', issueId, 'Yes')
  expect(refused).toMatchObject({ code: 1, out: '' })
  expect(refused.error).toContain('Only people can call resolve. claude-code is an agent.')
  expect(project.run('resolve', issueId, 'Yes').code).toBe(0)
  const { events } = project.json('log', '--limit', '1')
  expect(events[0]).toMatchObject({ kind: 'inbox.closed', actor_kind: 'person', channel: 'cli' })
})

test('WAYMARK_ACTOR is the name in the record', () => {
  const project = openCommandLine()
  project.runWith({ environment: { WAYMARK_ACTOR: 'Tess' } }, 'mission', 'start', 'M', '--objective', 'x')
  expect(project.json('log').events[0].actor).toBe('Tess')
})

test.each(['CLAUDECODE', 'CURSOR_AGENT', 'CODEX_SANDBOX', 'GEMINI_CLI'])(
  '%s marks the shell of an agent',
  (name) => {
    expect(commandLineActor({ [name]: '1' }, 'tess').kind).toBe('agent')
    expect(commandLineActor({ [name]: '' }, 'tess')).toMatchObject({ kind: 'person', name: 'tess' })
  },
)

test('the role is the connection’s, from WAYMARK_ROLE or STATE_GATE_ROLE', () => {
  expect(commandLineActor({ WAYMARK_ROLE: 'lead', STATE_GATE_ROLE: 'agent' }, 'tess').role).toBe('lead')
  expect(commandLineActor({ STATE_GATE_ROLE: 'agent' }, 'tess').role).toBe('agent')
  expect(commandLineActor({}, 'tess').role).toBeNull()
})

test('a client on standard input is an agent of its own name', () => {
  const stdio = { kind: 'agent', channel: 'stdio' }
  expect(stdioActor({}, 'codex-cli', 'c')).toMatchObject({ ...stdio, name: 'codex-cli' })
  expect(stdioActor({}, undefined, 'c')).toMatchObject({ ...stdio, name: 'agent' })
  expect(stdioActor({ WAYMARK_ACTOR: 'ada' }, 'codex-cli', 'c')).toMatchObject({ ...stdio, name: 'ada' })
})

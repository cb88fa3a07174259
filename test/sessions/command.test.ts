import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { capture } from '../../src/sessions/capture/hook/capture-hook.ts'
import { logFile } from '../../src/sessions/capture/hook-queue.ts'
import { runProgram } from '../support/program.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { captureBin, holdIngest, hookQueue } from './captured-project.ts'

const bundle = join(import.meta.dirname, '..', '..', 'dist', 'waymark-capture.cjs')

test('the program that clients run is one file of at most 24 KiB, of Node’s own parts', () => {
  const text = readFileSync(bundle, 'utf8')
  expect(statSync(bundle).size).toBeLessThanOrEqual(24 * 1024)
  expect(new Set([...text.matchAll(/require\([`'"]([^`'"]+)[`'"]\)/g)].map(([, name]) => name))).toEqual(
    new Set(['node:fs', 'node:path']),
  )
})

test('a person switches capture on and off, and asks how it fares', () => {
  const { run, folder } = openCommandLine()
  const state = join(folder, '.waymark')
  expect(run('capture').out).toContain(`Capture was never on in ${folder}.`)
  expect(run('capture', 'off').out).toContain('was never on')
  expect(existsSync(state)).toBe(false)
  expect(run('capture', 'on').out).toBe(
    `Capture is on in ${folder}.\nOnly the length of prompts is kept.\nOnly the program of commands is kept.\nThe hook queue is empty.\n`,
  )
  expect(existsSync(state)).toBe(false)
  expect(run('capture', 'on', '--prompts', 'local', '--secret', '*.tfstate').out).toContain(
    'Prompts are kept here, redacted.',
  )
  expect(run('capture', 'off').out).toBe(`Capture is off in ${folder}. The recorded sessions stay.\n`)
  // What was chosen before is chosen again.
  expect(run('capture', 'on').out).toContain('Never copied besides the usual secrets: *.tfstate.')
  expect(run('capture', 'status').out).toContain('Prompts are kept here, redacted.')
})

test('what capture does not understand is told with the way on', () => {
  const { run, refused, runWith, home } = openCommandLine()
  expect(run('capture', 'maybe')).toMatchObject({
    code: 2,
    error: expect.stringContaining('capture does not know "maybe".'),
  })
  expect(run('capture', 'on', 'now')).toMatchObject({
    code: 2,
    error: expect.stringContaining('capture does not take now.'),
  })
  expect(run('capture', 'on', '--prompts', 'all')).toMatchObject({
    code: 2,
    error: expect.stringContaining('--prompts cannot be "all": choose off or local.'),
  })
  expect(refused('capture', 'on', '--commands', 'all')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'usage_invalid',
  })
  expect(refused('capture', 'on', '--prompt', 'off')).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'usage_invalid',
  })
  expect(runWith({ folder: home }, 'capture', 'on').error).toContain('No project: ')
})

test('an agent does not switch it', () => {
  const { runWith, folder } = openCommandLine()
  for (const verb of ['on', 'off']) {
    expect(runWith({ environment: { CLAUDECODE: '1' } }, 'capture', verb)).toMatchObject({
      code: 1,
      error: expect.stringContaining(`Ask a person to run: waymark capture ${verb}`),
    })
  }
  expect(existsSync(join(folder, '.waymark'))).toBe(false)
  expect(runWith({ environment: { CLAUDECODE: '1' } }, 'capture', 'status').code).toBe(0)
})

test('where the gate listens too, one process writes down and judges', () => {
  const { run, home, folder, environment } = openCommandLine()
  run('capture', 'on')
  holdIngest({ HOME: home }, folder)
  const said = {
    session_id: 's',
    cwd: folder,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_use_id: 't',
    tool_input: { command: 'ls' },
  }
  const hook = (...words: readonly string[]) =>
    runProgram(['hook', ...words], { folder, environment, input: JSON.stringify(said) })
  expect(hook('pre-tool-use', 'codex')).toEqual({ code: 0, out: '', error: '' })
  expect(run('capture', 'status').out).toContain('1 event in the hook queue')
  const doctor = JSON.parse(run('doctor', '--json').out)
  expect(doctor.checks.find(({ check }: { check: string }) => check === 'capture')).toMatchObject({
    ok: true,
    finding: expect.stringMatching(/^on; 1 event in the hook queue, \d+ kB\.$/),
  })
  expect(hook('pre-tool-use', 'codex', 'more').error).toContain('There is no hook')
  writeFileSync(
    logFile(hookQueue({ HOME: home }, folder)),
    '2026-11-22T10:00:00.000Z hook claude Stop: EACCES\n',
  )
  expect(
    JSON.parse(run('doctor', '--json').out).checks.find(
      ({ check }: { check: string }) => check === 'capture',
    ),
  ).toMatchObject({ ok: false, finding: expect.stringContaining('1 failure in ') })
})

test('a turn says why a file is only probably its own, and where an id of a session belongs', () => {
  const { run, refused, json, home, folder, environment, write } = openCommandLine()
  run('capture', 'on')
  const tell = (name: string, more: object = {}) => {
    holdIngest({ HOME: home }, folder)
    const said = { session_id: 's', cwd: folder, hook_event_name: name, ...more }
    const place = { word: 'claude', environment, workingFolder: folder, at: Date.now(), program: 'none' }
    capture(JSON.stringify(said), place)
  }
  tell('SessionStart', { source: 'startup' })
  tell('UserPromptSubmit', { prompt: 'x' })
  json('sessions')
  const bash = { tool_name: 'Bash', tool_use_id: 't', tool_input: { command: 'make' } }
  tell('PreToolUse', bash)
  write('made.txt', 'by make\n')
  tell('PostToolUse', { ...bash, tool_response: {} })
  tell('Stop')
  const [session] = json('sessions').sessions
  const id: string = session.session_id
  const shown = run('sessions', 'show', id, '--format', 'text').out
  expect(shown).toContain('(measured in part)')
  expect(shown).toContain(
    'Probable, because no edit tool reported it: made.txt. A command of the turn wrote it',
  )
  const [turn] = json('sessions', 'show', id).turns
  expect(run('sessions', 'diff', id)).toMatchObject({
    code: 2,
    error: `waymark: ${id} is a session. Only a turn has a diff.\nUse one of its turns: waymark sessions diff ${turn.turn_id} (it has ${turn.turn_id})\n`,
  })
  for (const command of ['show', 'diff', 'changes']) {
    expect(run(command, turn.turn_id)).toMatchObject({
      code: 1,
      error: `waymark: ${turn.turn_id} is a turn, not a task or mission.\nwaymark sessions show ${turn.turn_id} shows it, waymark sessions diff ${turn.turn_id} its lines.\n`,
    })
  }
  expect(refused('show', id)).toMatchObject({ code: 'NOT_FOUND', reason: 'captured_id' })
})

test('to a person the program of the hooks says what it is, and to a client nothing', () => {
  const { folder, environment } = openCommandLine()
  const said = (...words: readonly string[]) =>
    spawnSync(process.execPath, [captureBin, ...words], {
      cwd: folder,
      env: { ...environment },
      input: '{}',
      encoding: 'utf8',
    })
  expect(said('--help').stdout).toBe(
    'Clients run this as a hook, to record their sessions. waymark setup <client> --hooks sets it up.\n',
  )
  const silent = said('claude', 'Stop')
  expect([silent.status, `${silent.stdout}${silent.stderr}`]).toEqual([0, ''])
})

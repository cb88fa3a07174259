import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { isDraining, takeDrainLock } from '../../src/capture/drain-lock.ts'
import { eventName } from '../../src/capture/event.ts'
import { drainNow, drainUntilQuiet, type FollowHost, followSpool } from '../../src/capture/follow-spool.ts'
import { capture } from '../../src/capture/hook/capture-hook.ts'
import type { Moment } from '../../src/domain/capture/moment.ts'
import { Failure } from '../../src/domain/failure.ts'
import { processStart } from '../../src/main/process.ts'
import { openCommandLine } from '../cli/command-line.ts'
import { longestAllowed, longestTurn } from '../support/longest-turn.ts'
import { runAlone } from '../support/program.ts'
import { type CapturedFolder, captureBin, openCaptured } from './captured-project.ts'

function prompt(project: CapturedFolder, prompt_id: string) {
  project.tell('claude', {
    session_id: 's',
    cwd: project.folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'x',
    prompt_id,
  })
}

function followed(project: CapturedFolder): { readonly host: FollowHost; readonly turns: string[] } {
  const turns: string[] = []
  const record = async (moments: readonly Moment[]) =>
    void turns.push(...moments.map(({ turn }) => turn ?? ''))
  return { host: { root: project.folder, environment: { HOME: project.home }, record, processStart }, turns }
}

async function until(isThere: () => boolean): Promise<void> {
  await expect.poll(isThere, { timeout: 30_000 }).toBe(true)
}

test('a server follows the spool, and of two one drains until it ends', async () => {
  const project = openCaptured()
  const one = followed(project)
  const two = followed(project)
  prompt(project, 'p1')
  const stop = followSpool(one.host)
  onTestFinished(stop)
  await until(() => one.turns.length === 1)
  expect(isDraining(project.folder, processStart)).toBe(true)
  expect(takeDrainLock(project.folder, processStart)).toBeNull()
  const again = followSpool(two.host)
  onTestFinished(again)
  // The test's own lock file must not be put in the way of a real one.
  const spool = join(project.folder, '.waymark', 'spool')
  const text = JSON.stringify({
    session_id: 's',
    cwd: project.folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'y',
    prompt_id: 'p2',
  })
  const place = {
    word: 'claude',
    environment: {},
    workingFolder: project.folder,
    at: Date.now(),
    program: '/none',
  }
  capture(text, place)
  await until(() => one.turns.length === 2)
  await stop()
  capture(text.replaceAll('p2', 'p3'), { ...place, at: Date.now() })
  await until(() => two.turns.length === 1)
  await again()
  expect([one.turns, two.turns]).toEqual([['p1', 'p2'], ['p3']])
  expect(isDraining(project.folder, processStart)).toBe(false)
  expect(readdirSync(spool).filter((name) => name.endsWith('.json'))).toEqual(['drained.json'])
})

test('the lock of a process that is gone is taken over, also where its number is another process’s now', () => {
  const { folder } = openCaptured()
  const file = join(folder, '.waymark', 'drain.lock')
  for (const left of [
    { pid: 2 ** 22 + 1, started: 'x' },
    { pid: process.pid, started: 'another one' },
    'not json',
  ]) {
    writeFileSync(file, JSON.stringify(left))
    const lock = takeDrainLock(folder, processStart)
    expect(lock).not.toBeNull()
    expect(JSON.parse(readFileSync(file, 'utf8')).pid).toBe(process.pid)
    lock?.release()
    expect(isDraining(folder, processStart)).toBe(false)
  }
})

test('where the system tells no beginning of a process, a lock that nobody touches is taken over', () => {
  const { folder } = openCaptured()
  const file = join(folder, '.waymark', 'drain.lock')
  const notTold = () => 'unknown'
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'unknown' }))
  expect(takeDrainLock(folder, notTold)).toBeNull()
  const before = Date.now() / 1000 - 120
  utimesSync(file, before, before)
  expect(takeDrainLock(folder, notTold)).not.toBeNull()
})

test('a drain that was started ends when nothing comes any more', async () => {
  const project = openCaptured()
  const { host, turns } = followed(project)
  prompt(project, 'p1')
  expect(await drainUntilQuiet(host, 300)).toBe(true)
  expect(turns).toEqual(['p1'])
  expect(isDraining(project.folder, processStart)).toBe(false)
})

test('what cannot be recorded is one line of the log, and does not stop who asks', async () => {
  const project = openCaptured()
  const { host } = followed(project)
  const locked = async () => {
    throw new Failure('UNAVAILABLE', 'The database is locked.')
  }
  prompt(project, 'p1')
  await drainNow({ ...host, record: locked })
  await drainNow({ ...host, record: locked })
  expect(project.events()).toHaveLength(1)
  expect(project.log()).toMatch(/drain: The database is locked\.\n/)
  const { turns, host: working } = followed(project)
  await drainNow(working)
  expect(turns).toEqual(['p1'])
})

test('a server goes on answering while a hundred events are read', async () => {
  const project = openCaptured()
  const { host } = followed(project)
  const fill = () => {
    for (let n = 0; n < 50; n += 1) {
      const tool = {
        session_id: 's',
        cwd: project.folder,
        tool_name: 'Write',
        tool_use_id: `${Math.random()}`,
        tool_input: { file_path: `src/${n}.ts`, content: 'x\n' },
      }
      project.tell('claude', { ...tool, hook_event_name: 'PreToolUse' })
      project.write(`src/${n}.ts`, 'x\n')
      project.tell('claude', { ...tool, hook_event_name: 'PostToolUse', tool_response: {} })
    }
  }
  fill()
  const turn = await longestTurn(async () => {
    if (project.events().length === 0) return
    await drainNow(host)
  })
  expect(project.events()).toHaveLength(0)
  expect(turn).toBeLessThanOrEqual(longestAllowed)
})

test('three turns that no server saw are there as soon as somebody asks', () => {
  const { run, folder, write, json } = openCommandLine()
  run('capture', 'on')
  const tell = (said: object) => {
    writeFileSync(join(folder, '.waymark', 'drain.lock'), 'a test')
    const text = JSON.stringify({ session_id: 's', cwd: folder, ...said })
    capture(text, {
      word: 'claude',
      environment: {},
      workingFolder: folder,
      at: Date.now(),
      program: '/none',
    })
  }
  tell({ hook_event_name: 'SessionStart', source: 'startup' })
  for (const n of [1, 2, 3]) {
    tell({ hook_event_name: 'UserPromptSubmit', prompt: 'x', prompt_id: `p${n}` })
    const tool_input = { file_path: `src/new${n}.ts`, content: `export const n = ${n}\n` }
    const call = { tool_name: 'Write', tool_use_id: `t${n}`, prompt_id: `p${n}`, tool_input }
    tell({ hook_event_name: 'PreToolUse', ...call })
    write(`src/new${n}.ts`, tool_input.content)
    tell({ hook_event_name: 'PostToolUse', ...call, tool_response: {} })
    tell({ hook_event_name: 'Stop', prompt_id: `p${n}` })
  }
  expect(run('capture', 'status').out).toContain('13 events wait')
  json('status')
  expect(run('capture', 'status').out).toContain('Nothing waits to be recorded.')
  const database = new Database(join(folder, '.waymark', 'waymark.db'), { readonly: true })
  onTestFinished(() => void database.close())
  const kinds = database.prepare('select kind, count(*) as n from fact group by kind').all()
  expect(kinds).toEqual(expect.arrayContaining([expect.objectContaining({ kind: 'session.opened', n: 1 })]))
  expect(run('drain', '--once')).toEqual({ code: 0, out: '', error: '' })
  expect(run('drain', 'now').error).toContain('drain does not take now.')
  expect(run('doctor').out).not.toContain('not what the facts make')
})

test('a hook starts a drain where nothing drains, and the drain outlives it', async () => {
  const { run, folder, environment } = openCommandLine()
  run('capture', 'on')
  const said = {
    session_id: 's',
    cwd: folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'x',
    prompt_id: 'p1',
  }
  const started = runAlone([captureBin, 'claude', 'UserPromptSubmit'], {
    folder,
    environment,
    input: JSON.stringify(said),
  })
  expect(started).toEqual({ code: 0, out: '', error: '' })
  const lock = join(folder, '.waymark', 'drain.lock')
  await until(() => existsSync(lock))
  const { pid } = JSON.parse(readFileSync(lock, 'utf8'))
  onTestFinished(() => {
    // When nothing came for half a minute it has ended by itself.
    if (processStart(pid) !== null) process.kill(pid, 'SIGKILL')
  })
  const spool = join(folder, '.waymark', 'spool')
  await until(() => readdirSync(spool).every((name) => !eventName.test(name)))
  expect(run('doctor', '--json').out).toContain('on; 0 events in the spool')
})

test('a record that cannot be opened keeps the events, and a hook does not notice', () => {
  const { run, folder, environment } = openCommandLine()
  run('capture', 'on')
  writeFileSync(join(folder, '.waymark', 'waymark.db'), 'this is no database of ours')
  writeFileSync(join(folder, '.waymark', 'drain.lock'), 'a test')
  const said = {
    session_id: 's',
    cwd: folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'x',
    prompt_id: 'p1',
  }
  const told = runAlone([captureBin, 'copilot', 'UserPromptSubmit'], {
    folder,
    environment,
    input: JSON.stringify(said),
  })
  expect(told).toEqual({ code: 0, out: '', error: '' })
  expect(run('drain', '--once')).toEqual({ code: 0, out: '', error: '' })
  const { out } = run('capture', 'status')
  expect(out).toContain('1 event waits to be recorded')
  expect(out).toContain('1 failure in .waymark/capture.log')
})

import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { processStart } from '../../src/app/process.ts'
import { Failure } from '../../src/kernel/failure.ts'
import {
  type FollowHost,
  followQueues,
  ingestNow,
  ingestUntilQuiet,
} from '../../src/sessions/capture/follow-queue.ts'
import { captureHealth } from '../../src/sessions/capture/health.ts'
import { capture } from '../../src/sessions/capture/hook/capture-hook.ts'
import { isIngesting, takeIngestLock } from '../../src/sessions/capture/ingest-lock.ts'
import { eventName } from '../../src/sessions/capture/queued-event.ts'
import type { HookEvent } from '../../src/sessions/domain/hook-event.ts'
import { maxAllowedLength, maxTurnMs } from '../support/longest-turn.ts'
import { runAlone } from '../support/program.ts'
import { openCommandLine } from '../surfaces/cli/command-line.ts'
import { type CapturedFolder, captureBin, holdIngest, hookQueue, openCaptured } from './captured-project.ts'

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
  const record = async (hookEvents: readonly HookEvent[]) =>
    void turns.push(...hookEvents.map(({ turn }) => turn ?? ''))
  return { host: { root: project.folder, environment: { HOME: project.home }, record, processStart }, turns }
}

async function until(isThere: () => boolean): Promise<void> {
  await expect.poll(isThere, { timeout: 30_000 }).toBe(true)
}

test('a server follows the hook queue, and of two one ingests until it ends', async () => {
  const project = openCaptured()
  const one = followed(project)
  const two = followed(project)
  prompt(project, 'p1')
  const stop = followQueues(one.host)
  onTestFinished(stop)
  await until(() => one.turns.length === 1)
  expect(isIngesting(project.queue, processStart)).toBe(true)
  expect(takeIngestLock(project.queue, processStart)).toBeNull()
  const again = followQueues(two.host)
  onTestFinished(again)
  // The test's own lock file must not be put in the way of a real one.
  const text = JSON.stringify({
    session_id: 's',
    cwd: project.folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'y',
    prompt_id: 'p2',
  })
  const place = {
    word: 'claude',
    environment: { HOME: project.home },
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
  expect(isIngesting(project.queue, processStart)).toBe(false)
  expect(project.events()).toEqual([])
})

test('the lock of a process that is gone is taken over, also where its number is another process’s now', () => {
  const { queue } = openCaptured()
  const file = join(queue.folder, 'ingest.lock')
  for (const left of [
    { pid: 2 ** 22 + 1, started: 'x' },
    { pid: process.pid, started: 'another one' },
    'not json',
  ]) {
    writeFileSync(file, JSON.stringify(left))
    const lock = takeIngestLock(queue, processStart)
    expect(lock).not.toBeNull()
    expect(JSON.parse(readFileSync(file, 'utf8')).pid).toBe(process.pid)
    lock?.release()
    expect(isIngesting(queue, processStart)).toBe(false)
  }
})

test('where the system tells no beginning of a process, a lock that nobody touches is taken over', () => {
  const { queue } = openCaptured()
  const file = join(queue.folder, 'ingest.lock')
  const notTold = () => 'unknown'
  writeFileSync(file, JSON.stringify({ pid: process.pid, started: 'unknown' }))
  expect(takeIngestLock(queue, notTold)).toBeNull()
  const before = Date.now() / 1000 - 120
  utimesSync(file, before, before)
  expect(takeIngestLock(queue, notTold)).not.toBeNull()
})

test('an ingest that was started ends when nothing comes any more', async () => {
  const project = openCaptured()
  const { host, turns } = followed(project)
  prompt(project, 'p1')
  expect(await ingestUntilQuiet(host, 300)).toBe(true)
  expect(turns).toEqual(['p1'])
  expect(isIngesting(project.queue, processStart)).toBe(false)
})

test('an ingest whose store stays down ends as well, and leaves the events', async () => {
  const project = openCaptured()
  const { host } = followed(project)
  const record = async () => {
    throw new Failure('UNAVAILABLE', 'The server cannot be reached.')
  }
  prompt(project, 'p1')
  expect(await ingestUntilQuiet({ ...host, record }, 300)).toBe(true)
  expect(project.events()).toHaveLength(1)
  expect(project.log()).toMatch(/ingest: The server cannot be reached\.\n$/)
})

test('what another process could not delete counts as read, and nothing waits for it', async () => {
  const project = openCaptured()
  const { host, turns } = followed(project)
  prompt(project, 'p1')
  writeFileSync(
    join(project.queue.folder, 'ingested.json'),
    JSON.stringify({ undeletable: project.events() }),
  )
  expect(captureHealth(project.folder, { HOME: project.home })).toMatchObject({ waiting: 0 })
  await ingestNow(host)
  expect(turns).toEqual([])
})

test('what cannot be recorded is one line of the log, and does not stop who asks', async () => {
  const project = openCaptured()
  const { host } = followed(project)
  const locked = async () => {
    throw new Failure('UNAVAILABLE', 'The database is locked.')
  }
  prompt(project, 'p1')
  await ingestNow({ ...host, record: locked })
  await ingestNow({ ...host, record: locked })
  expect(project.events()).toHaveLength(1)
  expect(project.log()).toMatch(/ingest: The database is locked\.\n/)
  const { turns, host: working } = followed(project)
  await ingestNow(working)
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
  const turn = await maxTurnMs(async () => {
    if (project.events().length === 0) return
    await ingestNow(host)
  })
  expect(project.events()).toHaveLength(0)
  expect(turn).toBeLessThanOrEqual(maxAllowedLength)
})

test('three turns that no server saw are there as soon as somebody asks', () => {
  const { run, refused, home, folder, write, json } = openCommandLine()
  run('capture', 'on')
  const tell = (said: object) => {
    holdIngest({ HOME: home }, folder)
    const text = JSON.stringify({ session_id: 's', cwd: folder, ...said })
    capture(text, {
      word: 'claude',
      environment: { HOME: home },
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
  expect(run('capture', 'status').out).toContain('13 events in the hook queue')
  json('status')
  expect(run('capture', 'status').out).toContain('The hook queue is empty.')
  const database = new Database(join(folder, '.waymark', 'waymark.db'), { readonly: true })
  onTestFinished(() => void database.close())
  const kinds = database.prepare('select kind, count(*) as n from project_event group by kind').all()
  expect(kinds).toEqual(expect.arrayContaining([expect.objectContaining({ kind: 'session.opened', n: 1 })]))
  expect(run('ingest', '--once')).toEqual({ code: 0, out: '', error: '' })
  expect(refused('ingest', 'now')).toMatchObject({ code: 'INVALID_INPUT', reason: 'usage_invalid' })
  expect(run('doctor').out).not.toContain('not match the log')
})

test('a hook starts an ingest where nothing ingests, and that outlives it', async () => {
  const { run, home, folder, environment } = openCommandLine()
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
  const queue = hookQueue({ HOME: home }, folder)
  const lock = join(queue.folder, 'ingest.lock')
  await until(() => existsSync(lock))
  const { pid } = JSON.parse(readFileSync(lock, 'utf8'))
  onTestFinished(() => {
    // When nothing came for half a minute it has ended by itself.
    if (processStart(pid) !== null) process.kill(pid, 'SIGKILL')
  })
  await until(() => readdirSync(queue.events).every((name) => !eventName.test(name)))
  expect(run('doctor', '--json').out).toContain('on; 0 events in the hook queue')
})

test('a record that cannot be opened keeps the events, and a hook does not notice', () => {
  const { run, home, folder, environment } = openCommandLine()
  run('capture', 'on')
  mkdirSync(join(folder, '.waymark'))
  writeFileSync(join(folder, '.waymark', 'waymark.db'), 'this is no database of ours')
  holdIngest({ HOME: home }, folder)
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
  expect(run('ingest', '--once')).toEqual({ code: 0, out: '', error: '' })
  const { out } = run('capture', 'status')
  expect(out).toContain('1 event in the hook queue')
  expect(out).toContain('1 failure in ')
})

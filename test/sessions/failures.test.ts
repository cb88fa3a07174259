import { execFileSync } from 'node:child_process'
import fs, {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { Failure } from '../../src/kernel/failure.ts'
import { captureHealth } from '../../src/sessions/capture/health.ts'
import { logFile } from '../../src/sessions/capture/hook-queue.ts'
import { forgetOldEvents, type IngestHost, ingestQueue } from '../../src/sessions/capture/ingest.ts'
import type { HookEvent } from '../../src/sessions/domain/hook-event.ts'
import { type CapturedFolder, inWords, openCaptured } from './captured-project.ts'

function prompt(project: CapturedFolder, n: number, session = 's') {
  project.tell('claude', {
    session_id: session,
    cwd: project.folder,
    hook_event_name: 'UserPromptSubmit',
    prompt: 'x'.repeat(n),
    prompt_id: `p${n}`,
  })
}

function edit(project: CapturedFolder, call: string, content: string, session = 's') {
  const tool = {
    session_id: session,
    cwd: project.folder,
    tool_name: 'Write',
    tool_use_id: call,
    tool_input: { file_path: 'src/app.ts', content },
  }
  project.tell('claude', { ...tool, hook_event_name: 'PreToolUse' })
  project.write('src/app.ts', content)
  project.tell('claude', { ...tool, hook_event_name: 'PostToolUse', tool_response: {} })
}

test.each(['claude', 'copilot'])(
  'a folder that cannot be written to ends the hook of %s with 0 and nothing said',
  (client) => {
    const project = openCaptured()
    const said = {
      session_id: 's',
      cwd: project.folder,
      hook_event_name: 'PreToolUse',
      tool_name: 'Bash',
      tool_input: { command: 'ls' },
    }
    const { events, folder } = project.queue
    // Root may write where nobody may: a file in the place of the folder stops everybody.
    writeFileSync(events, 'a file where the folder should be')
    const quiet = { code: 0, out: '', error: '' }
    expect(project.run(client, said)).toEqual(quiet)
    expect(readFileSync(events, 'utf8')).toBe('a file where the folder should be')
    rmSync(events)
    writeFileSync(join(folder, 'capture.json'), '{ not json')
    expect(project.run(client, said)).toEqual(quiet)
    rmSync(folder, { recursive: true })
    expect(project.run(client, { ...said, cwd: '/nowhere/at/all' })).toEqual(quiet)
    expect(existsSync(events)).toBe(false)
  },
)

test('a failure of a hook is one line of a log that does not grow for ever', () => {
  const project = openCaptured()
  writeFileSync(project.queue.events, 'in the way')
  prompt(project, 1)
  expect(project.log().split('\n')).toHaveLength(2)
  expect(project.log()).toMatch(/^\d{4}-\S+Z hook claude UserPromptSubmit: \S.*\n$/)
  writeFileSync(logFile(project.queue), `${'x'.repeat(300 * 1024)}\n`)
  prompt(project, 2)
  expect(project.log().length).toBeLessThan(257 * 1024)
  expect(project.log()).toContain('hook claude UserPromptSubmit')
  expect(captureHealth(project.folder, { HOME: project.home })?.failures).toBe(2)
})

test('while the record cannot be written the events wait, and then each is recorded once', async () => {
  const project = openCaptured()
  prompt(project, 1)
  edit(project, 'c1', 'one\n')
  const locked = async () => {
    throw new Failure('UNAVAILABLE', 'The database is locked.')
  }
  await expect(ingestQueue(project.queue, { record: locked })).rejects.toThrow('The database is locked.')
  expect(project.events()).toHaveLength(3)
  expect(project.copies()).toHaveLength(1)
  expect((await project.drain()).map((hookEvent) => inWords(hookEvent, project.folder))).toEqual([
    'prompted: 1 in p1',
    'edit began: Write src/app.ts, absent',
    'edit ended: Write src/app.ts, explained',
  ])
  expect(await project.drain()).toEqual([])
})

test('what the record cannot take is left out, with a line, and keeps nothing else waiting', async () => {
  const project = openCaptured()
  for (const n of [1, 2, 3]) prompt(project, n)
  const recorded: HookEvent[] = []
  await ingestQueue(project.queue, {
    record: async (hookEvents) => {
      if (hookEvents.some(({ turn }) => turn === 'p2')) throw new Error('a bug')
      recorded.push(...hookEvents)
    },
  })
  expect(recorded.map(({ turn }) => turn)).toEqual(['p1', 'p3'])
  expect(project.log()).toContain('could not be recorded: a bug')
})

test('an ingest that is killed at any step loses nothing, and what comes twice has the same key', async () => {
  const project = openCaptured()
  const expected: string[] = []
  const recorded = new Map<string, HookEvent>()
  for (let round = 0; round < 4; round += 1) {
    prompt(project, round + 1)
    edit(project, `c${round}`, `${round}\n`)
    expected.push(`prompted: ${round + 1} in p${round + 1}`, 'edit began', 'edit ended')
    // Before the record, in the middle of it, after it and before the events are removed, not at all.
    const kept = project.events().map((name) => join(project.queue.events, name))
    const state = join(project.queue.folder, 'ingested.json')
    const files = [...kept, ...(existsSync(state) ? [state] : []), ...project.copies()]
    const contents = files.map((file) => [file, readFileSync(file)] as const)
    const record: IngestHost['record'] = async (hookEvents) => {
      if (round === 0) throw new Failure('UNAVAILABLE', 'killed before')
      for (const hookEvent of hookEvents) recorded.set(hookEvent.key, hookEvent)
      if (round === 1) throw new Failure('UNAVAILABLE', 'killed after')
    }
    await ingestQueue(project.queue, { record }).catch(() => undefined)
    if (round === 2) for (const [file, content] of contents) writeFileSync(file, content)
  }
  await ingestQueue(project.queue, {
    record: async (hookEvents) => void hookEvents.map((hookEvent) => recorded.set(hookEvent.key, hookEvent)),
  })
  const told = [...recorded.values()]
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map((hookEvent) => inWords(hookEvent))
  expect(told.map((words) => words.replace(/^(edit \w+):.*/, '$1'))).toEqual(expected)
})

test('over its limit the queue drops the oldest copies, then the oldest events, and reports them', async () => {
  const project = openCaptured()
  for (let n = 0; n < 6; n += 1) edit(project, `c${n}`, String(n).repeat(100_000))
  const record = async () => {
    throw new Failure('UNAVAILABLE', 'not now')
  }
  expect(project.copies()).toHaveLength(11)
  await ingestQueue(project.queue, { record }, { bytes: 1_300_000, events: 20_000 }).catch(() => undefined)
  expect(project.events()).toHaveLength(12)
  const left = project.copies().length
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(11)
  await ingestQueue(project.queue, { record }, { bytes: 64_000_000, events: 4 }).catch(() => undefined)
  const hookEvents = await project.drain()
  const lost = hookEvents.flatMap(({ what }) => (what.kind === 'lost' ? [what] : []))
  expect(lost.find(({ why }) => why === 'the hook queue was full')?.count).toBe(8)
  expect(hookEvents.filter(({ what }) => what.kind === 'edit_ended')).toHaveLength(2)
})

test('what nothing recorded for 7 days is told as lost', async () => {
  const project = openCaptured()
  prompt(project, 1)
  const [name = ''] = project.events()
  const old = `${Date.now() - 8 * 86_400_000}-1-0001.json`
  writeFileSync(join(project.queue.events, old), readFileSync(join(project.queue.events, name)))
  forgetOldEvents(project.queue)
  const hookEvents = await project.drain()
  expect(hookEvents.map((hookEvent) => inWords(hookEvent))).toEqual([
    'prompted: 1 in p1',
    'lost: 1, nothing could record them for 7 days in p1',
  ])
})

test('an event that cannot be deleted is recorded once, and keeps no other waiting', async () => {
  const project = openCaptured()
  prompt(project, 1)
  const { events, folder } = project.queue
  const [stuck = ''] = project.events()
  const recorded: string[] = []
  const record: IngestHost['record'] = async (hookEvents) => {
    recorded.push(...hookEvents.map(({ turn }) => turn ?? ''))
  }
  const real = fs.unlinkSync
  const undeletable = vi.spyOn(fs, 'unlinkSync').mockImplementation((path) => {
    // It is deleted through its folder, held open.
    if (fs.existsSync(path) && fs.realpathSync(path) === join(events, stuck))
      throw Object.assign(new Error('not permitted'), { code: 'EPERM' })
    return real(path)
  })
  syncBuiltinESMExports()
  onTestFinished(() => {
    undeletable.mockRestore()
    syncBuiltinESMExports()
  })
  await ingestQueue(project.queue, { record })
  prompt(project, 2)
  await ingestQueue(project.queue, { record })
  expect(recorded).toEqual(['p1', 'p2'])
  expect(project.events()).toEqual([stuck])
  expect(project.log().match(/cannot be deleted \(EPERM\)/g)).toHaveLength(1)
  expect(captureHealth(project.folder, { HOME: project.home })).toMatchObject({ waiting: 0, failures: 1 })
  // The next process knows it too.
  expect(JSON.parse(readFileSync(join(folder, 'ingested.json'), 'utf8')).undeletable).toEqual([stuck])
})

test('an event that the server refuses keeps no other waiting; where it refuses all of them, all wait', async () => {
  const project = openCaptured()
  for (const n of [1, 2, 3]) prompt(project, n)
  const recorded: string[] = []
  const refusing = (code: 'INVALID_INPUT' | 'FORBIDDEN', turns: readonly string[]): IngestHost['record'] => {
    return async (hookEvents) => {
      if (hookEvents.some(({ turn }) => turns.includes(turn ?? '')))
        throw new Failure(code, 'It is not taken.')
      recorded.push(...hookEvents.map(({ turn }) => turn ?? ''))
    }
  }
  const all = refusing('FORBIDDEN', ['p1', 'p2', 'p3'])
  await expect(ingestQueue(project.queue, { record: all })).rejects.toThrow('It is not taken.')
  expect(project.events()).toHaveLength(3)
  await ingestQueue(project.queue, { record: refusing('INVALID_INPUT', ['p2']) })
  expect(recorded).toEqual(['p1', 'p3'])
  expect(project.events()).toEqual([])
  expect(project.log()).toContain('could not be recorded: It is not taken.')
})

test('a folder, a link or a pipe with the name of an event is no event and is removed', async () => {
  const project = openCaptured()
  const { events } = project.queue
  mkdirSync(join(events, '1795342800000-1-0001.json', 'deep'), { recursive: true })
  writeFileSync(join(project.home, 'mine'), '{}')
  symlinkSync(join(project.home, 'mine'), join(events, '1795342800000-1-0002.json'))
  execFileSync('mkfifo', [join(events, '1795342800000-1-0003.json')])
  prompt(project, 1)
  expect((await project.drain()).map((hookEvent) => inWords(hookEvent))).toEqual(['prompted: 1 in p1'])
  expect(project.events()).toEqual([])
  expect(readFileSync(join(project.home, 'mine'), 'utf8')).toBe('{}')
})

test('copies go when their turn is over, and after a day whatever happens', async () => {
  const project = openCaptured()
  const stop = () => project.tell('claude', { session_id: 's', cwd: project.folder, hook_event_name: 'Stop' })
  edit(project, 'c1', 'one\n')
  await project.drain()
  expect(project.copies()).toHaveLength(1)
  edit(project, 'c2', 'two\n')
  stop()
  await project.drain()
  expect(project.copies()).toEqual([])
  edit(project, 'c3', 'three\n')
  await project.drain()
  // Their names begin with the time at which they were made.
  const made = (hours: number) => `/${Date.now() - hours * 3_600_000}-`
  for (const copy of project.copies()) renameSync(copy, copy.replace(/\/\d{13}-/, made(23)))
  await project.drain()
  expect(project.copies()).toHaveLength(2)
  for (const copy of project.copies()) renameSync(copy, copy.replace(/\/\d{13}-/, made(25)))
  await project.drain()
  expect(project.copies()).toEqual([])
})

test('a file that is no event is left out, and counted', async () => {
  const project = openCaptured()
  mkdirSync(project.queue.events)
  writeFileSync(join(project.queue.events, '1795342800000-1-0001.json'), 'not json')
  writeFileSync(join(project.queue.events, '1795342800000-1-0002.json'), '{"v":1,"kind":"prompted"}')
  project.tell('claude', { session_id: 's', cwd: project.folder, hook_event_name: 'SomethingNew' })
  expect(await project.drain()).toEqual([])
  expect(project.log()).toContain('2 files that are no events, 1 event of an unknown kind')
  expect(captureHealth(project.folder, { HOME: project.home })).toMatchObject({ waiting: 0, failures: 0 })
})

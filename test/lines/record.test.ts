import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { catalog } from '../../src/kernel/operations/catalog.ts'
import { invoke } from '../../src/kernel/operations/invoke.ts'
import { why } from '../../src/lines/cli/provenance.ts'
import { driving, writeProcess } from '../gate/runs/run.ts'
import { openStage } from '../sessions/driver.ts'
import { amount, soakTest } from '../support/amount.ts'
import { isPostgresLeftOut, sharedPostgres } from '../support/postgres/database.ts'
import { type Answer, person, troubles } from '../support/project.ts'
import { lines, openStory } from './story.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)

async function logOf(s: Awaited<ReturnType<typeof openStory>>): Promise<string> {
  const events = await s.context.store.view(({ eventLog: log }) => log.since(0, 1000))
  return JSON.stringify(events)
}

test('no text of a line is in the log, and none of secret-like or ignored files at all', async () => {
  const s = await openStory()
  s.write('.gitignore', 'private/\n')
  s.commit()
  await s.attempt('a1', () => {
    s.put('f', ['the marked word is xylophone'])
    s.write('.env', 'KEY=sesame-open-now\n')
    s.write('server.pem', 'sesame of a certificate\n')
    s.write('private/notes', 'ignored words\n')
  })
  const log = await logOf(s)
  expect(log).not.toMatch(/xylophone|sesame/)
  const events = await s.context.store.view(({ eventLog: log }) => log.since(0, 1000))
  const recorded = events.flatMap(({ body }) => (body.kind === 'lines.recorded' ? body.span.steps : []))
  expect(recorded.map(({ path }) => path)).toEqual(['f'])
})

test('lines: off records nothing', async () => {
  const s = await openStory()
  await s.call('setting_set', { name: 'lines', value: 'off' }, { actor: person })
  await s.attempt('a1', () => s.put('f', x(1)))
  expect(await logOf(s)).not.toContain('lines.recorded')
  expect(await s.owners('f')).toEqual({ x1: 'uncommitted' })
})

test('the tables are what a replay of the log entries makes of them, and the log says nothing of lines', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  await s.attempt('a2', () => {
    s.take('f', 'x')
    s.put('g', x(1, 2, 3))
  })
  expect(troubles(await s.call('doctor'))).toEqual([])
  expect(JSON.stringify(await s.call('log', {}))).not.toContain('whose lines')
})

test('asked twice, the answer is the same', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  s.put('f', lines('p', 1))
  s.commit()
  const asked = async () => JSON.stringify(await s.call('blame', { file: 'f' }))
  expect(await asked()).toBe(await asked())
})

soakTest.skipIf(isPostgresLeftOut)('on PostgreSQL as on SQLite', async () => {
  const url = await sharedPostgres()
  const told = []
  for (const options of [{}, { postgres: url }]) {
    const s = await openStory({ ...options, isOnMachine: false })
    await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
    s.commit()
    await s.attempt('a2', () => s.swap('f', 'x2', 'another second line'))
    s.put('f', lines('p', 1), 'base line one')
    s.commit()
    told.push(await s.whose('f'))
  }
  expect(told[0]).toEqual(told[1])
})

test('from a remote machine come hashes, and the same owners', async () => {
  const s = await openStory({ isOnMachine: true })
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  const { ranges, text } = await s.call('blame', { file: 'f' })
  expect(text).toBeUndefined()
  expect(ranges.at(-1)).toMatchObject({ agent: 'a1', start: 5, end: 7 })
})

test('why a line is there: the task, its decision and what was refused, its commit', async () => {
  const s = await openStory()
  const started = await s.begin('a1')
  await s.call('log_decision', {
    task_id: started.task_id,
    category: 'architecture',
    question: 'Which way?',
    options_considered: ['left', 'right'],
    chosen: 'left',
    reasoning: 'It is shorter.',
  })
  s.put('f', x(1, 2, 3))
  await s.end(started)
  s.commit('lines of x')
  const answer = await s.call('why', { location: 'f:6' })
  expect(answer).toMatchObject({
    path: 'f',
    line: 6,
    text: 'x2 is line 2 of x',
    authors: [{ agent: 'a1', task_id: started.task_id, goal: 'goal of a1', summary: 'done' }],
    decisions: [{ chosen: 'left', options_considered: ['left', 'right'], reasoning: 'It is shorter.' }],
    commit: { summary: 'lines of x' },
  })
  expect(answer.says).toBe(`Made by a1 for task ${started.task_id} "work of a1".`)
  expect(answer.authors[0]).toMatchObject({ prompt: null, model: null })
  // Who agreed is told too.
  const subject = { task: started.task_id }
  const { content } = await s.call('review_show', subject, { actor: person })
  await s.call(
    'review_send',
    { subject, action: 'approve', content, text: 'Good', viewed: true },
    { actor: person },
  )
  expect((await s.call('why', { location: 'f:6' })).reviews).toMatchObject([
    { action: 'approve', author: 'Tess', text: 'Good' },
  ])
  const brief = await s.call('why', { location: 'f:6', brief: true })
  expect(JSON.stringify(brief).length).toBeLessThan(8_000)
  expect((await s.call('why', { location: 'f:1' })).says).toMatch(/^Tess Example committed it/)
  expect(await s.refused('why', { location: 'f' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'lines_invalid',
  })
  expect(await s.refused('why', { location: 'f:99' })).toMatchObject({
    code: 'INVALID_INPUT',
    reason: 'lines_out_of_range',
  })
})

for (const engine of (['SQLite', 'PostgreSQL'] as const).slice(0, amount({ test: 1, soak: 2 }))) {
  test.skipIf(engine === 'PostgreSQL' && isPostgresLeftOut)(
    `hashes are forgotten on ${engine}, hunks stay`,
    async () => {
      const options = engine === 'PostgreSQL' ? { postgres: await sharedPostgres() } : {}
      const s = await openStory({ ...options, isOnMachine: false })
      const stage = openStage(s.context)
      const player = stage.session('one')
      player.start()
      player.prompt()
      await stage.drain()
      player.edit('f', `${s.read('f')}${x(1, 2, 3).join('\n')}\n`)
      player.stop()
      await stage.drain()
      await s.attempt('a1', () => s.write('folder/g', 'another file here\n'))
      s.commit()
      const hashesIn = (log: string, path: string): readonly string[] =>
        (JSON.parse(log) as Answer[]).flatMap(({ body }) =>
          body.kind === 'lines.recorded'
            ? body.span.steps
                .filter((step: Answer) => step.path === path)
                .flatMap(({ added, removed, around }: Answer) => [added, removed, around.hashes])
            : [],
        )
      const before = await logOf(s)
      expect(hashesIn(before, 'f').join('')).toMatch(/^[\w~-]{33,}$/)
      const asPerson = { actor: person }
      const [{ session_id }] = (await s.call('sessions')).sessions
      expect(await s.refused('sessions_forget', { id: session_id })).toMatchObject({
        code: 'FORBIDDEN',
        reason: 'person_needed',
      })
      expect(await s.call('sessions_forget', { id: session_id }, asPerson)).toMatchObject({ changes: 1 })
      const after = await logOf(s)
      expect(hashesIn(after, 'f').join('')).toBe('')
      expect(hashesIn(after, 'folder/g')).toEqual(hashesIn(before, 'folder/g'))
      // None is left anywhere in the record.
      const [first = ''] = hashesIn(before, 'f')
      expect(after).not.toContain(first.slice(0, 11))
      // The chain holds without them, the tables are what a replay makes, and what is known by its content still is.
      expect(troubles(await s.call('doctor'))).toEqual([])
      expect((await s.whose('f')).at(-1)).toBe('x3 claude-code exact')
      s.put('f', lines('p', 1), 'base line one')
      s.commit()
      expect((await s.whose('f')).at(-1)).not.toContain('matched')
      expect(await s.call('sessions_forget', { id: session_id }, asPerson)).toMatchObject({ changes: 0 })
      expect(troubles(await s.call('doctor'))).toEqual([])
    },
  )
}

test('a log from which hashes were changed otherwise is told', async () => {
  const s = await openStory()
  await s.attempt('a1', () => s.put('f', x(1)))
  const file = (await s.context.store.health()).location
  const database = new Database(file)
  database
    .prepare(
      'update project_event set body = replace(body, \'"seal":"\', \'"seal":"x\') where kind = \'lines.recorded\'',
    )
    .run()
  database.close()
  expect(troubles(await s.call('doctor')).join()).toContain('changed')
})

test('exported and restored elsewhere, the record gives the same answer', async () => {
  const s = await openStory({ isOnMachine: false })
  await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
  s.commit()
  await s.attempt('a2', () => {
    s.swap('f', 'x2', 'another second line')
    s.put('g', x(4))
  })
  const { text } = await s.call('export')
  const other = await openStory({ isOnMachine: false })
  other.write('journal.jsonl', `${text}\n`)
  await other.call('plan_import', { file: 'journal.jsonl' }, { actor: person })
  const asked = { file: `${s.folder}/f` }
  const blame = catalog.find(({ name }) => name === 'blame')
  if (!blame) throw new Error('no blame')
  const there = await invoke(blame, { ...other.context, folder: s.folder }, asked)
  expect(JSON.stringify(there)).toBe(JSON.stringify(await s.call('blame', asked)))
  expect(troubles(await other.call('doctor'))).toEqual([])
})

test('why tells that the claim behind a line was sent back and done again', async () => {
  const s = await openStory()
  const started = await s.begin('a1')
  s.put('f', x(1))
  await s.end(started)
  const subject = { task: started.task_id }
  const { content } = await s.call('review_show', subject, { actor: person })
  const send = { subject, action: 'send_back', content, text: 'No', viewed: true }
  await s.call('review_send', send, { actor: person })
  const before = await s.call('why', { location: 'f:5' })
  expect(before.authors).toMatchObject([{ verdict: 'unproven', sent_back_by: 'Tess', redone: null }])
  await s.end(await s.begin('a1', { planned_task_id: started.task_id }))
  const { authors } = await s.call('why', { location: 'f:5' })
  expect(authors).toMatchObject([
    { sent_back_by: 'Tess', redone: { attempts: 1, status: 'success', verdict: 'unproven' } },
  ])
  expect((await s.call('blame', { file: 'f' })).ranges.at(-1)).toMatchObject({ task_name: 'work of a1' })
})

test('why shows a goal of several lines in one line, without the signs of line breaks', async () => {
  const s = await openStory()
  const started = await s.begin('a1', { goal: 'First line\nsecond line' })
  s.put('f', x(1))
  await s.end(started)
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() }
  const text = why((await s.call('why', { location: 'f:5' })) as never, page as never)
  expect(text).toContain('goal: First line second line')
  expect(text).not.toContain('\\n')
})

test('why tells that the changes of its mission were approved in a run, and sent back there', async () => {
  const s = await openStory()
  const release = readFileSync(join(import.meta.dirname, '../../processes/release.yaml'), 'utf8')
  writeProcess(s, release.replace('tasks_done, proven', 'tasks_done'))
  const input = { name: 'All', objective: 'All', process_id: 'release' }
  const { mission_id, run } = await s.call('start_mission', input)
  const started = await s.begin('a1', { mission_id })
  s.put('f', x(1))
  await s.end(started)
  await driving(s, run.run_id).emit('submit')
  const by = { actor: person }
  await s.call('approve', { id: run.run_id, reason: 'Good' }, by)
  s.wait(10)
  await s.call('decide', { run_id: run.run_id, event: 'send_back', reason: 'Not yet' }, by)
  const answer = await s.call('why', { location: 'f:5' })
  expect(answer.reviews).toMatchObject([
    { run_id: run.run_id, action: 'approve', author: 'Tess', text: 'Good' },
    { run_id: run.run_id, action: 'send_back', author: 'Tess', text: 'Not yet' },
  ])
  const page = { ink: (_style: string, text: string) => text, width: 200, now: Date.now() }
  const text = why(answer as never, page as never)
  expect(text).toMatch(
    /Tess approved the changes in run .*: Good\n *Tess sent the changes back in run .*: Not yet/,
  )
})

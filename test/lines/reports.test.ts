import { expect, test } from 'vitest'
import { openStage, type Player, type Stage } from '../sessions/driver.ts'
import type { Answer } from '../support/project.ts'
import { base, lines, openStory, type Story } from './story.ts'

interface Worked {
  readonly player: Player
  readonly started: Answer
}

/** A session of a client whose agent has an attempt open. */
async function agent(s: Story, stage: Stage, id: string, model?: string): Promise<Worked> {
  const player = stage.session(id, model === undefined ? {} : { model })
  player.start()
  player.prompt()
  await stage.drain()
  const started = await s.begin(id)
  player.own('mcp__waymark__start_task', started.attempt_id)
  await stage.drain()
  return { player, started }
}

const text = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('')

/** The attempts of two sessions that are at work at the same time, each told by its hooks. */
async function two() {
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const one = await agent(s, stage, 'one', 'claude-opus-4-5')
  const other = await agent(s, stage, 'two', 'gpt-5.2')
  return { s, stage, one, other }
}

test('48 two sessions that write one file in turns have each their lines, with hooks', async () => {
  const { s, stage, one, other } = await two()
  const [first = '', second = '', third = '', fourth = ''] = base
  const x1 = lines('x', 1)
  const y1 = lines('y', 1)
  one.player.edit('f', text([first, ...x1, second, third, fourth]))
  other.player.edit('f', text([first, ...x1, ...y1, second, third, fourth]))
  one.player.edit('f', text([first, ...x1, ...y1, second, third, fourth, ...lines('x', 2, 3)]))
  other.player.edit(
    'f',
    text([first, ...x1, ...y1, second, third, fourth, ...lines('x', 2), ...lines('y', 3)]),
  )
  await stage.drain()
  await s.end(other.started)
  await s.end(one.started)
  const { ranges } = await s.call('blame', { file: 'f' })
  const told = ranges.map(({ start, end, agent: who, attribution, model }: Answer) => [
    start,
    end,
    who,
    attribution,
    model,
  ])
  expect(told.filter(([, , who]: Answer) => who !== null)).toEqual([
    [2, 2, 'one', 'certain', 'claude-opus-4-5'],
    [3, 3, 'two', 'certain', 'gpt-5.2'],
    [7, 7, 'one', 'certain', 'claude-opus-4-5'],
    [8, 8, 'two', 'certain', 'gpt-5.2'],
  ])
  // Committed, amended and moved on, they stay whose they were.
  s.commit()
  s.put('f', lines('p', 1), 'base line one')
  s.commit('a person')
  expect(await s.owners('f')).toEqual({ p1: 'author', x1: 'one', y1: 'two', x2: 'one', y3: 'two' })
  const { groups } = await s.call('provenance_stats', { group_by: 'model' })
  expect(groups).toEqual([
    { name: 'claude-opus-4-5', lines: 2, files: 1 },
    { name: 'gpt-5.2', lines: 2, files: 1 },
  ])
  const byModel = (await s.call('stats', { group_by: 'model' })).groups
  expect(byModel.map(({ key, attempt_time }: Answer) => [key, attempt_time.n])).toEqual([
    ['claude-opus-4-5', 1],
    ['gpt-5.2', 1],
  ])
  expect((await s.call('why', { location: 'f:3' })).says).toMatch(
    /^Made by one with claude-opus-4-5 for task/,
  )
})

test('48 what a tool did not report is of who could write then, and no more than probable', async () => {
  const { s, stage, one, other } = await two()
  one.player.edit('f', text([...base, ...lines('x', 1)]))
  other.player.shell(() => s.put('g', lines('y', 1)))
  s.put('f', lines('p', 1))
  await stage.drain()
  await s.end(other.started)
  await s.end(one.started)
  const last = async (file: string) => (await s.call('blame', { file })).ranges.at(-1)
  expect(await last('g')).toMatchObject({ agent: 'two', attribution: 'probable' })
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.at(-2)).toMatchObject({ start: 5, end: 5, agent: 'one', attribution: 'certain' })
  expect(ranges.at(-1).attribution).not.toBe('certain')
})

test('48 edits that overlap are contested, and a turn without an attempt takes none of an attempt', async () => {
  const { s, stage, one, other } = await two()
  one.player.beginEdit('f', 'a')
  other.player.beginEdit('f', 'b')
  s.put('f', [...lines('x', 1), ...lines('y', 1)])
  one.player.endEdit('f', 'a', false)
  other.player.endEdit('f', 'b', false)
  await stage.drain()
  await s.end(other.started)
  const { ranges } = await s.call('blame', { file: 'f' })
  expect(ranges.at(-1)).toMatchObject({ start: 5, end: 6, attribution: 'contested' })
  expect(new Set(ranges.at(-1).attempts)).toEqual(new Set([one.started.attempt_id, other.started.attempt_id]))
  const third = stage.session('third')
  third.start()
  third.prompt()
  await stage.drain()
  third.edit('g', text(['other file one', 'other file two', ...lines('z', 1)]))
  await stage.drain()
  await s.end(one.started)
  expect(await s.owners('g')).toEqual({ z1: 'claude-code' })
})

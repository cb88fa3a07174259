import { expect, test } from 'vitest'
import { openStage } from '../sessions/driver.ts'
import { person } from '../support/project.ts'
import { base, lines, openStory } from './story.ts'

const text = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('')

async function session(model = 'claude-opus-4-5') {
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const player = stage.session('one', { model })
  player.start()
  const prompt = async () => {
    player.prompt()
    await stage.drain()
  }
  const stop = async () => {
    player.stop()
    await stage.drain()
  }
  return { s, stage, player, prompt, stop }
}

test('lines of a turn without a task are its session’s, what a person wrote before it and after it is not', async () => {
  const { s, player, prompt, stop } = await session()
  await prompt()
  player.edit('f', text([...base, ...lines('x', 1)]))
  await stop()
  s.put('f', lines('p', 1))
  await prompt()
  player.edit('f', text([...base, ...lines('x', 1), ...lines('p', 1), ...lines('x', 2)]))
  player.shell(() => s.put('g', lines('y', 1)))
  await stop()
  s.put('f', lines('p', 2))
  expect(await s.owners('f')).toEqual({
    x1: 'claude-code',
    p1: 'outside',
    x2: 'claude-code',
    p2: 'uncommitted',
  })
  expect(await s.owners('g')).toEqual({ y1: 'claude-code' })
  const { ranges } = await s.call('blame', { file: 'f', lines: '5' })
  const [{ session_id }] = (await s.call('sessions')).sessions
  expect(ranges[0]).toMatchObject({
    kind: 'agent',
    attribution: 'certain',
    attempt: null,
    task: null,
    session: session_id,
    model: 'claude-opus-4-5',
  })
  const why = await s.call('why', { location: 'f:5' })
  expect(why.says).toBe(
    `Made by claude-code with claude-opus-4-5 in session ${session_id}, without a task (by the same text in the same order).`,
  )
  expect(why.authors).toEqual([])
  expect(why.turn).toMatchObject({ session_id, agent: 'claude-code' })
  // Committed and rebased, they stay whose they were, and nobody calls them a person's.
  s.commit()
  await s.call('setting_set', { name: 'every_agent_captured', value: '2020-01-01' }, { actor: person })
  expect(await s.owners('f')).toEqual({ x1: 'claude-code', p1: 'outside', x2: 'claude-code', p2: 'author' })
  const { kinds, groups } = await s.call('provenance_stats', { group_by: 'agent' })
  expect(kinds.agent).toBe(3)
  expect(groups).toEqual([{ name: 'claude-code', lines: 3, files: 2 }])
})

test('a turn that commits keeps its lines; one that is told late has what its tools reported', async () => {
  const { s, stage, player, prompt, stop } = await session()
  await prompt()
  player.shell(() => {
    s.put('f', lines('x', 1))
    s.commit('by the agent')
  })
  await stop()
  expect(await s.owners('f')).toEqual({ x1: 'claude-code' })
  player.prompt()
  player.edit('g', text(['other file one', 'other file two', ...lines('z', 1)]))
  player.stop()
  await stage.drain()
  s.commit()
  expect(await s.owners('g')).toEqual({ z1: 'claude-code' })
})

test('a task that begins in a turn leaves the turn what it wrote before', async () => {
  const { s, stage, player, prompt, stop } = await session()
  await prompt()
  player.edit('f', text([...base, ...lines('x', 1)]))
  await stage.drain()
  const started = await s.begin('ada')
  player.own('mcp__waymark__start_task', started.attempt_id)
  player.edit('f', text([...base, ...lines('x', 1), ...lines('y', 1)]))
  await stage.drain()
  await s.end(started)
  await stop()
  expect(await s.owners('f')).toEqual({ x1: 'claude-code', y1: 'ada' })
})

test('a session that is forgotten takes the hashes of its lines with it', async () => {
  const { s, player, prompt, stop } = await session()
  await prompt()
  player.edit('f', text([...base, ...lines('x', 1)]))
  await stop()
  const [{ session_id }] = (await s.call('sessions')).sessions
  expect(await s.call('sessions_forget', { id: session_id }, { actor: person })).toMatchObject({
    forgotten: true,
    changes: 1,
  })
  expect((await s.context.store.inspect()).differences).toEqual([])
})

import { existsSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { base, lines, openStory } from '../../lines/story.ts'
import { openStage } from '../../sessions/driver.ts'
import { type Answer, person } from '../../support/project.ts'

const text = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('')
const [x, y] = [(...n: number[]) => lines('x', ...n), (...n: number[]) => lines('y', ...n)]

/** Agents whose clients' hooks report every edit. */
async function openAgents() {
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const agent = async (name: string) => {
    const player = stage.session(name)
    player.start()
    player.prompt()
    await stage.drain()
    const started = await s.begin(name)
    player.own('mcp__waymark__start_task', started.attempt_id)
    await stage.drain()
    return {
      started,
      edit: (path: string, rows: readonly string[]) => player.edit(join(s.folder, path), text(rows)),
      shell: player.shell,
      end: async () => {
        await stage.drain()
        await s.end(started)
        player.stop()
        await stage.drain()
      },
    }
  }
  const undo = ({ task_id: id }: Answer, more = {}) =>
    s.call('undo', { id, yes: true, ...more }, { actor: person })
  const refusal = ({ task_id: id }: Answer) => s.refused('undo', { id, yes: true }, { actor: person })
  return { s, stage, agent, undo, refusal, rows: (path: string) => s.read(path).split('\n').slice(0, -1) }
}

test('two agents at work in one file at once: only the lines of one are taken back', async () => {
  const { s, agent, undo, rows } = await openAgents()
  const [first, second] = [await agent('a1'), await agent('a2')]
  first.edit('f', [...x(1), ...base])
  second.edit('f', [...x(1), ...base, ...y(1)])
  first.edit('f', [...x(1), ...base.slice(0, 3), ...y(1), ...x(2)])
  await second.end()
  await first.end()
  const answer = await undo(first.started)
  expect(rows('f')).toEqual([...base, ...y(1)])
  expect(answer.stays).toEqual([])
  await undo(second.started)
  expect(rows('f')).toEqual(base)
  expect(s.git('status', '--porcelain', 'f')).toBe('')
})

test('lines of another agent between its own stay, and are listed', async () => {
  const { agent, undo, rows } = await openAgents()
  const [first, second] = [await agent('a1'), await agent('a2')]
  first.edit('f', [...base, ...x(1, 2, 3, 4)])
  second.edit('f', [...base, ...x(1, 2), ...y(1), ...x(3, 4)])
  await second.end()
  await first.end()
  const answer = await undo(first.started)
  expect(rows('f')).toEqual([...base, ...y(1)])
  expect(answer.stays).toEqual([{ path: 'f', reason: 'between', lines: 1 }])
})

test('a line that another agent changed meanwhile is a conflict', async () => {
  const { agent, undo, refusal, rows } = await openAgents()
  const [first, second] = [await agent('a1'), await agent('a2')]
  first.edit('f', [base[0] ?? '', ...x(2), ...base.slice(2)])
  second.edit('f', [base[0] ?? '', ...y(2), ...base.slice(2)])
  await second.end()
  await first.end()
  expect(await refusal(first.started)).toMatchObject({
    reason: 'undo_conflicts',
    details: { conflicts: [{ path: 'f', reason: 'lines_changed' }] },
  })
  await undo(first.started, { conflicts: true })
  expect(rows('f')).toEqual([
    base[0],
    '<<<<<<< now',
    ...y(2),
    '=======',
    base[1],
    `>>>>>>> without ${first.started.task_id}`,
    ...base.slice(2),
  ])
})

test('lines that another agent indented go with the rest, and lines that it indented itself come back', async () => {
  const { agent, undo, rows } = await openAgents()
  const [first, second] = [await agent('a1'), await agent('a2')]
  const indented = (some: readonly string[]) => some.map((row) => `  ${row}`)
  first.edit('f', [...indented(base), ...x(1, 2)])
  second.edit('f', [...indented(base), ...indented(x(1, 2)), ...y(1)])
  await second.end()
  await first.end()
  await undo(first.started)
  expect(rows('f')).toEqual([...base, ...y(1)])
})

test('a turn without a task is taken back, with what a person wrote beside it left', async () => {
  const { s, stage, undo } = await openAgents()
  const player = stage.session('alone')
  player.start()
  player.prompt()
  await stage.drain()
  player.edit(join(s.folder, 'f'), text([...base, ...x(1)]))
  player.edit(join(s.folder, 'new'), text(x(2)))
  player.stop()
  await stage.drain()
  s.put('f', ['p1 is of a person'], 'base line one')
  const [session] = (await s.call('sessions')).sessions
  const { turns } = await s.call('sessions_show', { id: session.session_id })
  const id = turns.at(-1).turn_id
  const answer = await s.call('undo', { id, yes: true }, { actor: person })
  expect(answer.files).toEqual([
    { path: 'f', action: 'changed' },
    { path: 'new', action: 'removed' },
  ])
  expect(s.read('f')).toBe(text(['p1 is of a person', ...base]))
  const shown = await s.call('sessions_show', { id })
  expect(shown.turns[0].undone).toMatchObject({ author: 'Tess' })
  await expect(undo({ task_id: id })).rejects.toMatchObject({ reason: 'nothing_to_undo' })
})

test('what a person wrote while an agent was at work stays, and is listed', async () => {
  const { s, agent, undo, rows } = await openAgents()
  const first = await agent('a1')
  first.edit('f', [...base, ...x(1)])
  writeFileSync(join(s.folder, 'f'), text(['p1 is of a person', ...base, ...x(1)]))
  await first.end()
  const answer = await undo(first.started)
  expect(rows('f')).toEqual(['p1 is of a person', ...base])
  expect(answer.stays).toEqual([{ path: 'f', reason: 'uncertain', lines: 1 }])
})

test('lines of a person come back with the file that an agent removed and wrote anew', async () => {
  const { s, agent, undo, rows } = await openAgents()
  const first = await agent('a1')
  first.edit('f', [...base, ...x(1)])
  writeFileSync(join(s.folder, 'f'), text(['p1 is of a person', ...base, ...x(1)]))
  const other = await agent('a2')
  await other.end()
  first.shell(() => rmSync(join(s.folder, 'f')), { program: 'rm' })
  first.edit('f', x(2))
  await first.end()
  const answer = await undo(first.started)
  expect(rows('f')).toEqual(['p1 is of a person', ...base])
  expect(answer.stays).toEqual([{ path: 'f', reason: 'uncertain', lines: 1 }])
})

test.each([
  ['reported edits before and after', { isReported: true, isCommitted: false }],
  ['no reported edit', { isReported: false, isCommitted: false }],
  ['a commit', { isReported: true, isCommitted: true }],
])(
  'lines of a person in a file that a command then renamed stay: %s',
  async (_, { isReported, isCommitted }) => {
    const { s, agent, undo, rows } = await openAgents()
    const first = await agent('a1')
    const [old, moved] = [join(s.folder, 'f'), join(s.folder, 'moved')]
    const own = isReported ? x(1) : []
    if (isReported) first.edit('f', [...base, ...own])
    writeFileSync(old, text(['p1 is of a person', ...base, ...own]))
    // Long before the command, which keeps the time of the file.
    utimesSync(old, 1, 1)
    first.shell(() => renameSync(old, moved), { program: 'mv' })
    if (isCommitted) s.commit()
    else if (isReported) first.edit('moved', ['p1 is of a person', ...base, ...own, ...x(2)])
    first.edit('g', x(3))
    await first.end()
    const answer = await undo(first.started)
    expect(existsSync(old)).toBe(false)
    expect(rows('moved')).toEqual(['p1 is of a person', ...base, ...own])
    expect(answer.stays).toEqual([{ path: 'moved', reason: 'uncertain', lines: 1 + own.length }])
  },
)

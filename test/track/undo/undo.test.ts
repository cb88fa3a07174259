import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { catalog } from '../../../src/kernel/operations/catalog.ts'
import { invoke } from '../../../src/kernel/operations/invoke.ts'
import type { Operation } from '../../../src/kernel/operations/operation.ts'
import { base, lines, openStory, type Story } from '../../lines/story.ts'
import { soakTest } from '../../support/amount.ts'
import { git as runGit } from '../../support/git.ts'
import { type Answer, type ProjectOptions, person, refusedBy } from '../../support/project.ts'
import { throughMachine } from '../../support/through-machine.ts'

const x = (...numbers: number[]) => lines('x', ...numbers)
const y = (...numbers: number[]) => lines('y', ...numbers)

interface UndoStory extends Story {
  readonly undo: (work: Answer, more?: object) => Promise<Answer>
  readonly refusal: (work: Answer, more?: object) => Promise<Answer>
  readonly rows: (path: string) => readonly string[]
}

async function openUndo(options: ProjectOptions = {}): Promise<UndoStory> {
  const s = await openStory(options)
  return {
    ...s,
    undo: ({ task_id: id }, more = {}) => s.call('undo', { id, yes: true, ...more }, { actor: person }),
    refusal: ({ task_id: id }, more = {}) => s.refused('undo', { id, yes: true, ...more }, { actor: person }),
    rows: (path) => s.read(path).split('\n').slice(0, -1),
  }
}

describe('of one agent alone', () => {
  test('takes back added, changed and removed lines, and nothing is left for a second undo', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => {
      s.put('f', x(1, 2), 'base line two')
      s.swap('f', 'base line three', 'x3 is another third line')
      s.take('f', 'base line four')
    })
    const answer = await s.undo(done)
    expect(s.rows('f')).toEqual(base)
    expect(answer).toMatchObject({
      written: true,
      files: [{ path: 'f', action: 'changed' }],
      conflicts: [],
      stays: [],
    })
    expect(await s.refusal(done)).toMatchObject({ code: 'CONFLICT', reason: 'nothing_to_undo' })
  })

  test('shows the task as undone, on its page, on the board and in the plan', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    const shown = async () => (await s.call('show', { id: done.task_id })) as Answer
    expect((await shown()).undone).toBeNull()
    const onBoard = async () => (await s.call('board', {})).columns.done[0]
    expect(await onBoard()).toMatchObject({ id: done.task_id, is_undone: false })
    await s.undo(done)
    expect(await onBoard()).toMatchObject({ id: done.task_id, is_undone: true })
    expect((await shown()).undone).toMatchObject({ author: 'Tess' })
    const { phases } = await s.call('plan_show', {})
    expect(phases.flatMap(({ tasks }: Answer) => tasks)).toContainEqual(
      expect.objectContaining({ id: done.task_id, undone: expect.objectContaining({ author: 'Tess' }) }),
    )
  })

  test('closes what the inbox asks about the work, and a dry run closes nothing', async () => {
    const s = await openUndo()
    const { task_id } = await s.begin('a1', { areas: ['src'] })
    s.put('f', x(1))
    const outcome = { summary: 'Added src/none.js.' }
    await s.call('complete_task', { task_id, status: 'success', outcome })
    const kinds = async () => (await s.call('inbox', {})).items.map(({ kind }: Answer) => kind).sort()
    expect(await kinds()).toEqual(['scope', 'verdict'])
    await s.undo({ task_id }, { dry_run: true })
    expect(await kinds()).toEqual(['scope', 'verdict'])
    await s.undo({ task_id })
    expect(await kinds()).toEqual([])
    const { answered_items: answered } = await s.call('show', { id: task_id })
    expect(answered.map(({ status }: Answer) => status)).toEqual(['dismissed', 'dismissed'])
  })

  test('accepts no verdict that nobody decided on, and asks again when the undo is taken back', async () => {
    const s = await openUndo()
    const { mission_id } = await s.call('start_mission', { name: 'Doubted', objective: 'Doubt' })
    const { task_id } = await s.begin('a1', { areas: ['src'], mission_id })
    s.put('f', x(1))
    const outcome = { summary: 'Added src/none.js.' }
    await s.call('complete_task', { task_id, status: 'success', outcome })
    const { run_id } = await s.call('state_gate_create_run', { process_id: 'release', mission_id })
    const accepted = async () => (await s.call('show', { id: task_id })).attempts[0].accepted_by
    const asked = async () =>
      (await s.call('inbox', {})).items.flatMap(({ kind, reason }: Answer) =>
        ['scope', 'verdict'].includes(kind) ? [[kind, reason]] : [],
      )
    const before = await asked()
    expect(before).toHaveLength(2)
    const { snapshot_id: id } = await s.undo({ task_id })
    expect(await accepted()).toBeUndefined()
    await s.call('restore', { id, yes: true }, { actor: person })
    expect(await accepted()).toBeUndefined()
    expect(await asked()).toEqual(before)
    expect(JSON.stringify(await s.call('state_gate_list_events', { run_id }))).toContain('contradicted')
    await s.call('restore', { id, yes: true }, { actor: person })
    expect(await asked()).toHaveLength(2)
    await s.undo({ task_id })
    await s.call('restore', { id: task_id, yes: true }, { actor: person })
    expect(await asked()).toEqual(before)
    expect((await s.call('show', { id: task_id })).undone).toBeNull()
  })

  soakTest(
    'takes back a line that an older task had written, too, and that was put back before',
    async () => {
      const s = await openUndo()
      const write = () => s.swap('f', 'base line two', 'x2 is another second line')
      await s.attempt('a1', write)
      s.git('checkout', '--', '.')
      const done = await s.attempt('a2', write)
      const { stays } = await s.undo(done)
      expect([stays, s.rows('f')]).toEqual([[], base])
    },
  )

  test('sets the task to do where that is wanted, and shows it as undone until it is started again', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    const shown = async () => (await s.call('show', { id: done.task_id })) as Answer
    const answer = await s.undo(done, { reopen: true })
    expect(answer).toMatchObject({ reopened: true, snapshot_id: expect.stringMatching(/^sn-/) })
    expect(await shown()).toMatchObject({ undone: { author: 'Tess' }, status: 'TO_DO' })
    const { events } = await s.call('log', {})
    expect(events.map(({ kind }: Answer) => kind)).toContain('tree.written')
    await s.call('start_task', { planned_task_id: done.task_id, agent_name: 'a2' })
    expect((await shown()).undone).toBeNull()
  })

  test('writes nothing without yes, and shows the difference', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    const before = s.git('status', '--porcelain') + s.read('f')
    const dry = await s.undo(done, { dry_run: true })
    const unsaid = await s.call('undo', { id: done.task_id }, { actor: person })
    expect([dry.written, unsaid.written]).toEqual([false, false])
    expect(dry.diff).toContain('-x1 is line 1 of x')
    expect(s.git('status', '--porcelain') + s.read('f')).toBe(before)
    expect((await s.call('log', {})).events.some(({ kind }: Answer) => kind === 'tree.written')).toBe(false)
  })

  test('removes an added file, brings a removed one back, and takes a rename back', async () => {
    const s = await openUndo()
    s.write('gone', 'to be removed\nsecond line of it\n')
    s.write('old', 'one line of the old file\nanother line of the old file\nthird line of the old file\n')
    s.commit()
    const done = await s.attempt('a1', () => {
      s.write('sub/new', 'a new file\n')
      s.remove('gone')
      s.git('mv', 'old', 'renamed')
      s.put('renamed', x(1))
    })
    await s.undo(done)
    expect(existsSync(join(s.folder, 'sub'))).toBe(false)
    expect(s.read('gone')).toBe('to be removed\nsecond line of it\n')
    expect(existsSync(join(s.folder, 'renamed'))).toBe(false)
    expect(s.rows('old')).toHaveLength(3)
  })

  test('takes modes, links and binary files back', async () => {
    const s = await openUndo()
    s.write('run', 'echo\n')
    s.write('picture', 'a\0b')
    symlinkSync('f', join(s.folder, 'link'))
    s.commit()
    const done = await s.attempt('a1', () => {
      chmodSync(join(s.folder, 'run'), 0o755)
      s.write('picture', 'c\0d')
      rmSync(join(s.folder, 'link'))
      symlinkSync('g', join(s.folder, 'link'))
      s.write('other', 'e\0f')
    })
    await s.undo(done)
    expect(lstatSync(join(s.folder, 'run')).mode & 0o111).toBe(0)
    expect(s.read('picture')).toBe('a\0b')
    expect(readlinkSync(join(s.folder, 'link'))).toBe('f')
    expect(existsSync(join(s.folder, 'other'))).toBe(false)
  })

  test('takes committed work back in the files only', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => {
      s.put('f', x(1, 2))
      s.commit('of a1')
    })
    const before = [s.git('rev-parse', 'HEAD'), s.git('ls-files', '-s'), s.git('count-objects', '-v')]
    await s.undo(done)
    expect(s.rows('f')).toEqual(base)
    expect([s.git('rev-parse', 'HEAD'), s.git('ls-files', '-s'), s.git('count-objects', '-v')]).toEqual(
      before,
    )
  })

  soakTest('keeps the line endings of files that git converts', async () => {
    const s = await openUndo()
    s.write('.gitattributes', '*.txt text eol=crlf\n')
    s.write('a.txt', 'first line here\r\nsecond line here\r\n')
    s.commit()
    const done = await s.attempt('a1', () =>
      s.write('a.txt', 'first line here\r\nadded by a1\r\nsecond line here\r\n'),
    )
    s.write('a.txt', 'first line here\r\nadded by a1\r\nsecond line here\r\nof a person\r\n')
    await s.undo(done)
    expect(s.read('a.txt')).toBe('first line here\r\nsecond line here\r\nof a person\r\n')
    const removed = await s.attempt('a2', () => s.remove('a.txt'))
    await s.undo(removed)
    expect(s.read('a.txt')).toBe('first line here\r\nsecond line here\r\nof a person\r\n')
    expect(await s.refusal(removed)).toMatchObject({ reason: 'nothing_to_undo' })
  })
})

describe('among others', () => {
  test('leaves the lines of later work, beside its own and elsewhere', async () => {
    const s = await openUndo()
    const first = await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
    await s.attempt('a2', () => {
      s.put('f', y(1, 2))
      s.put('f', y(3), 'base line two')
    })
    s.commit()
    s.put('f', ['p1 is of a person'], 'base line one')
    await s.undo(first)
    expect(s.rows('f')).toEqual(['p1 is of a person', base[0], ...y(3), ...base.slice(1), ...y(1, 2)])
  })

  test('leaves lines that others put between its own', async () => {
    const s = await openUndo()
    const first = await s.attempt('a1', () => s.put('f', x(1, 2, 3, 4)))
    await s.attempt('a2', () => s.put('f', y(1), 'x3'))
    await s.undo(first)
    expect(s.rows('f')).toEqual([...base, ...y(1)])
  })

  test('refuses to take a line back that a person changed, and marks it where that is wanted', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => {
      s.put('f', x(1, 2))
      s.put('g', x(5))
    })
    s.swap('f', 'x2', 'x2 as a person wants it')
    const before = [s.read('f'), s.read('g')]
    expect(await s.refusal(done)).toMatchObject({
      code: 'CONFLICT',
      reason: 'undo_conflicts',
      details: { conflicts: [{ path: 'f', reason: 'lines_changed' }] },
    })
    expect([s.read('f'), s.read('g')]).toEqual(before)
    const answer = await s.undo(done, { conflicts: true })
    expect(answer.conflicts).toEqual([{ path: 'f', reason: 'lines_changed', marked: true }])
    expect(s.read('f')).toContain('<<<<<<< now\n')
    expect(s.read('f')).toContain('x2 as a person wants it')
    expect(s.rows('g')).toEqual(['other file one', 'other file two'])
  })

  test('keeps what others added to a file that it added', async () => {
    const s = await openUndo()
    const first = await s.attempt('a1', () =>
      s.write(
        'new',
        x(1, 2)
          .map((line) => `${line}\n`)
          .join(''),
      ),
    )
    await s.attempt('a2', () => s.put('new', y(1)))
    const answer = await s.undo(first)
    expect(s.rows('new')).toEqual(y(1))
    expect(answer.stays).toEqual([{ path: 'new', reason: 'others', lines: 1 }])
  })

  test('leaves lines that may be of either of two agents, and lists them', async () => {
    const s = await openUndo()
    const first = await s.begin('a1')
    s.put('f', x(1))
    const second = await s.begin('a2')
    s.put('f', x(2), 'base line one')
    await s.end(second)
    await s.end(first)
    const answer = await s.undo(first)
    expect(s.rows('f')).toEqual([...x(2), ...base])
    expect(answer.stays).toEqual([{ path: 'f', reason: 'uncertain', lines: 1 }])
  })

  test('leaves the lines of another agent in a file that is certainly its own by what both said', async () => {
    const s = await openUndo()
    const first = await s.begin('a1', { areas: ['f'] })
    const second = await s.begin('a2', { areas: ['src/**'] })
    s.put('f', x(1))
    s.put('f', y(1), 'base line one')
    const end = (taskId: string, summary: string) =>
      s.call('complete_task', { task_id: taskId, status: 'success', outcome: { summary } })
    await end(first.task_id, 'Changed f.')
    await end(second.task_id, 'Done.')
    expect(await s.refusal(first)).toMatchObject({ reason: 'nothing_to_undo' })
    expect(s.rows('f')).toEqual([...y(1), ...base, ...x(1)])
  })

  soakTest('follows a rename by others', async () => {
    const s = await openUndo()
    const first = await s.attempt('a1', () => s.put('f', x(1)))
    await s.attempt('a2', () => {
      s.git('mv', 'f', 'moved')
      s.put('moved', y(1), 'base line one')
    })
    await s.undo(first)
    expect(s.rows('moved')).toEqual([...y(1), ...base])
    expect(existsSync(join(s.folder, 'f'))).toBe(false)
  })

  test('refuses a path that became a link', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    writeFileSync(join(s.folder, '..', 'outside'), s.read('f'))
    rmSync(join(s.folder, 'f'))
    symlinkSync('../outside', join(s.folder, 'f'))
    expect(await s.refusal(done)).toMatchObject({
      reason: 'undo_conflicts',
      details: { conflicts: [{ path: 'f', reason: 'type_changed' }] },
    })
    expect(readFileSync(join(s.folder, '..', 'outside'), 'utf8')).toContain('x1')
  })

  soakTest('takes squash-merged work back', async () => {
    const s = await openUndo()
    s.git('checkout', '-qb', 'work')
    const done = await s.attempt('a1', () => {
      s.put('f', x(1, 2), 'base line two')
      s.commit('of a1')
    })
    s.git('checkout', '-q', 'main')
    s.put('f', ['p1 is of a person'])
    s.commit('of a person')
    s.git('merge', '-q', '--squash', 'work')
    s.git('commit', '-qm', 'squashed')
    await s.undo(done)
    expect(s.rows('f')).toEqual([...base, 'p1 is of a person'])
  })
})

describe('of several attempts', () => {
  test('takes failed attempts back, and those of subtasks', async () => {
    const s = await openUndo()
    const started = await s.begin('a1')
    s.put('f', x(1))
    const child = await s.begin('a2', { parent_task_id: started.task_id })
    s.put('g', y(1))
    s.put('f', y(2))
    await s.end(child)
    await s.call('complete_task', { task_id: started.task_id, status: 'failed', outcome: { summary: 'no' } })
    s.put('f', ['p1 is of a person'], 'base line one')
    const again = await s.call('start_task', { planned_task_id: started.task_id, agent_name: 'a3' })
    s.put('f', x(3), 'base line two')
    await s.end(again)
    const answer = await s.undo(started)
    expect((await s.call('show', { id: child.task_id })).undone).toMatchObject({ author: 'Tess' })
    expect(s.rows('f')).toEqual(['p1 is of a person', ...base])
    expect(s.rows('g')).toEqual(['other file one', 'other file two'])
    expect(answer.stays).toEqual([])
  })
})

describe('refuses', () => {
  test('a task that is unknown, open, or was never started, and an agent', async () => {
    const s = await openUndo()
    expect(await s.refusal({ task_id: 't-none' })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await s.refusal({ task_id: 'tn-none' })).toMatchObject({ reason: 'turn_not_found' })
    const open = await s.begin('a1')
    expect(await s.refusal(open)).toMatchObject({ code: 'REFUSED', reason: 'attempt_open' })
    const { tasks } = await s.call('plan_tasks', {
      phases: [{ name: 'Build' }],
      tasks: [{ key: 'n', title: 'never started', phase: 'Build' }],
    })
    expect(await s.refusal({ task_id: tasks[0].id })).toMatchObject({ reason: 'task_not_started' })
    expect(await s.refused('undo', { id: open.task_id, yes: true })).toMatchObject({ code: 'FORBIDDEN' })
  })

  test('work that changed nothing', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => undefined)
    expect(await s.refusal(done)).toMatchObject({ reason: 'nothing_to_undo' })
  })
})

describe('where contents are missing', () => {
  test('refuses work whose snapshots are gone, and work that was measured without git', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    rmSync(join(s.context.program.stateFolder, 'snapshots'), { recursive: true })
    expect(await s.refusal(done)).toMatchObject({ code: 'UNAVAILABLE', reason: 'contents_not_kept' })
    const plain = await openUndo({ git: false })
    const other = await plain.attempt('a1', () => plain.put('f', x(1)))
    expect(await plain.refusal(other)).toMatchObject({ reason: 'measured_without_git' })
  })

  test('refuses on another machine, with its name, and works on the machine of the files', async () => {
    const here = await openUndo({ isOnMachine: false })
    const done = await here.attempt('a1', () => here.put('f', x(1)))
    const undo = catalog.find(({ name }) => name === 'undo') as Operation
    const input = { id: done.task_id, yes: true }
    const context = { ...here.context, actor: person }
    const away = throughMachine(context, 'undo', (on) => invoke(undo, on, input), { input })
    expect(await refusedBy(away)).toMatchObject({
      code: 'UNAVAILABLE',
      reason: 'work_on_other_machine',
      details: { work_tree: here.folder },
    })
    const there = await openUndo({ isOnMachine: true })
    const sent = await there.attempt('a1', () => there.put('f', x(1)))
    expect(await there.undo(sent)).toMatchObject({ written: true })
    expect(there.rows('f')).toEqual(base)
  })

  test('leaves secret files, and takes the rest back', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => {
      s.write('.env', 'TOKEN=1\n')
      s.put('f', x(1))
    })
    const answer = await s.undo(done)
    expect(s.rows('f')).toEqual(base)
    expect(s.read('.env')).toBe('TOKEN=1\n')
    expect(answer.stays).toEqual([{ path: '.env', reason: 'not_kept', lines: null }])
    expect(answer.diff).not.toContain('TOKEN')
  })
})

describe('conflicts of whole files', () => {
  test('refuses a binary file that was changed since, and files that are back or in the way', async () => {
    const s = await openUndo()
    s.write('picture', 'a\0b')
    s.write('gone', 'one line of it\ntwo lines of it\n')
    s.write('old', 'first of the old\nsecond of the old\nthird of the old\n')
    s.commit()
    const done = await s.attempt('a1', () => {
      s.write('picture', 'c\0d')
      s.remove('gone')
      s.git('mv', 'old', 'renamed')
    })
    s.write('picture', 'e\0f')
    s.write('gone', 'of a person\n')
    s.write('old', 'of a person\n')
    const { details } = await s.refusal(done)
    expect(details.conflicts).toEqual([
      { path: 'gone', reason: 'file_exists', marked: false },
      { path: 'picture', reason: 'file_changed', marked: false },
      { path: 'renamed', reason: 'file_exists', marked: false },
    ])
    expect([s.read('picture'), s.read('gone'), s.read('old')]).toEqual([
      'e\0f',
      'of a person\n',
      'of a person\n',
    ])
  })

  test('leaves nothing behind in the state folder', async () => {
    const s = await openUndo()
    const done = await s.attempt('a1', () => s.put('f', x(1)))
    await s.undo(done)
    const left = readdirSync(join(s.context.program.stateFolder, 'snapshots'))
    expect(left.filter((name) => name.startsWith('undo-'))).toEqual([])
  })

  test('takes back what is left of a task after later tasks removed the rest', async () => {
    const s = await openUndo()
    const first = await s.attempt('a1', () => s.put('f', x(1, 2, 3)))
    await s.attempt('a2', () => s.take('f', 'x2'))
    await s.undo(first)
    expect(s.rows('f')).toEqual(base)
  })

  test('keeps a last line without a line feed as it was', async () => {
    const s = await openUndo()
    s.write('end', 'first line here\nlast line here')
    s.commit()
    const done = await s.attempt('a1', () => s.write('end', 'first line here\nlast line here\nadded by a1'))
    await s.undo(done)
    expect(s.read('end')).toBe('first line here\nlast line here')
  })
})

test('restoring the snapshot before an undo brings every byte back', async () => {
  const s = await openUndo()
  s.write('gone', 'one line of it\ntwo lines of it\n')
  s.commit()
  const done = await s.attempt('a1', () => {
    s.put('f', x(1, 2), 'base line two')
    s.commit('of a1')
    s.swap('f', 'base line three', 'x3 is another third line')
    s.write('new', 'a new file\n')
    s.remove('gone')
    chmodSync(join(s.folder, 'g'), 0o755)
  })
  s.put('f', ['p1 is of a person'], 'base line one')
  const state = () => [
    s.read('f'),
    existsSync(join(s.folder, 'new')) && s.read('new'),
    existsSync(join(s.folder, 'gone')),
    lstatSync(join(s.folder, 'g')).mode & 0o111,
  ]
  const before = state()
  const { snapshot_id: id } = await s.undo(done)
  expect(state().slice(1)).toEqual([false, true, 0])
  const restored = await s.call('restore', { id, yes: true }, { actor: person })
  expect(restored).toMatchObject({ written: true })
  expect(state()).toEqual(before)
  expect((await s.call('show', { id: done.task_id })).undone).toBeNull()
  expect(await s.undo(done)).toMatchObject({ written: true })
})

test('a mission and its review have what is left after an undo, and what a restore brought back', async () => {
  const s = await openUndo()
  const { mission_id } = await s.call('start_mission', { name: 'Two tasks', objective: 'Two' })
  const work = async (agent: string, change: () => void) => {
    const started = await s.begin(agent, { mission_id })
    change()
    return s.end(started)
  }
  await work('a1', () => s.put('f', x(1, 2)))
  const second = await work('a2', () => {
    s.put('f', y(1), 'base line one')
    s.write('new', 'a new file\n')
  })
  const counts = async () => {
    const review = await s.call('review_show', { mission: mission_id }, { actor: person })
    const changes = await s.call('mission_changes', { id: mission_id }, { actor: person })
    const { totals } = await s.call('mission_timeline', { id: mission_id }, { actor: person })
    return {
      reviewed: review.files.map(({ path, added }: Answer) => [path, added]),
      changed: changes.files.map(({ path, added_lines: added }: Answer) => [path, added]),
      added: changes.added_lines,
      all: totals.files_changed,
      done: [totals.done, totals.tasks],
    }
  }
  const whole = await counts()
  const all = [
    ['f', 3],
    ['new', 1],
  ]
  expect(whole).toMatchObject({ reviewed: all, changed: all, added: 4, all: 2, done: [2, 2] })
  const { snapshot_id: id } = await s.undo(second)
  const left = [['f', 2]]
  expect(await counts()).toEqual({ reviewed: left, changed: left, added: 2, all: 1, done: [1, 2] })
  await s.call('restore', { id, yes: true }, { actor: person })
  expect(await counts()).toEqual(whole)
})

soakTest(
  'a review after an undo keeps what the undo did not write, and finds a renamed file at its old path',
  async () => {
    const s = await openUndo()
    const { mission_id } = await s.call('start_mission', { name: 'Rename', objective: 'Rename' })
    const reviewed = async () => {
      const { files } = await s.call('review_show', { mission: mission_id }, { actor: person })
      return files.map(({ path, status, added }: Answer) => [path, status, added])
    }
    const first = await s.begin('a1', { mission_id })
    s.write('moved', s.read('f'))
    s.remove('f')
    await s.end(first)
    const second = await s.begin('a2', { mission_id })
    s.put('moved', y(1))
    s.write('kept', 'one line of it\n')
    await s.end(second)
    s.git('stash', 'push', '-q', '--include-untracked', '--', 'kept')
    await s.undo(first)
    expect(s.rows('f')).toEqual([...base, ...y(1)])
    expect(await reviewed()).toEqual([
      ['f', 'modified', 1],
      ['kept', 'added', 1],
    ])
  },
)

test('a gate asks for an undone task again, and does not wait until it lands', async () => {
  const s = await openUndo()
  const { mission_id } = await s.call('start_mission', { name: 'Gated', objective: 'Gate' })
  const work = async (agent: string, path: string) => {
    const started = await s.begin(agent, { mission_id })
    s.write(path, 'one line of it\n')
    return s.end(started)
  }
  await work('a1', 'first')
  const second = await work('a2', 'second')
  const { run_id } = await s.call('state_gate_create_run', { process_id: 'release', mission_id })
  const missing = async () => JSON.stringify(await s.call('state_gate_list_events', { run_id }))
  expect(await missing()).toContain('1 more is not proven')
  await s.undo(second)
  expect(await missing()).toContain(`(${second.task_id}), which was undone`)
})

soakTest('what newer content keeps from being restored names the snapshot of its undo', async () => {
  const s = await openUndo()
  const done = await s.attempt('a1', () => s.put('f', x(1)))
  await s.attempt('a2', () => s.put('f', y(1)))
  const { snapshot_id: snapshot } = await s.undo(done)
  const refusal = await s.refused('restore', { id: done.task_id, yes: true }, { actor: person })
  expect(refusal).toMatchObject({ reason: 'newer_content', hint: expect.stringContaining(snapshot) })
  await s.call('restore', { id: snapshot, yes: true }, { actor: person })
  expect(Object.keys(await s.owners('f'))).toEqual(['x1', 'y1'])
})

test('what was undone stays as it had landed, and is not measured as lost', async () => {
  const s = await openUndo()
  const done = await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  const landed = async () =>
    (await s.call('measure_landed', {})) && (await s.call('show', { id: done.task_id })).landed
  const before = await landed()
  expect(before).toMatchObject({ is: 'landed' })
  await s.undo(done)
  s.commit('without it')
  expect(await landed()).toEqual(before)
  expect((await s.call('measure_landed', {})).counts).toEqual({})
})

test('work that git brought back counts again, once a person says so', async () => {
  const s = await openUndo()
  const done = await s.attempt('a1', () => s.put('f', x(1, 2)))
  s.commit()
  const { snapshot_id: snapshot } = await s.undo(done)
  s.git('checkout', '--', 'f')
  const undone = async () => (await s.call('show', { id: done.task_id })).undone
  const { note } = await s.call('measure_landed', { task: done.task_id })
  expect(note).toContain(`If its work is back, record it: waymark restore ${snapshot}`)
  const restore = (more: object) => s.call('restore', { id: snapshot, ...more }, { actor: person })
  expect(await restore({})).toMatchObject({ written: false, files: [], same: 1, undo: 'counts' })
  expect(await undone()).not.toBeNull()
  expect(await restore({ yes: true })).toMatchObject({ written: false, undo: 'withdrawn' })
  expect(await undone()).toBeNull()
  expect((await s.call('measure_landed', { task: done.task_id })).tasks).toMatchObject([{ is: 'landed' }])
  expect(await restore({ yes: true })).toMatchObject({ undo: null, snapshot_id: null })
})

test('names the agents at work in the same folder, and the tasks that depend on it', async () => {
  const s = await openUndo()
  const done = await s.attempt('a1', () => s.put('f', x(1)))
  await s.call('taskman_phase_add', { id: 'P1', name: 'Build' })
  await s.call('taskman_task_add', { title: 'After it', phase: 'P1' })
  const [{ id }] = (await s.call('taskman_task_list', { search: 'After it' })).tasks
  await s.call('taskman_task_dep_add', { 'task-id': id, 'dep-id': done.task_id })
  const other = await s.begin('a2')
  const answer = await s.undo(done)
  expect(answer.dependents).toEqual([{ id, name: 'After it' }])
  expect(answer.notes.join()).toContain(`a2 (${other.task_id})`)
})

soakTest('undoes files with unusual names, from a folder of the project', async () => {
  const s = await openUndo({ isOnMachine: false, within: 'sub' })
  const names = ['sub/ä ö.txt', 'sub/line\nfeed', 'sub/-dash', 'sub/"quoted"', 'sub/tab\there']
  for (const name of names) s.write(name, 'as it was, in one line\n')
  s.write('.gitattributes', '* text=auto\n')
  s.commit()
  const done = await s.attempt('a1', () => {
    for (const name of names) s.write(name, 'as it was, in one line\nadded by a1\n')
    s.write('sub/neu é', 'new\n')
  })
  await s.undo(done)
  expect(names.map((name) => s.read(name))).toEqual(names.map(() => 'as it was, in one line\n'))
  expect(existsSync(join(s.folder, 'sub/neu é'))).toBe(false)
})

test('a file that became a link, or a link that became a file, is one again', async () => {
  const s = await openUndo()
  symlinkSync('f', join(s.folder, 'link'))
  s.commit()
  const done = await s.attempt('a1', () => {
    s.remove('g')
    symlinkSync('f', join(s.folder, 'g'))
    s.remove('link')
    s.write('link', 'a file now\n')
  })
  await s.undo(done)
  expect(s.rows('g')).toEqual(['other file one', 'other file two'])
  expect(lstatSync(join(s.folder, 'g')).isSymbolicLink()).toBe(false)
  expect(readlinkSync(join(s.folder, 'link'))).toBe('f')
  expect(s.git('status', '--porcelain').trim()).toBe('')
})

test('what an undo wrote is not the work of an agent that is at work meanwhile', async () => {
  const s = await openUndo({ isOnMachine: false })
  const done = await s.attempt('a1', () => {
    s.put('f', x(1, 2))
    s.take('f', 'base line two')
  })
  const other = await s.begin('a2')
  s.put('f', y(1), 'base line one')
  await s.undo(done)
  s.put('f', y(2))
  await s.end(other)
  expect(await s.owners('f')).toEqual({ y1: 'a2', y2: 'a2' })
  await s.undo(other)
  expect(s.rows('f')).toEqual(base)
})

test('writes only the difference that was shown', async () => {
  const s = await openUndo()
  const done = await s.attempt('a1', () => s.put('f', x(1)))
  const { content } = await s.undo(done, { dry_run: true })
  s.put('f', ['p1 is of a person'])
  expect(await s.refusal(done, { content })).toMatchObject({ reason: 'files_changed_meanwhile' })
  expect(s.rows('f')).toHaveLength(base.length + 2)
})

soakTest(
  'takes work of a linked work tree back where it was merged, also when that tree is gone',
  async () => {
    const s = await openUndo({ isOnMachine: false })
    const linked = join(s.folder, '..', 'linked')
    s.git('worktree', 'add', '-q', '-b', 'beside', linked)
    const context = { ...s.context, folder: linked }
    const begun = { name: 'work beside', goal: 'g', agent_name: 'a1' }
    const started = await s.call('start_task', begun, { context })
    writeFileSync(join(linked, 'f'), [...base, ...x(1)].map((line) => `${line}\n`).join(''))
    runGit(linked, 'commit', '-qam', 'beside')
    const end = { task_id: started.task_id, status: 'success', outcome: { summary: 'done' } }
    await s.call('complete_task', end, { context })
    expect(await s.refusal(started)).toMatchObject({ reason: 'nothing_to_undo' })
    s.git('merge', '-q', 'beside')
    s.git('worktree', 'remove', '--force', linked)
    s.put('f', ['p1 is of a person'], 'base line one')
    await s.undo(started)
    expect(s.rows('f')).toEqual(['p1 is of a person', ...base])
  },
)

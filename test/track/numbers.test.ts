import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { completeTask, taskPage } from '../../src/plan/cli/task.ts'
import { scopeText } from '../../src/track/cli/changes.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'

const outcome = { summary: 's' }

async function attempt(
  { call, write }: TestProject,
  files: Readonly<Record<string, string>>,
  start: object,
): Promise<Answer> {
  const { task_id, attempt_id } = await call('start_task', { name: 'Work', goal: 'g', ...start })
  for (const [path, content] of Object.entries(files)) write(path, content)
  const ended = await call('complete_task', { task_id, status: 'success', outcome })
  return { task_id, attempt_id, ended }
}

test('a completed mission is at the last phase that it had, wherever it is shown', async () => {
  const project = await openProject()
  const { call } = project
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'o', profile: 'STANDARD' })
  await attempt(project, { 'src/auth.ts': 'one\n' }, { mission_id, phase: 1 })
  expect(await call('show', { id: mission_id })).toMatchObject({ total_phases: 1, status: 'IN_PROGRESS' })
  await call('complete_mission', { mission_id, status: 'completed', summary: 's' })
  const last = { current_phase: 1, total_phases: 1 }
  expect(await call('show', { id: mission_id })).toMatchObject(last)
  expect(await call('get_context', { mission_id, include: ['tasks'] })).toMatchObject({ current_phase: 1 })
  expect((await call('list_missions', { status: 'ended' })).missions).toMatchObject([last])
})

describe('lines', () => {
  test('board, changes, mission and review count the same for the same change', async () => {
    const project = await openProject()
    const { call } = project
    const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'o' })
    const { task_id } = await attempt(
      project,
      { 'src/auth.ts': 'export const auth = 2\nexport const more = 3\n', 'new.txt': 'a\nb' },
      { mission_id },
    )
    const [card] = (await call('board')).columns.done
    const lines = { added_lines: 4, deleted_lines: 1 }
    expect(card.measured).toMatchObject({ files: 2, ...lines, attempt: 1 })
    const whole = await call('mission_changes', { id: mission_id })
    expect(whole).toMatchObject({ total: 2, ...lines })
    const { missions } = await call('list_missions', { include: ['work'] })
    expect(missions).toMatchObject([{ work: { files: 2, ...lines } }])
    const totals = { files: 2, added: 4, removed: 1 }
    const actor = { actor: person }
    expect(await call('review_show', { task: task_id }, actor)).toMatchObject({ totals })
    expect(await call('mission_timeline', { id: mission_id })).toMatchObject({
      totals: { files_changed: 2, added: 4, deleted: 1 },
    })
  })

  test('of a task are those of all its attempts that were not undone, on its card, page and inbox item', async () => {
    const project = await openProject()
    const { call } = project
    const as = { actor: person }
    const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'o' })
    const files = { 'src/auth.ts': 'export const auth = 2\nexport const more = 3\n', 'new.txt': 'a\n' }
    const { task_id } = await attempt(project, files, { mission_id })
    const again = async (changed: Readonly<Record<string, string>>) => {
      project.wait(10)
      const subject = { task: task_id }
      await call('review_send', { subject, action: 'send_back', text: 'Again.' }, as)
      project.wait(10)
      await attempt(project, changed, { name: undefined, planned_task_id: task_id })
      const detail = await call('show', { id: task_id })
      expect(detail.attempts.at(-1).measured.changes).toHaveLength(Object.keys(changed).length)
      const { items } = await call('inbox', { include: ['evidence'] }, as)
      const shown = [(await call('board')).columns.review[0], detail, items[0].evidence]
      const [row] = (await call('show', { id: mission_id })).tasks
      return [...shown.map(({ measured }) => measured), row.files_changed]
    }
    const work = { files: 2, added_lines: 3, deleted_lines: 1 }
    const kinds = { added: 1, modified: 1, deleted: 0, renamed: 0 }
    expect(await again({})).toMatchObject([work, work, work, kinds])
    const more = { ...work, added_lines: 5, deleted_lines: 2 }
    expect(await again({ 'new.txt': 'b\nc\n' })).toMatchObject([more, more, more, kinds])
    const page = { ink: (_: unknown, text: string) => text, width: 120, now: 0 }
    const text = taskPage((await call('show', { id: task_id })) as never, page)
    expect(text).toContain('2 files in 3 attempts')
    await call('undo', { id: task_id, yes: true }, as)
    const last = { files: 1, added_lines: 1, deleted_lines: 0 }
    expect((await again({ 'src/last.ts': '1\n' })).slice(0, 3)).toMatchObject([last, last, last])
  })

  test('counts a line feed at the end of a file as git does, in board and review', async () => {
    const project = await openProject()
    const { call } = project
    const { task_id } = await attempt(project, { 'src/auth.ts': 'export const auth = 1' }, {})
    const [card] = (await call('board')).columns.done
    expect(card.measured).toMatchObject({ files: 1, added_lines: 1, deleted_lines: 1 })
    const actor = { actor: person }
    const totals = { files: 1, added: 1, removed: 1 }
    expect(await call('review_show', { task: task_id }, actor)).toMatchObject({ totals })
    const asked = { subject: { task: task_id }, path: 'src/auth.ts' }
    const { hunks } = await call('review_file', asked, actor)
    expect(hunks[0].lines.map(({ kind }: Answer) => kind)).toEqual(['-', '+'])
    const spaceless = await call('review_file', { ...asked, ignore_space: true }, actor)
    expect(spaceless.hunks).toEqual([])
  })

  test('counts the lines of one of several writers of a file as git does', async () => {
    const project = await openProject({ isOnMachine: false })
    const { witness, folder, copies } = project.context
    const { ref } = await witness.snapshot({ folder, name: 'counted' })
    project.write('one.txt', 'a\nb\n')
    project.write('other.txt', 'a\nb')
    const written = ['one.txt', 'other.txt'].map((path) => ({ path, copy: join(folder, path) }))
    const [before = null, after = null] = (await copies?.keep(ref, written)) ?? []
    expect(await copies?.linesOf(ref, [{ author: 'tn-1', before, after }])).toEqual(
      new Map([['tn-1', { added: 1, deleted: 1 }]]),
    )
  })

  test('a card adds up the lines of all attempts, where the review compares with the start', async () => {
    const project = await openProject()
    const { call } = project
    const first = await attempt(project, { 'src/auth.ts': 'one\ntwo\nthree\n' }, {})
    await call('taskman_task_edit', { id: first.task_id, status: 'to_do' })
    await attempt(project, { 'src/auth.ts': 'one\ntwo\nfour\n' }, { task_id: first.task_id })
    const [card] = (await call('board')).columns.done
    expect(card.measured).toMatchObject({ attempt: 2, added_lines: 4, deleted_lines: 2 })
    const review = await call('review_show', { task: first.task_id }, { actor: person })
    expect(review.totals).toMatchObject({ added: 3, removed: 1 })
  })

  test('files whose lines cannot be counted have none, and not 0', async () => {
    const project = await openProject()
    const { call } = project
    const { mission_id } = await call('start_mission', { name: 'Draw', objective: 'o' })
    await attempt(project, { 'logo.bin': 'a\0b' }, { mission_id })
    const unknown = { added_lines: null, deleted_lines: null }
    expect((await call('board')).columns.done[0].measured).toMatchObject({ files: 1, ...unknown })
    expect(await call('mission_changes', { id: mission_id })).toMatchObject({
      total: 1,
      files: [{ path: 'logo.bin', ...unknown }],
      ...unknown,
    })
    const { missions } = await call('list_missions', { include: ['work'] })
    expect(missions).toMatchObject([{ work: { files: 1, ...unknown } }])
    const { attempts, totals } = await call('mission_timeline', { id: mission_id })
    expect([attempts[0].lines.added, totals.added]).toEqual([null, null])
    expect((await call('report', { mission: mission_id, format: 'markdown' })).text).toContain(
      'lines not counted',
    )
  })
})

test('a diff names the files that it leaves out, and why, and says that it is not whole', async () => {
  const project = await openProject()
  const { call } = project
  const large = 'a line of text\n'.repeat(700_000)
  const { task_id } = await attempt(
    project,
    { 'large.txt': large, 'small.txt': 'small\n', '.env': 'A=1\n' },
    {},
  )
  const whole = await call('diff', { id: task_id })
  expect(whole).toMatchObject({
    truncated: true,
    left_out: [
      { path: '.env', why: 'secret' },
      { path: 'large.txt', why: 'too_large' },
    ],
    left_out_total: 2,
  })
  expect(whole.diff).toContain('+small')
  const one = await call('diff', { id: task_id, path: 'large.txt' })
  expect(one).toMatchObject({ truncated: true, left_out: [{ path: 'large.txt', why: 'too_large' }] })
  const small = await call('diff', { id: task_id, path: 'small.txt' })
  expect(small.truncated).toBe(false)
  expect(small.left_out).toBeUndefined()
})

test('attempts per task have one decimal in the answer', async () => {
  const project = await openProject()
  const { call } = project
  for (const name of ['a', 'b', 'c']) {
    const { task_id } = await call('start_task', { name, goal: 'g' })
    if (name === 'c') {
      await call('complete_task', { task_id, status: 'failed', outcome })
      await call('start_task', { task_id })
    }
    await call('complete_task', { task_id, status: 'success', outcome })
  }
  expect((await call('stats')).all.retries).toMatchObject({ n: 3, attempts: 4, per_task: 1.3 })
})

test('only open tasks are named as waited for, each with why it is open', async () => {
  const project = await openProject()
  const { call } = project
  const { mission_id } = await call('start_mission', { name: 'Shop', objective: 'o' })
  const { tasks } = await call('plan_tasks', {
    mission_id,
    phases: [{ name: 'Build' }],
    tasks: [
      ...['a', 'b', 'c'].map((key) => ({ key, title: key, phase: 'Build' })),
      { key: 'last', title: 'last', phase: 'Build', depends_on: ['a', 'b', 'c'] },
    ],
  })
  const [a, b, c] = tasks.map(({ id }: Answer) => id)
  for (const id of [a, b, c]) {
    await call('start_task', { planned_task_id: id })
    const review = id === c ? { manual_review_needed: true, manual_review_reason: 'r' } : {}
    await call('complete_task', { task_id: id, status: 'success', outcome: { ...outcome, ...review } })
  }
  const { message } = await call('taskman_task_next', { mission: mission_id })
  expect(message).toMatch(
    new RegExp(
      `^No task is ready. Of 1 task, 1 waits for ${c} \\(in review: h-\\S+\\). Wait with taskman_task_next `,
    ),
  )
})

test('a list that is cut says how many there are in all', async () => {
  const project = await openProject()
  const { call } = project
  const files = Object.fromEntries(
    Array.from({ length: 70 }, (_, at) => [`other/a-folder-with-a-long-name/file-${at}.ts`, 'x\n']),
  )
  const { task_id, ended } = await attempt(project, files, { areas: ['src/'] })
  const counts = { added: 70, modified: 0, deleted: 0, renamed: 0 }
  expect(ended).toMatchObject({ counts, verification: { unexpected_total: 70 } })
  const changes = await call('changes', { id: task_id })
  expect(changes).toMatchObject({ counts, total: 70, verification: { unexpected_total: 70 } })
  const { items } = await call('inbox')
  expect(items).toMatchObject([{ kind: 'scope', paths_total: 70 }])
  expect(items[0].paths).toHaveLength(50)
  const page = { ink: (_: string, text: string) => text, width: 120, now: 0 }
  for (const answer of [ended, changes]) {
    const words = scopeText(answer, page, { counts, listed: [] })
    expect(words).toContain('70 of 70 files')
    expect(words).toContain(`${answer.verification.unexpected_files.length} of 70 are shown`)
  }
  const task = await call('show', { id: task_id })
  expect(taskPage(task, page)).toContain('20 of 70 are shown')
  expect(completeTask(ended, page)).toContain(`${ended.details.length} of 70 are shown`)
})

test('files that git ignores are cut with their total', async () => {
  const project = await openProject()
  const { call, write } = project
  write('.gitignore', '*.log\n')
  const { task_id } = await call('start_task', { name: 'Work', goal: 'g' })
  for (let n = 0; n < 12; n += 1) write(`${n}.log`, 'x\n')
  const ended = await call('complete_task', { task_id, status: 'success', outcome })
  expect(ended.ignored.added).toHaveLength(10)
  expect(ended.ignored_total).toBe(12)
})

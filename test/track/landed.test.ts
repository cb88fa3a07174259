import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openProject, type ProjectOptions, person } from '../support/project.ts'

const lines = Array.from({ length: 20 }, (_, at) => `export const limit${at} = ${at * 7}`)
const content = `${lines.join('\n')}\n`

/** A project in which one task added `src/limit.ts` with 20 lines, on the branch `feature`, and committed nothing. */
async function withTask({
  removed = 'utils.ts',
  ...options
}: ProjectOptions & { readonly removed?: string | null } = {}) {
  const project = await openProject(options)
  const main = options.git === false ? 'main' : project.git('symbolic-ref', '--short', 'HEAD').trim()
  if (options.git !== false) project.git('checkout', '-q', '-b', 'feature')
  const { task_id } = await project.call('start_task', { name: 'Limit logins', goal: 'g' })
  project.write('src/limit.ts', content)
  if (removed !== null) project.remove(removed)
  const ending = { task_id, status: 'success', outcome: { summary: 'Added src/limit.ts.' } }
  await project.call('complete_task', ending)
  const commit = (subject: string) => {
    project.git('add', '-A')
    project.git('commit', '-q', '-m', subject)
  }
  const landed = async () => {
    const { counts, branch, tasks } = await project.call('measure_landed')
    const states = Object.keys(counts as object)
    expect(states).toHaveLength(1)
    return { is: states[0], branch, task: (tasks as Record<string, unknown>[])[0] }
  }
  const onMain = (...commands: readonly (readonly string[])[]) => {
    project.git('checkout', '-q', main)
    for (const command of commands) project.git(...command)
  }
  return { project, main, commit, landed, onMain, task_id: String(task_id) }
}

type Work = Awaited<ReturnType<typeof withTask>>

function afterCommit(work: Work): Work {
  work.commit('Limit logins')
  return work
}

/** A later task that writes `src/limit.ts`, or removes it if there is no content. */
async function laterTask({ project }: Work, written: string | null) {
  const { task_id } = await project.call('start_task', { name: 'Limits by plan', goal: 'g' })
  if (written === null) project.remove('src/limit.ts')
  else project.write('src/limit.ts', written)
  const ending = { task_id, status: 'success', outcome: { summary: 'Did src/limit.ts anew.' } }
  await project.call('complete_task', ending)
  const { tasks } = await project.call('measure_landed')
  return Object.fromEntries(
    (tasks as { readonly title: string; readonly is: string }[]).map(({ title, is }) => [title, is]),
  )
}

const rewritten = `${lines.map((line) => line.replace('limit', 'planLimit')).join('\n')}\n`

test('lines that a later task rewrote before they were committed are its to land', async () => {
  const work = await withTask({ removed: null })
  const states = await laterTask(work, rewritten)
  expect(states).toEqual({ 'Limits by plan': 'uncommitted' })
  const { tasks } = await work.project.call('measure_landed', { task: work.task_id })
  expect(tasks).toMatchObject([{ is: 'replaced' }])
})

test.each([
  ['took away', null],
  ['took away, with a line of its own at another place', '// Limits by plan\n'],
  ['took away, but for a comment in their place', '// placeholder\n'],
])('lines that a later task only %s are lost', async (_, written) => {
  const states = await laterTask(await withTask(), written)
  expect(states['Limit logins']).toBe('lost')
})

test('a task that only took away lines which were on no branch has nothing to land', async () => {
  const states = await laterTask(await withTask(), null)
  expect(states['Limits by plan']).toBeUndefined()
})

test('lines whose replacement went as well are lost', async () => {
  const work = await withTask({ removed: null })
  await laterTask(work, rewritten)
  const states = await laterTask(work, null)
  expect(states['Limit logins']).toBe('lost')
})

test('lines that were rewritten twice are of the last one to land', async () => {
  const work = await withTask({ removed: null })
  await laterTask(work, rewritten)
  await laterTask(work, rewritten.replaceAll('planLimit', 'accountLimit'))
  const { tasks } = await work.project.call('measure_landed', { task: work.task_id })
  expect(tasks).toMatchObject([{ is: 'replaced' }])
})

describe('lines in a file that a person renamed at the commit', () => {
  async function withRename() {
    const project = await openProject()
    const main = project.git('symbolic-ref', '--short', 'HEAD').trim()
    const old = 'export const old = () => 1\n'.repeat(3)
    project.write('src/s.ts', `${old}${content}`)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Begin')
    project.git('checkout', '-qb', 'side')
    const { task_id } = await project.call('start_task', { name: 'Limit', goal: 'g' })
    project.write('src/s.ts', `${old}${content}export const limit = 1\nexport const other = 2\n`)
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it.' } })
    const state = async () => {
      await project.call('measure_landed')
      return (await project.call('show', { id: task_id })).landed.is
    }
    return { project, main, state }
  }

  test('are committed, and land, in the file of its new name', async () => {
    const { project, main, state } = await withRename()
    project.git('mv', 'src/s.ts', 'src/t.ts')
    project.git('commit', '-qam', 'Limit, renamed')
    expect(await state()).toBe('committed')
    project.git('checkout', '-q', main)
    expect(await state()).toBe('committed')
    project.git('merge', '-q', 'side')
    expect(await state()).toBe('landed')
    project.git('mv', 'src/t.ts', 'src/u.ts')
    project.git('commit', '-qam', 'Once more')
    expect(await state()).toBe('landed')
    project.git('rm', '-q', 'src/u.ts')
    project.git('commit', '-qm', 'Without it')
    expect(await state()).toBe('reverted')
  })
})

test('what a person undid replaces nothing', async () => {
  const work = await withTask({ removed: null })
  await laterTask(work, rewritten)
  const { tasks } = await work.project.call('taskman_task_list', { status: 'done' })
  const later = tasks.find(({ title }: { readonly title: string }) => title === 'Limits by plan')
  await work.project.call('undo', { id: later.id, yes: true }, { actor: person })
  const { tasks: measured } = await work.project.call('measure_landed', { task: work.task_id })
  expect(measured).toMatchObject([{ is: 'uncommitted' }])
})

describe('lines that a later task moved to another file', () => {
  const own = ['export const first = 10', 'export const second = 20', 'export const third = 30']
  const all = `${own.join('\n')}\n`
  const old = 'export const utils = () => 1\n'
  type Files = Readonly<Record<string, string | null>>
  const someToNew: Files = { 'src/s.ts': `${own[2]}\n`, 'src/s1.ts': `${own.slice(0, 2).join('\n')}\n` }
  const allToOld: Files = { 'src/s.ts': null, 'src/utils.ts': `${old}${all}` }

  async function doTask(project: Awaited<ReturnType<typeof openProject>>, files: Files): Promise<string> {
    const { task_id } = await project.call('start_task', { name: 'Numbers', goal: 'g' })
    for (const [path, content] of Object.entries(files))
      if (content === null) project.remove(path)
      else project.write(path, content)
    await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it.' } })
    return task_id
  }

  async function withMoved(...later: readonly Files[]) {
    const project = await openProject()
    project.write('src/utils.ts', old)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Utils')
    const ids: string[] = []
    for (const files of [{ 'src/s.ts': all }, ...later]) ids.push(await doTask(project, files))
    const state = async () => {
      await project.call('measure_landed')
      return (await project.call('show', { id: ids[0] })).landed.is
    }
    return { project, state }
  }

  test.each([
    ['some of them, to a new file', [someToNew]],
    ['all, to a file that was there', [allToOld]],
    ['twice', [allToOld, { 'src/utils.ts': old, 'src/t.ts': all }]],
    ['and back', [allToOld, { 'src/utils.ts': old, 'src/s.ts': all }]],
    ['with a line that was there', [{ 'src/s.ts': null, 'src/utils.ts': all }]],
  ] as const)('%s, land there', async (_, later) => {
    const { project, state } = await withMoved(...later)
    expect(await state()).toBe('uncommitted')
    project.git('checkout', '-qb', 'side')
    project.git('add', '-A')
    project.git('commit', '-qm', 'Numbers')
    expect(await state()).toBe('committed')
    project.git('checkout', '-q', '-')
    expect(await state()).toBe('committed')
    project.git('merge', '-q', 'side')
    expect(await state()).toBe('landed')
    expect(await state()).toBe('landed')
  })

  test('stay landed when another line was taken from where they had been', async () => {
    const project = await openProject()
    project.write('src/utils.ts', `${old}export const rest = 40\n`)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Utils')
    const work = { 'src/utils.ts': `${old}export const rest = 40\n${all}` }
    for (const files of [work, { 'src/utils.ts': old, 'src/s.ts': all }]) await doTask(project, files)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Numbers')
    for (const _ of [1, 2, 3]) expect((await project.call('measure_landed')).counts).toEqual({ landed: 2 })
  })

  test('are reverted in their new file', async () => {
    const { project, state } = await withMoved(allToOld)
    project.git('add', '-A')
    project.git('commit', '-qm', 'Numbers')
    expect(await state()).toBe('landed')
    project.git('revert', '--no-edit', 'HEAD')
    expect(await state()).toBe('reverted')
  })

  test('are not committed yet without the file to which they were moved', async () => {
    const { project, state } = await withMoved(someToNew)
    project.git('add', 'src/s.ts')
    project.git('commit', '-qm', 'Third')
    expect(await state()).toBe('uncommitted')
  })

  test('are lost once they are gone from there as well', async () => {
    const { state } = await withMoved(allToOld, { 'src/utils.ts': old })
    expect(await state()).toBe('lost')
  })

  const rewritten = all.replaceAll('const', 'let')
  test.each([
    ['rewrote them there', [allToOld, { 'src/utils.ts': `${old}${rewritten}` }]],
    [
      'moved what was written in their place',
      [{ 'src/s.ts': rewritten }, { 'src/s.ts': null, 'src/utils.ts': `${old}${rewritten}` }],
    ],
  ] as const)('are replaced if a later one %s', async (_, later) => {
    expect(await (await withMoved(...later)).state()).toBe('replaced')
  })
})

const cases: readonly (readonly [name: string, is: string, (work: Work) => void])[] = [
  ['in the work tree only', 'uncommitted', () => undefined],
  ['committed on another branch', 'committed', (work) => afterCommit(work)],
  [
    'merged with a merge commit',
    'landed',
    (work) => afterCommit(work).onMain(['merge', '-q', '--no-ff', '-m', 'm', 'feature']),
  ],
  ['merged by fast forward', 'landed', (work) => afterCommit(work).onMain(['merge', '-q', 'feature'])],
  [
    'squashed',
    'landed',
    (work) =>
      afterCommit(work).onMain(
        ['merge', '-q', '--squash', 'feature'],
        ['commit', '-q', '-m', 'Squashed'],
        ['branch', '-D', 'feature'],
      ),
  ],
  ['cherry-picked', 'landed', (work) => afterCommit(work).onMain(['cherry-pick', 'feature'])],
  [
    'rebased onto other work',
    'landed',
    (work) => {
      const { project, onMain } = afterCommit(work)
      onMain()
      project.write('README.md', '# Another\n')
      work.commit('Other work')
      project.git('rebase', '-q', work.main, 'feature')
      onMain(['merge', '-q', 'feature'])
    },
  ],
  [
    'merged with two of its lines changed',
    'landed',
    (work) => {
      const { project, onMain } = afterCommit(work)
      onMain(['merge', '-q', '--squash', 'feature'])
      project.write(
        'src/limit.ts',
        content.replace('limit3 = 21', 'limit3 = 22').replace('limit4 = 28', 'limit4 = 29'),
      )
      work.commit('Squashed and reviewed')
    },
  ],
  [
    'landed, and rewritten later',
    'landed',
    (work) => {
      const { project, onMain } = afterCommit(work)
      onMain(['merge', '-q', 'feature'])
      project.write('src/limit.ts', 'export const limits = all()\n')
      work.commit('Rewrite')
    },
  ],
  [
    'reverted',
    'reverted',
    (work) => afterCommit(work).onMain(['merge', '-q', 'feature'], ['revert', '--no-edit', 'HEAD']),
  ],
  [
    'reverted, and brought back',
    'landed',
    (work) =>
      afterCommit(work).onMain(
        ['merge', '-q', 'feature'],
        ['revert', '--no-edit', 'HEAD'],
        ['revert', '--no-edit', 'HEAD'],
      ),
  ],
  [
    'amended before it was merged',
    'landed',
    (work) =>
      afterCommit(work).onMain(
        ['checkout', '-q', 'feature'],
        ['commit', '-q', '--amend', '-m', 'Amended'],
        ['checkout', '-q', work.main],
        ['merge', '-q', 'feature'],
      ),
  ],
  [
    'thrown away',
    'lost',
    ({ project }) => {
      project.git('checkout', '-q', '--', 'utils.ts')
      project.remove('src/limit.ts')
    },
  ],
  [
    'committed on a branch that was deleted',
    'lost',
    (work) => afterCommit(work).onMain(['branch', '-q', '-D', 'feature']),
  ],
  [
    'committed with carriage returns',
    'landed',
    (work) => {
      work.project.write('src/limit.ts', content.replaceAll('\n', '\r\n'))
      afterCommit(work).onMain(['merge', '-q', 'feature'])
    },
  ],
]

describe('where the lines of a task are', () => {
  test.each(cases)('%s: %s', async (_, is, arrange) => {
    const work = await withTask()
    arrange(work)
    expect(await work.landed()).toMatchObject({ is })
  })

  test('what landed is not there any more once the branch was reset, and is there once it was only rewritten', async () => {
    const { project, landed, onMain, main } = afterCommit(await withTask())
    onMain(['merge', '-q', '--no-ff', '--no-edit', 'feature'])
    expect(await landed()).toMatchObject({ is: 'landed' })
    project.git('commit', '-q', '--amend', '-m', 'Merged in other words')
    expect(await landed()).toMatchObject({ is: 'landed' })
    project.git('reset', '-q', '--hard', 'HEAD~1')
    expect(await landed()).toMatchObject({ is: 'committed' })
    onMain(['merge', '-q', 'feature'])
    project.git('branch', '-q', '-D', 'feature')
    expect(await landed()).toMatchObject({ is: 'landed', branch: main })
    project.git('reset', '-q', '--hard', 'HEAD~1')
    expect(await landed()).toMatchObject({ is: 'lost' })
  })

  test('what landed on a branch that was the default one for a while has to land', async () => {
    const { project, landed, main } = afterCommit(await withTask())
    project.git('config', 'init.defaultBranch', 'feature')
    expect(await landed()).toMatchObject({ is: 'landed', branch: 'feature' })
    project.git('config', '--unset', 'init.defaultBranch')
    expect(await landed()).toMatchObject({ is: 'committed', branch: main })
  })

  test('a commit with a wrong date lands as any other, and its revert is seen', async () => {
    const work = await withTask()
    const { project, landed, onMain, main } = work
    const commitAt = (date: string, ...command: readonly string[]) =>
      execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b', ...command], {
        cwd: project.folder,
        env: { ...process.env, GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date },
      })
    project.git('add', '-A')
    commitAt('2001-01-01T00:00:00Z', 'commit', '-q', '-m', 'Long ago')
    onMain(['merge', '-q', 'feature'])
    expect(await landed()).toMatchObject({ is: 'landed' })
    commitAt('2099-01-01T00:00:00Z', 'commit', '-q', '--allow-empty', '-m', 'Far ahead')
    commitAt('2099-01-02T00:00:00Z', 'revert', '--no-edit', 'HEAD~1')
    expect(await landed()).toMatchObject({ is: 'reverted', branch: main })
  })

  test.each(['its HEAD', 'its usual name'])(
    'on a remote branch it is pushed, and on the default branch of the remote, by %s, it has landed',
    async (by) => {
      const work = afterCommit(await withTask())
      const { project, main, landed } = work
      const remote = mkdtempSync(join(tmpdir(), 'waymark-remote-'))
      onTestFinished(() => rmSync(remote, { recursive: true }))
      execFileSync('git', ['init', '-q', '--bare', '-b', main, remote])
      project.git('remote', 'add', 'origin', remote)
      project.git('push', '-q', 'origin', main, 'feature')
      // As after `git remote add` and a push, where git before 2.48 sets no origin/HEAD.
      project.git('remote', 'set-head', 'origin', ...(by === 'its HEAD' ? [main] : ['--delete']))
      expect(await landed()).toMatchObject({ is: 'pushed', branch: `origin/${main}` })
      work.onMain(['merge', '-q', 'feature'])
      // The local branch is ahead of the remote one, which is where others see it.
      expect(await landed()).toMatchObject({ is: 'pushed' })
      project.git('push', '-q', 'origin', main)
      expect(await landed()).toMatchObject({ is: 'landed' })
    },
  )

  test('a setting names the branch, and removed lines count', async () => {
    const { project, landed, task_id } = afterCommit(await withTask())
    await project.call('setting_set', { name: 'default_branch', value: 'feature' }, { actor: person })
    const { is, branch } = await landed()
    expect({ is, branch }).toEqual({ is: 'landed', branch: 'feature' })
    const { landed: shown } = await project.call('show', { id: task_id })
    expect(shown).toMatchObject({ is: 'landed', lines: 21, total: 21 })
  })

  test('without git, and in a shallow clone, it is not known', async () => {
    const { project } = await withTask({ git: false })
    expect(await project.call('measure_landed')).toMatchObject({ counts: {}, tasks: [] })
  })

  test('what did not change is recorded once', async () => {
    const { project, landed } = await withTask()
    const entries = async () => (await project.call('status'))['events']
    await landed()
    const once = await entries()
    await landed()
    expect(await entries()).toBe(once)
  })
})

test('a line that a second attempt put back with git is not a part of what has to land', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Limit', goal: 'g' })
  project.write('src/auth.ts', 'export const auth = 2\nexport const limit = 5\n')
  project.write('src/api.ts', 'export const api = 0\n')
  const ending = { task_id, status: 'success', outcome: { summary: 'Limited.' } }
  await project.call('complete_task', { ...ending, status: 'failed' })
  await project.call('start_task', { planned_task_id: task_id, name: 'Limit' })
  project.git('checkout', '-q', '--', 'src/api.ts')
  await project.call('complete_task', ending)
  project.git('commit', '-qam', 'Limit')
  await project.call('measure_landed')
  expect(await project.call('show', { id: task_id })).toMatchObject({
    landed: { is: 'landed', lines: 3, total: 3 },
  })
})

test.each([
  ['by hand', 'landed'],
  ['with a stash', 'uncommitted'],
] as const)('of work that a person sent back, what was put back %s: %s', async (how, is) => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Limit', goal: 'g' })
  const before = project.git('show', 'HEAD:src/api.ts')
  project.write('src/api.ts', 'export const api = 0\nexport const limit = () => 5\nexport const wait = 2\n')
  const ending = { task_id, status: 'success', outcome: { summary: 'Limited.' } }
  await project.call('complete_task', ending)
  const { content } = await project.call('review_show', { task: task_id }, { actor: person })
  const review = { subject: { task: task_id }, action: 'send_back', text: 'Not here.', content }
  await project.call('review_send', review, { actor: person })
  if (how === 'by hand') project.write('src/api.ts', before)
  else project.git('stash')
  await project.call('start_task', { planned_task_id: task_id, name: 'Limit' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call('complete_task', ending)
  project.git('commit', '-qam', 'Limit')
  await project.call('measure_landed')
  expect((await project.call('show', { id: task_id })).landed.is).toBe(is)
})

test.each([
  ['stays undone', 'landed'],
  ['was restored', 'uncommitted'],
] as const)('of work that is done again, what an undo took back and %s: %s', async (what, is) => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Tax', goal: 'g' })
  project.write('src/tax.ts', 'export const tax = 19\n')
  project.write('src/api.ts', 'export const api = 1\nexport const limit = () => 5\nexport const wait = 2\n')
  const ending = { task_id, status: 'success', outcome: { summary: 'Added a tax.' } }
  await project.call('complete_task', ending)
  const undo = { id: task_id, yes: true, reopen: true }
  const { snapshot_id: id } = await project.call('undo', undo, { actor: person })
  if (what === 'was restored') await project.call('restore', { id, yes: true }, { actor: person })
  await project.call('start_task', { planned_task_id: task_id, name: 'Tax' })
  project.write('src/tax.ts', 'export const tax = 20\n')
  await project.call('complete_task', ending)
  project.git('add', 'src/tax.ts')
  project.git('commit', '-qm', 'Tax')
  await project.call('measure_landed')
  expect((await project.call('show', { id: task_id })).landed.is).toBe(is)
})

test('what is on a branch that was left between two attempts has to land all the same', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Limit', goal: 'g' })
  const main = project.git('branch', '--show-current').trim()
  project.git('checkout', '-qb', 'first')
  project.write('src/api.ts', 'export const api = 0\nexport const limit = () => 5\nexport const wait = 2\n')
  project.git('commit', '-qam', 'Wait')
  const ending = { task_id, status: 'success', outcome: { summary: 'Limited.' } }
  await project.call('complete_task', { ...ending, status: 'failed' })
  project.git('checkout', '-q', main)
  await project.call('start_task', { planned_task_id: task_id, name: 'Limit' })
  project.write('src/auth.ts', 'export const auth = 2\n')
  await project.call('complete_task', ending)
  project.git('commit', '-qam', 'Limit')
  await project.call('measure_landed')
  expect((await project.call('show', { id: task_id })).landed.is).toBe('committed')
})

test('an agent that continues a mission learns what landed, and what was taken back', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'Auth', objective: 'Log in' })
  const work = async (name: string) => {
    const { task_id } = await project.call('start_task', { name, goal: 'g', mission_id })
    project.write(`src/${name}.ts`, content.replaceAll('limit', name))
    const ending = { task_id, status: 'success', outcome: { summary: `Added src/${name}.ts.` } }
    await project.call('complete_task', ending)
    return task_id as string
  }
  const context = async (more = {}) =>
    project.call('get_context', { mission_id, include: ['tasks'], ...more })
  const before = await context()
  expect(before).not.toHaveProperty('landed')
  const { task_id: empty } = await project.call('start_task', { name: 'Empty', goal: 'g', mission_id })
  const looked = { task_id: empty, status: 'success', outcome: { summary: 'Looked.' } }
  await project.call('complete_task', looked)
  await project.call('measure_landed')
  expect(await context()).not.toHaveProperty('landed')
  const kept = await work('kept')
  project.git('add', '-A')
  project.git('commit', '-q', '-m', 'Kept')
  const taken = await work('taken')
  project.git('add', '-A')
  project.git('commit', '-q', '-m', 'Taken')
  await project.call('measure_landed')
  project.git('revert', '--no-edit', 'HEAD')
  await project.call('measure_landed')
  const seen = await context()
  expect(seen.landed).toEqual({
    counts: { landed: 1, reverted: 1 },
    gone: [{ task_id: taken, name: 'taken', is: 'reverted' }],
  })
  expect(seen.tasks).toMatchObject([
    { id: taken, landed: 'reverted' },
    { id: kept, landed: 'landed' },
    { id: empty },
  ])
  expect(seen.tasks[2]).not.toHaveProperty('landed')
  expect(await context({ filter: { since: seen.as_of } })).not.toHaveProperty('landed')
})

test('lines of a later attempt are found although the first had none', async () => {
  const project = await openProject()
  const { task_id } = await project.call('start_task', { name: 'Limit logins', goal: 'g' })
  const asked = { manual_review_needed: true, manual_review_reason: 'Is it there?' }
  const outcome = { summary: 'Nothing to do.', no_change_reason: 'It is there.', ...asked }
  await project.call('complete_task', { task_id, status: 'success', outcome })
  expect((await project.call('measure_landed')).counts).toEqual({ none: 1 })
  const { items } = await project.call('inbox', { kind: 'review' }, { actor: person })
  await project.call('reject', { id: items[0].item_id, reason: 'Do it.' }, { actor: person })
  await project.call('start_task', { planned_task_id: task_id })
  project.write('src/limit.ts', content)
  await project.call('complete_task', { task_id, status: 'success', outcome: { summary: 'Done.' } })
  expect((await project.call('measure_landed')).counts).toEqual({ uncommitted: 1 })
})

test('what a later attempt added to work that landed has to land as well', async () => {
  const work = await withTask()
  const { project, task_id, landed } = work
  afterCommit(work).onMain(['merge', '-q', 'feature'])
  expect(await landed()).toMatchObject({ is: 'landed' })
  await project.call('taskman_task_edit', { task_id, status: 'to_do' }, { actor: person })
  await project.call('start_task', { planned_task_id: task_id, name: 'Limit logins' })
  project.write('src/more.ts', content)
  const ending = { task_id, status: 'success', outcome: { summary: 'Added src/more.ts.' } }
  await project.call('complete_task', ending)
  expect(await landed()).toMatchObject({ is: 'uncommitted' })
})

test('status counts only done tasks as not landed', async () => {
  const { project, task_id } = await withTask()
  await project.call('measure_landed')
  const plan = async () => (await project.call('status')).plan
  expect(await plan()).toMatchObject({ done: 1, not_landed: 1 })
  await project.call('taskman_task_edit', { id: task_id, status: 'to_do' }, { actor: person })
  expect(await plan()).toMatchObject({ done: 0, ready: 1, not_landed: 0 })
})

test('shows one task by its id, landed or not', async () => {
  const work = await withTask()
  const one = async () => (await work.project.call('measure_landed', { task: work.task_id })).tasks
  const paths = ['src/limit.ts', 'utils.ts']
  const uncommitted = { paths: expect.arrayContaining(paths), total: 2 }
  expect(await one()).toMatchObject([{ task_id: work.task_id, is: 'uncommitted', uncommitted }])
  work.project.git('commit', '-q', '-m', 'Remove utils', 'utils.ts')
  expect(await one()).toMatchObject([{ uncommitted: { paths: ['src/limit.ts'], total: 1 } }])
  afterCommit(work).onMain(['merge', '-q', 'feature'])
  expect(await one()).toMatchObject([{ task_id: work.task_id, is: 'landed' }])
  // Without a task that did not land, all are listed.
  expect((await work.project.call('measure_landed')).tasks).toEqual(await one())
  await work.project.call('taskman_task_edit', { id: work.task_id, status: 'to_do' }, { actor: person })
  expect(await work.project.call('measure_landed', { task: work.task_id })).toMatchObject({
    tasks: [],
    note: expect.stringContaining(work.task_id),
  })
  expect(await work.project.refused('measure_landed', { task: 't-000000000000' })).toMatchObject({
    code: 'NOT_FOUND',
  })
})

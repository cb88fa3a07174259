import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { git } from '../../support/git.ts'
import { recordGuardedCommand } from '../../support/guarded-command.ts'
import { openProject, type ProjectOptions, person, type TestProject } from '../../support/project.ts'

interface Work extends TestProject {
  /** Starts a task, makes its changes, and completes it. */
  readonly work: (status?: string) => Promise<string>
  /** Measures the work tree: another task begins. */
  readonly measure: () => Promise<void>
  readonly losses: () => Promise<readonly { readonly item_id: string; readonly paths: readonly string[] }[]>
  readonly guard: () => Promise<void>
}

async function opened(options: ProjectOptions = {}): Promise<Work> {
  const project = await openProject(options)
  const { call, write, wait } = project
  return {
    ...project,
    work: async (status = 'success') => {
      const { task_id } = await call('start_task', { name: 'Any', goal: 'g' })
      wait(1000)
      write('src/auth.ts', 'work\n')
      write('src/new.ts', 'new\n')
      await call('complete_task', { task_id, status, outcome: { summary: 'Changed src/auth.ts.' } })
      wait(1000)
      return task_id
    },
    measure: async () => {
      wait(1000)
      await call('start_task', { name: 'Next', goal: 'g' })
    },
    losses: async () => (await call('inbox', { kind: 'loss' })).items,
    guard: async () => {
      wait(1000)
      await recordGuardedCommand(project, 'git checkout -- <paths>')
    },
  }
}

function rulesOf({ reasons }: { readonly reasons: readonly { readonly rule: string }[] }): readonly string[] {
  return reasons.map(({ rule }) => rule)
}

/** A repository without a commit. */
function unborn(folder: string): void {
  mkdirSync(folder, { recursive: true })
  git(folder, 'init', '-q')
}

const destroying: readonly (readonly [string, (project: Work) => void, readonly string[]])[] = [
  ['git checkout -- .', ({ git }) => git('checkout', '--', '.'), ['src/auth.ts']],
  ['git reset --hard', ({ git }) => git('reset', '-q', '--hard'), ['src/auth.ts']],
  ['git clean -f', ({ git }) => git('clean', '-fq'), ['src/new.ts']],
  [
    'a commit of another file and git checkout',
    ({ git, write }) => {
      write('utils.ts', 'other\n')
      git('commit', '-qm', 'other', 'utils.ts')
      git('checkout', '--', '.')
    },
    ['src/auth.ts'],
  ],
  [
    'git switch --discard-changes',
    ({ git }) => git('switch', '-q', '--discard-changes', '-c', 'x', 'HEAD'),
    ['src/auth.ts'],
  ],
]

test.each(destroying)(
  '%s loses uncommitted work of a done task, which can be restored',
  async (_, destroy, lost) => {
    const project = await opened()
    const { call, losses, measure, work, folder } = project
    const id = await work()
    destroy(project)
    await measure()
    const [item, ...others] = await losses()
    expect(others).toEqual([])
    expect(item).toMatchObject({ kind: 'loss', task_id: id, paths: lost })
    await measure()
    expect(await losses()).toHaveLength(1)
    const restored = await call('restore', { id: item?.item_id, yes: true }, { actor: person })
    expect(restored).toMatchObject({ written: true, files: lost.map((path) => ({ path })) })
    expect(await losses()).toEqual([])
    rmSync(join(folder, 'src/new.ts'), { force: true })
  },
)

test('work of an open task that a guarded command was about to destroy is lost, and again after it was restored', async () => {
  const { call, git, write, guard, losses, measure, wait } = await opened()
  const { task_id: id } = await call('start_task', { name: 'Any', goal: 'g' })
  write('src/auth.ts', 'work\n')
  await guard()
  git('checkout', '--', '.')
  wait(1000)
  const answer = await call('complete_task', {
    task_id: id,
    status: 'partial_success',
    outcome: { summary: 'Nothing is left.' },
  })
  expect(await losses()).toMatchObject([{ task_id: id, paths: ['src/auth.ts'] }])
  expect(JSON.stringify(answer)).toContain('src/auth.ts')
  const { events } = await call('log')
  const { loss } = events.find(({ kind }: { kind: string }) => kind === 'files.lost').body
  expect(loss).toMatchObject({
    files: [{ path: 'src/auth.ts', became: 'head' }],
    commands: ['git checkout -- <paths>'],
  })
  await call('restore', { id: loss.itemId, yes: true }, { actor: person })
  git('checkout', '--', '.')
  await measure()
  expect(await losses()).toMatchObject([{ task_id: id, paths: ['src/auth.ts'] }])
})

test('files that were kept at different times are lost apart, and restoring them removes no other', async () => {
  const { call, git, write, guard, losses, measure, folder } = await opened()
  await call('start_task', { name: 'Any', goal: 'g' })
  write('src/auth.ts', 'work\n')
  await guard()
  git('checkout', '--', '.')
  write('src/new.ts', 'new\n')
  await guard()
  git('clean', '-fdq')
  await measure()
  const items = await losses()
  expect(items).toHaveLength(2)
  expect(items.flatMap(({ paths }) => paths).toSorted()).toEqual(['src/auth.ts', 'src/new.ts'])
  for (const { item_id: id } of items) await call('restore', { id, yes: true }, { actor: person })
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  expect([read('src/auth.ts'), read('src/new.ts')]).toEqual(['work\n', 'new\n'])
})

test('what was stashed with further edits is not lost', async () => {
  const { git, write, measure, losses, work } = await opened()
  await work()
  write('src/auth.ts', 'further\n')
  git('stash', 'push', '-q')
  await measure()
  expect(await losses()).toEqual([])
})

const explained: readonly (readonly [string, (project: Work) => unknown])[] = [
  ['nothing', () => undefined],
  [
    'another edit of a person',
    ({ write }) => [write('src/auth.ts', 'by hand\n'), write('src/new.ts', 'by hand\n')],
  ],
  ['a commit', ({ git }) => [git('add', '-A'), git('commit', '-qm', 'all')]],
  [
    'a commit after further edits',
    ({ git, write }) => [write('src/auth.ts', 'further\n'), git('add', '-A'), git('commit', '-qm', 'all')],
  ],
  ['a stash', ({ git }) => git('stash', 'push', '-qu')],
  ['a branch switch that carries it along', ({ git }) => git('switch', '-qc', 'topic')],
  [
    'a commit on a branch that is left',
    ({ git }) => [
      git('switch', '-qc', 'topic'),
      git('add', '-A'),
      git('commit', '-qm', 'all'),
      git('switch', '-q', '-'),
    ],
  ],
  ['a rename', ({ git }) => git('mv', 'src/auth.ts', 'src/login.ts')],
  [
    'a command of a person',
    async ({ call, git }) => {
      const { restorable } = await call('restore_list', {}, { actor: person })
      git('checkout', '--', '.')
      const { snapshot_id: id } = await call(
        'restore',
        { id: restorable[0].id, yes: true },
        { actor: person },
      )
      await call('restore', { id, yes: true }, { actor: person })
    },
  ],
]

test.each(explained)('%s loses nothing', async (_, change) => {
  const project = await opened()
  await project.work()
  await change(project)
  await project.measure()
  expect(await project.losses()).toEqual([])
})

test.each(['failed', 'rejected'])('what a %s task changed may go', async (how) => {
  const { call, git, work, measure, losses } = await opened()
  const id = await work(how === 'failed' ? 'failed' : 'success')
  if (how === 'rejected') {
    const { content } = await call('review_show', { task: id }, { actor: person })
    const sent = { subject: { task: id }, action: 'send_back', text: 'No.', content, viewed: true }
    await call('review_send', sent, { actor: person })
  }
  git('reset', '-q', '--hard')
  git('clean', '-fdq')
  await measure()
  expect(await losses()).toEqual([])
})

/** What becomes of the files of a task that was sent back, while its next attempt is open. */
const begunAgain: readonly (readonly [string, boolean, (project: Work) => unknown])[] = [
  ['is no loss where it puts them back itself', false, ({ git }) => git('checkout', '--', '.')],
  [
    'is a loss where a guarded command of another session took them',
    true,
    async ({ git, guard }) => {
      await guard()
      git('checkout', '--', '.')
    },
  ],
  ['is a loss where the reflog has a reset', true, ({ git }) => git('reset', '-q', '--hard')],
]

test.each(begunAgain)('work of an earlier attempt %s', async (_, isLoss, take) => {
  const project = await opened()
  const { call, write, work, measure, losses, wait } = project
  const id = await work()
  const { content } = await call('review_show', { task: id }, { actor: person })
  const sent = { subject: { task: id }, action: 'send_back', text: 'Put it back.', content, viewed: true }
  await call('review_send', sent, { actor: person })
  wait(1000)
  await call('start_task', { planned_task_id: id })
  await measure()
  wait(1000)
  await take(project)
  await measure()
  const paths = isLoss ? [['src/auth.ts']] : []
  expect((await losses()).map((item) => item.paths)).toEqual(paths)
  write('src/more.ts', 'more\n')
  const outcome = { summary: 'Added src/more.ts.' }
  const { verdict } = await call('complete_task', { task_id: id, status: 'success', outcome })
  expect(rulesOf(verdict)).not.toContain('files_lost')
})

test('a loss is not held against a task that was only open beside it', async () => {
  const { call, git, write, guard, losses, wait } = await opened()
  const begin = async (name: string) => {
    const { task_id } = await call('start_task', { name, goal: 'g', agent_name: name })
    return (summary: string) => call('complete_task', { task_id, status: 'success', outcome: { summary } })
  }
  const endFirst = await begin('first')
  const endBeside = await begin('beside')
  wait(1000)
  write('src/auth.ts', 'work\n')
  write('src/beside.ts', 'beside\n')
  await endFirst('Changed src/auth.ts.')
  await guard()
  git('checkout', '--', '.')
  wait(1000)
  const { verdict } = await endBeside('Added src/beside.ts.')
  expect((await losses()).map(({ paths }) => paths)).toEqual([['src/auth.ts']])
  expect(rulesOf(verdict)).not.toContain('files_lost')
})

test('a claim about lost work is not contradicted, in the preview as at the completion', async () => {
  const project = await opened()
  const { call, write, git, wait, guard, losses } = project
  const done_when = { changes: ['src/auth.ts'] }
  const { task_id } = await call('start_task', { name: 'Any', goal: 'g', done_when })
  wait(1000)
  write('src/auth.ts', 'work\n')
  await guard()
  git('reset', '-q', '--hard')
  wait(1000)
  const complete = (more: object = {}) =>
    call('complete_task', {
      task_id,
      status: 'success',
      outcome: { summary: 'Changed src/auth.ts.' },
      ...more,
    })
  const preview = await complete({ preview: true })
  expect(preview.verdict).toMatchObject({
    is: 'unproven',
    reasons: [{ rule: 'files_lost', paths: ['src/auth.ts'] }, { rule: 'no_check' }],
  })
  const completed = await complete()
  expect(completed.verdict).toEqual(preview.verdict)
  const [item, ...others] = await losses()
  expect(item).toMatchObject({ paths: ['src/auth.ts'] })
  expect(others).toEqual([])
  await call('resolve', { id: item?.item_id, dismiss: true }, { actor: person })
  const shown = await call('show', { id: task_id })
  expect(rulesOf(shown.attempts[0].verdict)).toEqual(['no_check'])
  expect(JSON.stringify(shown)).not.toContain('waymark restore')
})

test('a dismissed loss stays closed', async () => {
  const { call, git, work, measure, losses } = await opened()
  await work()
  git('checkout', '--', '.')
  await measure()
  const [item] = await losses()
  await call('resolve', { id: item?.item_id, dismiss: true }, { actor: person })
  await measure()
  expect(await losses()).toEqual([])
})

test('who starts or continues learns of open losses of its mission and its scope, until they are restored', async () => {
  const { call, git, write, measure, losses, wait } = await opened()
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  const { mission_id: other } = await call('start_mission', { name: 'Other', objective: 'o' })
  const { task_id } = await call('start_task', { name: 'Any', goal: 'g', mission_id })
  wait(1000)
  for (const name of ['a', 'b', 'c', 'd']) write(`src/${name}.ts`, 'work\n')
  await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Added src/a.ts.' } })
  wait(1000)
  git('clean', '-fdq', 'src')
  await measure()
  const [item] = await losses()
  const loss = {
    item_id: item?.item_id,
    task_id,
    paths: ['src/a.ts', 'src/b.ts', 'src/c.ts'],
    paths_total: 4,
    restore: `waymark restore ${item?.item_id}`,
  }
  const context = (id: string, more = {}) =>
    call('get_context', { mission_id: id, include: ['tasks'], ...more })
  const start = (more: object) => call('start_task', { name: 'Later', goal: 'g', ...more })
  const seen = await context(mission_id)
  expect(seen).toMatchObject({ losses: [loss], losses_total: 1 })
  expect(await context(mission_id, { filter: { since: seen.as_of } })).not.toHaveProperty('losses')
  expect(await context(other)).not.toHaveProperty('losses')
  expect(await start({ mission_id })).toMatchObject({ losses: [loss] })
  expect(await start({ areas: ['src/'] })).toMatchObject({ losses: [loss] })
  expect(await start({ areas: ['docs/'], mission_id: other })).not.toHaveProperty('losses')
  await call('restore', { id: item?.item_id, yes: true }, { actor: person })
  expect(await context(mission_id)).not.toHaveProperty('losses')
})

test('a loss of several agents concerns every mission', async () => {
  const { call, git, write, measure, wait } = await opened()
  const { mission_id } = await call('start_mission', { name: 'Auth', objective: 'Log in' })
  for (const agent_name of ['ada', 'bo']) {
    const { task_id } = await call('start_task', { name: agent_name, goal: 'g', agent_name })
    wait(1000)
    write(`src/${agent_name}.ts`, 'work\n')
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Added it.' } })
    wait(1000)
  }
  git('clean', '-fdq', 'src')
  await measure()
  expect(await call('get_context', { mission_id, include: ['tasks'] })).toMatchObject({
    losses: [{ task_id: null, paths: ['src/ada.ts', 'src/bo.ts'], paths_total: 2 }],
  })
})

test('a project that records no lines still learns what it lost', async () => {
  const { call, git, work, measure, losses } = await opened()
  await call('setting_set', { name: 'lines', value: 'off' }, { actor: person })
  const id = await work()
  git('checkout', '--', '.')
  await measure()
  const [item] = await losses()
  expect(item).toMatchObject({ task_id: id, paths: ['src/auth.ts'] })
  const restored = await call('restore', { id: item?.item_id, yes: true }, { actor: person })
  expect(restored).toMatchObject({ written: true, files: [{ path: 'src/auth.ts' }] })
  const { events } = await call('log')
  expect(events.map(({ kind }: { kind: string }) => kind)).not.toContain('lines.recorded')
})

test.each([
  ['on this machine', {}],
  ['on another machine, where it is restored', { isOnMachine: true }],
])('%s what is restored and lost again before the next measurement is another loss', async (_, options) => {
  const { call, git, work, measure, losses, wait } = await opened(options)
  const id = await work()
  git('checkout', '--', '.')
  await measure()
  const items = new Set<string | undefined>()
  for (const time of [1, 2]) {
    const [item, ...others] = await losses()
    expect(others).toEqual([])
    expect(item).toMatchObject({ task_id: id, paths: ['src/auth.ts'] })
    items.add(item?.item_id)
    wait(1000)
    const restored = await call('restore', { id: item?.item_id, yes: true }, { actor: person })
    expect(restored).toMatchObject({ written: true, files: [{ path: 'src/auth.ts' }] })
    expect(await losses()).toEqual([])
    if (time === 1) git('checkout', '--', '.')
    await measure()
  }
  expect(items.size).toBe(2)
  expect(await losses()).toEqual([])
})

test.each([
  ['without git', { git: false }],
  ['before the first commit', { fill: unborn }],
])('%s a file of an agent that is gone is lost, and one that a person changed is not', async (_, options) => {
  const { call, write, work, measure, losses, remove, folder } = await opened(options)
  write('src/own.ts', 'of a person\n')
  const id = await work()
  write('src/auth.ts', 'by hand\n')
  remove('src/new.ts')
  remove('src/own.ts')
  await measure()
  const [item, ...others] = await losses()
  expect(others).toEqual([])
  expect(item).toMatchObject({ kind: 'loss', task_id: id, paths: ['src/new.ts'] })
  await call('restore', { id: item?.item_id, yes: true }, { actor: person })
  expect(readFileSync(join(folder, 'src/new.ts'), 'utf8')).toBe('new\n')
  expect(await losses()).toEqual([])
})

test('the item of a loss closes with the last of its files, or when all are there', async () => {
  const { call, git, write, work, measure, losses, wait } = await opened()
  await work()
  git('reset', '-q', '--hard')
  git('clean', '-fdq')
  await measure()
  const restore = (input: object) => call('restore', { yes: true, ...input }, { actor: person })
  const [item] = await losses()
  const id = item?.item_id
  expect(item?.paths).toEqual(['src/auth.ts', 'src/new.ts'])
  wait(1000)
  await restore({ id, paths: ['src/auth.ts'] })
  expect(await losses()).toHaveLength(1)
  await restore({ id, paths: ['src/new.ts'] })
  expect(await losses()).toEqual([])

  await measure()
  wait(1000)
  git('clean', '-fdq')
  await measure()
  const [again] = await losses()
  write('src/new.ts', 'new\n')
  expect(await call('restore', { id: again?.item_id, dry_run: true }, { actor: person })).toMatchObject({
    files_total: 0,
    same: 1,
  })
  expect(await losses()).toHaveLength(1)
  await restore({ id: again?.item_id })
  expect(await losses()).toEqual([])
})

test('what an undo wrote over a committed file is no loss when it goes, and uncommitted work beside it is', async () => {
  const { call, git, write, wait, measure, losses } = await opened()
  const committed = async (text: string) => {
    const { task_id } = await call('start_task', { name: 'Any', goal: 'g' })
    wait(1000)
    write('src/auth.ts', text)
    await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it' } })
    git('commit', '-qam', 'work')
    wait(1000)
    return task_id
  }
  const id = await committed('one\n')
  await committed('two\n')
  const undo = { id, yes: true, conflicts: true }
  await call('undo', undo, { actor: person })
  git('checkout', '--', '.')
  await measure()
  expect(await losses()).toEqual([])
  write('src/auth.ts', 'two\nnot committed\n')
  await measure()
  await call('undo', undo, { actor: person })
  git('checkout', '--', '.')
  await measure()
  expect(await losses()).toMatchObject([{ paths: ['src/auth.ts'] }])
})

test('an older content of a lost file that comes back leaves the loss open', async () => {
  const { call, git, write, wait, work, measure, losses } = await opened()
  const id = await work()
  const { task_id } = await call('start_task', { name: 'Another', goal: 'g' })
  wait(1000)
  write('src/auth.ts', 'work\nand more\n')
  await call('complete_task', { task_id, status: 'success', outcome: { summary: 'Did it' } })
  git('checkout', '--', '.')
  await measure()
  const [loss] = await losses()
  expect(loss).toMatchObject({ paths: ['src/auth.ts'] })
  await call('restore', { id, yes: true, paths: ['src/auth.ts'] }, { actor: person })
  expect(await losses()).toHaveLength(1)
  await call('restore', { id: loss?.item_id, yes: true, force: true }, { actor: person })
  expect(await losses()).toEqual([])
})

test('reviews show what a restored loss of several tasks brought back, each of its own work', async () => {
  const { call, git, write, wait, losses } = await opened()
  const work = async (path: string, content: string) => {
    const { task_id } = await call('start_task', { name: path, goal: 'g' })
    wait(1000)
    write(path, content)
    await call('complete_task', { task_id, status: 'success', outcome: { summary: `Changed ${path}.` } })
    wait(1000)
    return task_id
  }
  const first = await work('src/auth.ts', 'first\n')
  const second = await work('src/auth.ts', 'first\nsecond\n')
  await work('src/api.ts', 'third\n')
  git('checkout', '--', '.')
  await work('utils.ts', 'later\n')
  const [item] = await losses()
  await call('restore', { id: item?.item_id, yes: true }, { actor: person })
  const reviewed = async (subject: object) => {
    const { files } = await call('review_show', subject, { actor: person })
    return files.map(({ path, added }: { path: string; added: number }) => [path, added])
  }
  expect(await reviewed({ since: true })).toEqual([
    ['src/api.ts', 1],
    ['src/auth.ts', 2],
    ['utils.ts', 1],
  ])
  expect(await reviewed({ task: first })).toEqual([['src/auth.ts', 1]])
  expect(await reviewed({ task: second })).toEqual([['src/auth.ts', 1]])
})

test('what a person typed beside an undo and threw away is no loss of the undone or another task', async () => {
  const { call, git, write, work, measure, losses } = await opened()
  const undone = await work()
  write('src/auth.ts', 'work\ntyped before\n')
  await call('undo', { id: undone, yes: true }, { actor: person })
  write('src/auth.ts', 'typed after\n')
  git('checkout', '--', '.')
  await measure()
  expect(await losses()).toEqual([])
})

test('what a person typed into committed work beside an undo of other work is no loss of an agent', async () => {
  const { call, git, write, wait, work, losses } = await opened()
  await work()
  const { task_id: other } = await call('start_task', { name: 'Other', goal: 'g' })
  write('utils.ts', 'other\n')
  await call('complete_task', { task_id: other, status: 'success', outcome: { summary: 'Did it' } })
  git('commit', '-qam', 'work')
  wait(1000)
  write('src/auth.ts', 'work\ntyped\n')
  await call('undo', { id: other, yes: true }, { actor: person })
  git('checkout', '--', 'src/auth.ts')
  wait(1000)
  await call('start_task', { name: 'Next', goal: 'g' })
  expect(await losses()).toEqual([])
})

test('uncommitted work under what a person typed beside an undo is lost, and restored without it', async () => {
  const { call, git, folder, write, wait, work, measure, losses } = await opened()
  await work()
  const { task_id: other } = await call('start_task', { name: 'Other', goal: 'g' })
  write('utils.ts', 'other\n')
  await call('complete_task', { task_id: other, status: 'success', outcome: { summary: 'Did it' } })
  wait(1000)
  write('src/auth.ts', 'work\ntyped\n')
  await call('undo', { id: other, yes: true }, { actor: person })
  git('checkout', '--', 'src/auth.ts')
  await measure()
  const [item] = await losses()
  expect(item?.paths).toEqual(['src/auth.ts'])
  await call('restore', { id: item?.item_id, yes: true }, { actor: person })
  expect(readFileSync(join(folder, 'src/auth.ts'), 'utf8')).toBe('work\n')
})

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { Randomness } from '../git/randomness.ts'
import { amount } from '../support/amount.ts'
import { temporaryFolder } from '../support/git-repository.ts'
import { type Answer, openProject, person, type TestProject } from '../support/project.ts'
import { numstat, treeOf } from './together/agents.ts'

const done = { status: 'success', outcome: { summary: 's' } }

/** The same number wherever a mission's changes are told. */
async function told(project: TestProject, id: string) {
  const changes = await project.call('mission_changes', { id, limit: 10_000 })
  const timeline = await project.call('mission_timeline', { id })
  const detail = await project.call('show', { id })
  const { diff } = await project.call('diff', { id })
  const lines = (diff as string).split('\n')
  const counted = (sign: string) =>
    lines.filter((line) => line.startsWith(sign) && !line.startsWith(sign.repeat(3))).length
  expect(changes.added_lines).toBe(timeline.totals.added)
  expect(changes.deleted_lines).toBe(timeline.totals.deleted)
  expect(changes.total).toBe(timeline.totals.files_changed)
  expect(changes.total).toBe(detail.files_changed)
  expect({ added: counted('+'), deleted: counted('-') }).toEqual({
    added: changes.added_lines,
    deleted: changes.deleted_lines,
  })
  return {
    paths: changes.files.map(({ path }: Answer) => path).sort(),
    added: changes.added_lines,
    deleted: changes.deleted_lines,
  }
}

test('a file that several agents wrote counts once, as it was and as it is', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const start = (agent: string) => project.call('start_task', { mission_id, name: agent, agent_name: agent })
  const before = treeOf(project.folder)
  const [one, two] = [await start('one'), await start('two')]
  project.write('shared.ts', 'a\nb\nc\n')
  project.write('gone.ts', 'x\n')
  await project.call('complete_task', { task_id: one.task_id, ...done })
  project.write('shared.ts', 'a\nB\nc\nd\n')
  project.remove('gone.ts')
  await project.call('complete_task', { task_id: two.task_id, ...done })
  expect(await told(project, mission_id)).toEqual({ paths: ['shared.ts'], added: 4, deleted: 0 })
  expect(numstat(project.folder, before, treeOf(project.folder))).toEqual({
    paths: ['shared.ts'],
    added: 4,
    deleted: 0,
  })
})

test('what somebody wrote between two tasks is in the state, and said', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const work = async (write: () => void) => {
    const { task_id } = await project.call('start_task', { mission_id, name: 'n' })
    write()
    await project.call('complete_task', { task_id, ...done })
  }
  await work(() => project.write('src/auth.ts', 'one\n'))
  project.write('src/auth.ts', 'one\nby hand\n')
  project.write('of-nobody.ts', 'by hand\n')
  await work(() => project.write('src/api.ts', 'two\n'))
  const { files } = await project.call('mission_changes', { id: mission_id })
  expect(files).toMatchObject([
    { path: 'src/api.ts', others: false },
    { path: 'src/auth.ts', others: true, added_lines: 2 },
  ])
})

test('what an attempt of another mission may have written too is said', async () => {
  const project = await openProject()
  const mission = async (name: string) =>
    (await project.call('start_mission', { name, objective: 'o' })).mission_id
  const [first, second] = [await mission('a'), await mission('b')]
  const one = await project.call('start_task', { mission_id: first, name: 'one', agent_name: 'one' })
  const two = await project.call('start_task', { mission_id: second, name: 'two', agent_name: 'two' })
  project.write('src/auth.ts', 'whose?\n')
  await project.call('complete_task', { task_id: one.task_id, ...done })
  await project.call('complete_task', { task_id: two.task_id, ...done })
  for (const id of [first, second]) {
    expect((await project.call('mission_changes', { id })).files).toMatchObject([
      { others: true, added_lines: 1 },
    ])
  }
})

test('an attempt around another one leaves the files of both', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const before = treeOf(project.folder)
  const start = async (name: string) =>
    (await project.call('start_task', { mission_id, name, agent_name: name })).task_id
  const [long, short] = [await start('long'), await start('short')]
  project.write('src/short.ts', 'short\n')
  await project.call('complete_task', { task_id: short, ...done })
  project.write('src/long.ts', 'long\n')
  await project.call('complete_task', { task_id: long, ...done })
  expect(await told(project, mission_id)).toEqual(numstat(project.folder, before, treeOf(project.folder)))
  const { files } = await project.call('review_show', { mission: mission_id }, { actor: person })
  expect(files.map(({ path }: Answer) => path)).toEqual(['src/long.ts', 'src/short.ts'])
  const { diff } = await project.call('diff', { id: mission_id })
  expect(diff).toMatch(/src\/long.ts[\s\S]*src\/short.ts/)
})

test('two that end at the same moment leave the state of the later one', async () => {
  const project = await openProject()
  const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
  const before = treeOf(project.folder)
  const tasks = await Promise.all(
    ['one', 'two', 'three'].map((name) => project.call('start_task', { mission_id, name, agent_name: name })),
  )
  project.write('src/auth.ts', 'all\nof\nthem\n')
  project.write('new.ts', 'x\n')
  await Promise.all(tasks.map(({ task_id }) => project.call('complete_task', { task_id, ...done })))
  expect(await told(project, mission_id)).toEqual(numstat(project.folder, before, treeOf(project.folder)))
})

/** Commits are made some seconds later: in the same second it is not known which of two is a copy of the other. */
function later(work: () => void): void {
  vi.stubEnv('GIT_COMMITTER_DATE', new Date(Date.now() + 3_000).toISOString())
  try {
    work()
  } finally {
    vi.stubEnv('GIT_COMMITTER_DATE', undefined)
  }
}

describe('what git does with the lines of a task before the mission ends', () => {
  const lines = (from: number, count: number) =>
    Array.from({ length: count }, (_, at) => `line ${from + at} of a text that is long enough\n`).join('')

  async function openMission() {
    const project = await openProject()
    const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
    const work = async (write: () => void, work_tree?: string) => {
      const { task_id } = await project.call('start_task', { mission_id, name: 'n', work_tree })
      write()
      return project.call('complete_task', { task_id, ...done })
    }
    const commit = () => {
      project.git('add', '-A')
      project.git('commit', '-q', '--allow-empty', '-m', 'Some')
    }
    const read = (path: string) => readFileSync(join(project.folder, path), 'utf8')
    const main = project.git('branch', '--show-current').trim()
    const commitIn = (folder: string, path: string, content: string) => {
      writeFileSync(join(folder, path), content)
      project.git('-C', folder, 'add', '-A')
      project.git('-C', folder, 'commit', '-q', '-m', 'Elsewhere')
    }
    const branchBeside = () => {
      const folder = join(temporaryFolder(), 'side')
      project.git('worktree', 'add', '-q', '-b', 'side', folder)
      return folder
    }
    const mergeSide = () => project.git('merge', '-q', '--no-ff', '-m', 'Merge', 'side')
    const openServer = () => {
      const [server, folder] = [temporaryFolder(), join(temporaryFolder(), 'clone')]
      project.git('clone', '-q', '--bare', '.', server)
      project.git('remote', 'add', 'origin', server)
      const there = (...words: string[]) => project.git('-C', folder, ...words)
      return { folder, there, clone: () => project.git('clone', '-q', server, folder) }
    }
    const files = async () => {
      const answer = await project.call('mission_changes', { id: mission_id })
      return Object.fromEntries(
        answer.files.map((one: Answer) => [one.path, [one.added_lines, one.deleted_lines]]),
      )
    }
    return { project, work, commit, commitIn, branchBeside, mergeSide, openServer, read, main, files }
  }

  test('keeps them when a branch that began with them is merged before another commit', async () => {
    const { project, work, commit, commitIn, branchBeside, mergeSide, files } = await openMission()
    await work(() => {
      project.write('card.ts', lines(0, 21))
      project.write('card.test.ts', lines(50, 15))
      commit()
    })
    commitIn(branchBeside(), 'side.ts', lines(100, 4))
    await work(() => {
      project.write('shop.ts', lines(200, 3))
      commit()
    })
    mergeSide()
    await work(() => {
      project.write('card.ts', `${lines(0, 20)}${lines(900, 1)}`)
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [21, 0], 'card.test.ts': [15, 0], 'shop.ts': [3, 0] })
  })

  test('keeps them in a task that merges such a branch and commits again', async () => {
    const { project, work, commit, commitIn, branchBeside, mergeSide, files } = await openMission()
    await work(() => {
      project.write('card.ts', lines(0, 21))
      commit()
      commitIn(branchBeside(), 'side.ts', lines(100, 4))
      project.write('shop.ts', lines(200, 3))
      commit()
      mergeSide()
      project.write('shop.ts', lines(200, 5))
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [21, 0], 'shop.ts': [5, 0], 'side.ts': [0, 0] })
  })

  test.each([
    { when: 'between two tasks', isInTask: false },
    { when: 'in a task', isInTask: true },
  ])('keeps them when a server squashes them and they are pulled $when', async ({ isInTask }) => {
    const { project, work, commit, openServer, main, files } = await openMission()
    const { there, clone } = openServer()
    const squashAndPull = () => {
      project.git('push', '-q', 'origin', 'topic')
      clone()
      there('merge', '-q', '--squash', 'origin/topic')
      later(() => there('commit', '-q', '-m', 'Squashed'))
      there('push', '-q', 'origin', main)
      project.git('checkout', '-q', main)
      project.git('pull', '-q', 'origin', main)
    }
    project.git('checkout', '-q', '-b', 'topic')
    await work(() => {
      project.write('card.ts', lines(0, 21))
      commit()
      project.write('card.test.ts', lines(50, 15))
      commit()
      if (isInTask) squashAndPull()
    })
    if (!isInTask) squashAndPull()
    await work(() => {
      project.write('card.ts', `${lines(0, 20)}${lines(900, 1)}`)
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [21, 0], 'card.test.ts': [15, 0] })
  })

  test('keeps them when main had other lines, and the branch was not there in between', async () => {
    const { project, work, commit, commitIn, openServer, main, files } = await openMission()
    const { folder, there, clone } = openServer()
    project.git('checkout', '-q', '-b', 'topic')
    await work(() => {
      project.write('card.ts', lines(0, 21))
      commit()
    })
    project.git('push', '-q', 'origin', 'topic')
    project.git('checkout', '-q', main)
    await work(() => {
      project.write('shop.ts', lines(200, 3))
      commit()
    })
    project.git('push', '-q', 'origin', main)
    clone()
    there('merge', '-q', '--squash', 'origin/topic')
    later(() => {
      there('commit', '-q', '-m', 'Squashed')
      commitIn(folder, 'card.ts', `${lines(300, 6)}${lines(0, 21)}`)
    })
    there('push', '-q', 'origin', main)
    project.git('pull', '-q', 'origin', main)
    await work(() => {
      project.write('shop.ts', lines(200, 4))
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [21, 0], 'shop.ts': [4, 0] })
  })

  test('keeps them when somebody else commits them and they are pulled', async () => {
    const { project, work, commitIn, openServer, main, files } = await openMission()
    const { folder, there, clone } = openServer()
    clone()
    await work(() => project.write('card.ts', lines(0, 21)))
    commitIn(folder, 'card.ts', lines(0, 21))
    there('push', '-q', 'origin', main)
    project.remove('card.ts')
    project.git('pull', '-q', 'origin', main)
    await work(() => project.write('shop.ts', lines(200, 3)))
    expect(await files()).toEqual({ 'card.ts': [21, 0], 'shop.ts': [3, 0] })
  })

  test('adds those of a task in another work tree once, also after they are merged', async () => {
    const { project, work, commit, commitIn, branchBeside, mergeSide, read, files } = await openMission()
    const folder = branchBeside()
    await work(() => {
      project.write('shop.ts', lines(200, 3))
      commit()
    })
    await work(() => {
      commitIn(folder, 'card.ts', lines(0, 21))
    }, folder)
    mergeSide()
    await work(() => {
      project.write('card.ts', `${read('card.ts')}${lines(900, 2)}`)
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [23, 0], 'shop.ts': [3, 0] })
  })

  test('counts the lines that git brought into a file of the mission for nobody', async () => {
    const { project, work, commit, commitIn, branchBeside, mergeSide, read, files } = await openMission()
    commitIn(branchBeside(), 'src/auth.ts', `${lines(0, 12)}${read('src/auth.ts')}`)
    await work(() => {
      project.write('src/auth.ts', `${read('src/auth.ts')}export const more = 1\n${lines(100, 5)}`)
      commit()
    })
    mergeSide()
    await work(() => {
      project.write('src/auth.ts', `${read('src/auth.ts')}${lines(200, 2)}`)
      commit()
    })
    expect(await files()).toEqual({ 'src/auth.ts': [8, 0] })
  })

  test.each(Array.from({ length: amount({ test: 1, soak: 150 }) }, (_, seed) => seed + 1))(
    'counts as git diff --numstat the files that only its tasks wrote (seed %i)',
    async (seed) => {
      const random = new Randomness(seed)
      const { project, work, commit, commitIn, branchBeside, main, files } = await openMission()
      const { git } = project
      const beside = branchBeside()
      const before = treeOf(project.folder)
      const written = ['src/auth.ts', 'card.ts', 'lib/shop.ts'] as const
      for (let step = 0; step < amount({ test: 12, soak: 25 }); step += 1) {
        await work(() => {
          const path = random.pick(written)
          const file = join(project.folder, path)
          const rows = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
          rows.splice(random.below(rows.length + 1), random.below(3))
          const more = lines(random.below(9_000), random.below(6))
          rows.splice(random.below(rows.length + 1), 0, ...more.split('\n').slice(0, -1))
          project.write(path, rows.map((row) => `${row}\n`).join(''))
          commit()
        })
        switch (random.below(6)) {
          case 0:
            git('-C', beside, 'merge', '-q', '-m', 'Merge', main)
            break
          case 1:
            commitIn(beside, `theirs-${step}.ts`, lines(step * 100, 7))
            break
          case 2:
            git('merge', '-q', '--no-ff', '-m', 'Merge', 'side')
            break
          case 3:
            git('merge', '-q', '-m', 'Merge', 'side')
            break
          case 4: {
            git('checkout', '-q', '-B', 'squashed', 'side')
            git('merge', '-q', '--squash', main)
            git('commit', '-q', '--allow-empty', '-m', 'Squashed')
            git('checkout', '-q', main)
            git('merge', '-q', '-m', 'Merge', 'squashed')
            break
          }
          default:
        }
      }
      const now = treeOf(project.folder)
      const all = await files()
      for (const path of written) {
        const { added, deleted } = numstat(project.folder, before, now, path)
        expect(all[path] ?? [0, 0]).toEqual([added, deleted])
      }
    },
  )

  test('takes off what a task took back', async () => {
    const { project, work, commit, files } = await openMission()
    await work(() => {
      project.write('card.ts', lines(0, 21))
      project.write('gone.ts', lines(50, 9))
      commit()
    })
    await work(() => {
      project.write('card.ts', lines(0, 8))
      project.remove('gone.ts')
      commit()
    })
    expect(await files()).toEqual({ 'card.ts': [8, 0] })
  })
})

describe('three agents at random', () => {
  test.each(Array.from({ length: amount({ test: 1, soak: 200 }) }, (_, seed) => seed + 1))(
    'the lines of their mission are those of git diff --numstat (seed %i)',
    async (seed) => {
      const random = new Randomness(seed)
      const project = await openProject()
      const { mission_id } = await project.call('start_mission', { name: 'm', objective: 'o' })
      const open = new Map<string, string>()
      const agents = ['one', 'two', 'three'] as const
      let before: string | null = null
      const begin = async (agent: string) => {
        before ??= treeOf(project.folder)
        const task = await project.call('start_task', { mission_id, name: agent, agent_name: agent })
        open.set(agent, task.task_id)
      }
      const end = async (agent: string) => {
        const task_id = open.get(agent)
        open.delete(agent)
        const status = random.pick(['success', 'partial_success', 'failed'])
        await project.call('complete_task', { task_id, status, outcome: { summary: 's' } })
      }
      await begin('one')
      for (let step = 0; step < amount({ test: 18, soak: 40 }); step += 1) {
        if (open.size > 0) workAtRandom(project, random)
        const agent = random.pick(agents)
        const turn = random.below(4)
        if (turn === 0 && !open.has(agent)) await begin(agent)
        if (turn === 1 && open.has(agent)) await end(agent)
      }
      if (open.size === 0) await begin('one')
      for (const agent of Array.from(open.keys())) await end(agent)
      expect(await told(project, mission_id)).toEqual(
        numstat(project.folder, before ?? '', treeOf(project.folder)),
      )
    },
  )
})

const paths = ['src/auth.ts', 'src/api.ts', 'utils.ts', 'a.ts', 'b.ts', 'lib/c.ts'] as const

/** One step of anybody's work: edits, deletions, renames, commits, stashes. */
function workAtRandom(project: TestProject, random: Randomness): void {
  const path = random.pick(paths)
  const file = join(project.folder, path)
  const line = () => `line ${random.below(1000)} of a text that is long enough to be told apart\n`
  const content = existsSync(file) ? readFileSync(file, 'utf8') : ''
  switch (random.below(7)) {
    case 0:
    case 1:
      project.write(path, content + line() + line())
      return
    case 2:
      project.write(path, content.split('\n').slice(random.below(3)).join('\n') + line())
      return
    case 3:
      rmSync(file, { force: true })
      return
    case 4: {
      const target = random.pick(paths)
      if (existsSync(file) && !existsSync(join(project.folder, target))) {
        project.write(target, '')
        renameSync(file, join(project.folder, target))
      }
      return
    }
    case 5:
      project.git('add', '-A')
      project.git('commit', '-q', '--allow-empty', '-m', 'Some')
      return
    default:
      project.git('add', '-A')
      if (project.git('stash', 'list') === '' || random.below(2) === 0) {
        if (project.git('status', '--porcelain') !== '') project.git('stash', '-q')
        return
      }
      try {
        project.git('stash', 'pop', '-q')
      } catch {
        project.git('checkout', '-q', '-f', 'HEAD')
      }
  }
}

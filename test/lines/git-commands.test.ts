import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, test, vi } from 'vitest'
import { openStage } from '../sessions/driver.ts'
import { amount } from '../support/amount.ts'
import { git as runGit } from '../support/git.ts'
import type { Answer } from '../support/project.ts'
import { removeFolder } from '../support/removed-folder.ts'
import { lines, openStory } from './story.ts'

/** Lines of an agent `a`, of another one `b`, and of a person or a colleague `p`. */
const a = (...numbers: number[]) => lines('a', ...numbers)
const b = (...numbers: number[]) => lines('b', ...numbers)
const p = (...numbers: number[]) => lines('p', ...numbers)

interface Tools {
  /** An edit tool writes a file; with hooks they report it. */
  readonly write: (path: string, rows: readonly string[]) => void
  /** A command runs. */
  readonly run: (work: () => void) => void
  readonly git: (...words: readonly string[]) => void
}

interface Scene {
  readonly hooks: boolean
  readonly git: (...words: readonly string[]) => string
  /** The rows of a file, and what is written without any tool. */
  readonly rows: (path: string) => readonly string[]
  readonly put: (path: string, rows: readonly string[]) => void
  readonly attempt: (
    agent: string,
    work: (tools: Tools) => void | Promise<void>,
    folder?: string,
  ) => Promise<Answer>
  /** A branch with a commit in which a person adds lines to a file; `main` is checked out again. */
  readonly topic: (path: string, rows: readonly string[]) => string
  readonly commit: () => void
  readonly linked: string
  readonly wait: (milliseconds: number) => void
  readonly begin: (agent: string) => Promise<Answer>
  readonly owners: (path: string, options?: object) => Promise<Readonly<Record<string, string>>>
}

/** Of each line that is not the base's, whose it is; `?` where that is not certain. */
type Found = Readonly<Record<string, unknown>>

const base = (path: string) => [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `base ${number} of ${path}`)

async function openScene(hooks: boolean): Promise<Scene> {
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const linked = join(s.folder, '..', 'linked')
  let [topics, sessions] = [0, 0]
  const text = (rows: readonly string[]) => rows.map((row) => `${row}\n`).join('')
  const put: Scene['put'] = (path, rows) => s.write(path, text(rows))
  return {
    hooks,
    git: s.git,
    put,
    linked,
    wait: s.wait,
    begin: s.begin,
    rows: (path) => s.read(path).split('\n').slice(0, -1),
    commit: () => s.commit(),
    attempt: async (agent, work, folder = s.folder) => {
      sessions += 1
      const player = hooks ? stage.session(`${agent} ${sessions}`, { folder }) : null
      player?.start()
      player?.prompt()
      if (hooks) await stage.drain()
      const context = { ...s.context, folder }
      const named = { name: `work of ${agent}`, goal: `goal of ${agent}`, agent_name: agent }
      const started = await s.call('start_task', named, { context })
      player?.own('mcp__waymark__start_task', started.attempt_id)
      const run: Tools['run'] = (work) => (player ? player.shell(work, { program: 'git' }) : work())
      await work({
        write: (path, rows) => {
          if (player) player.edit(join(folder, path), text(rows))
          else writeFileSync(join(folder, path), text(rows))
        },
        run,
        git: (...words) => run(() => void s.git(...words)),
      })
      if (hooks) await stage.drain()
      const { task_id } = started
      const input = { task_id, status: 'success', outcome: { summary: 'done' } }
      const ended = await s.call('complete_task', input, { context })
      player?.stop()
      if (hooks) await stage.drain()
      return ended
    },
    topic: (path, rows) => {
      topics += 1
      const name = `topic-${topics}`
      s.git('checkout', '-qb', name)
      put(path, rows)
      s.git('commit', '-qam', `topic of ${path}`)
      s.git('checkout', '-q', 'main')
      return name
    },
    owners: async (path, options = {}) => {
      const { ranges, text: all } = await s.call('blame', { file: path, ...options })
      const counts = new Map<string, number>()
      const found = ranges.flatMap(({ start, end, kind, agent, attribution }: Answer) =>
        Array.from({ length: end - start + 1 }, (_, more) => {
          const [word = ''] = all[start + more - 1].trim().split(' ')
          counts.set(word, (counts.get(word) ?? 0) + 1)
          const again = counts.get(word) === 1 ? '' : `#${counts.get(word)}`
          // A turn without a task only may have.
          const isTurns = agent === 'claude-code' && attribution !== 'certain'
          return [
            word + again,
            kind === 'agent' && !isTurns ? `${agent}${attribution === 'certain' ? '' : '?'}` : 'nobody',
          ]
        }),
      )
      return Object.fromEntries(found.filter(([word = '']: string[]) => !word.startsWith('base')))
    },
  }
}

/** Whether all added lines of a file are told as brought by git. */
const isBrought = (answer: Answer, path: string): boolean => {
  const detail = answer.details.find((one: Answer) => one.path === path)
  return detail?.origin === 'imported' || detail?.brought_lines === detail?.added_lines
}

const nobodys = { p1: 'nobody', p2: 'nobody' }

/** A colleague's clone, whose commits have the same identity. */
function cloned({ git, linked }: Scene, path: string) {
  const folder = `${linked}-clone-of-${path}`
  git('clone', '-q', '.', folder)
  const commit = (file: string, rows: readonly string[]) => {
    writeFileSync(join(folder, file), `${rows.join('\n')}\n`)
    runGit(folder, 'commit', '-qam', `colleague's ${file}`)
  }
  return { folder, commit }
}

/** A command of git inside an attempt that brings a person's two lines into a file. */
function bringing(command: (scene: Scene, tools: Tools, topic: string, path: string) => void) {
  return async (scene: Scene, path: string): Promise<Found> => {
    const rows = base(path)
    const topic = scene.topic(path, [...rows.slice(0, 3), ...p(1, 2), ...rows.slice(3)])
    const answer = await scene.attempt('a', (tools) => command(scene, tools, topic, path))
    return { ...(await scene.owners(path)), brought: isBrought(answer, path) }
  }
}

const brought = { ...nobodys, brought: true }

/** Renames of a file that an agent wrote and of a person's `-other`, by the ends of their names. */
function takingName(renames: readonly (readonly [string, string])[]): Case['play'] {
  return async ({ attempt, put, commit, rows, owners }, path) => {
    put(`${path}-other`, [...p(1, 2), ...base(`other ${path}`)])
    commit()
    await attempt('a', ({ write, git }) => {
      write(path, [...a(1), ...rows(path), ...a(2)])
      for (const [from, to] of renames) git('mv', path + from, path + to)
    })
    const end = renames.at(-1)?.[1] || renames[0]?.[1]
    return { ...(await owners(path)), ...(await owners(`${path}${end}`)) }
  }
}

interface Case {
  readonly play: (scene: Scene, path: string) => Promise<Found>
  readonly expected: Found
  readonly withHooks?: Found
  readonly only?: 'hooks'
}

const cases: Readonly<Record<string, Case>> = {
  'a file that is written and then renamed': {
    play: async ({ attempt, rows, owners }, path) => {
      await attempt('a', ({ write, git }) => {
        write(path, [...a(1), ...rows(path), ...a(2)])
        git('mv', path, `${path}-new`)
      })
      return owners(`${path}-new`)
    },
    expected: { a1: 'a', a2: 'a' },
  },
  'a file that is renamed and then written': {
    play: async ({ attempt, rows, owners }, path) => {
      await attempt('a', ({ write, git }) => {
        git('mv', path, `${path}-new`)
        write(`${path}-new`, [...a(1), ...rows(`${path}-new`), ...a(2)])
      })
      return owners(`${path}-new`)
    },
    expected: { a1: 'a', a2: 'a' },
  },
  'a file that takes the name of one that was written and renamed': {
    play: takingName([
      ['', '-new'],
      ['-other', ''],
    ]),
    expected: { ...nobodys, a1: 'a', a2: 'a' },
  },
  'two files of which one is written, and that swap their names': {
    play: takingName([
      ['', '-aside'],
      ['-other', ''],
      ['-aside', '-other'],
    ]),
    expected: { ...nobodys, a1: 'a', a2: 'a' },
  },
  'a file that is mostly written anew and renamed': {
    play: async ({ attempt, rows, owners }, path) => {
      const answer = await attempt('a', ({ write, git }) => {
        write(path, [...rows(path).slice(0, 4), ...a(1, 2, 3, 4, 5, 6, 7, 8)])
        git('mv', path, `${path}-new`)
      })
      const found = await owners(`${path}-new`)
      return {
        found: Object.values(found).every((who) => who === 'a'),
        count: Object.keys(found).length,
        files: answer.details.length,
      }
    },
    expected: { found: true, count: 8, files: 2 },
  },
  'a discarded edit, and another one': {
    play: async ({ attempt, rows, owners }, path) => {
      const answer = await attempt('a', ({ write, git }) => {
        const before = rows(path)
        write(path, [...before, ...a(1, 2, 3, 4, 5, 6)])
        git('checkout', '-q', '--', path)
        write(path, [...a(7), ...before, ...a(8)])
      })
      const [{ added_lines }] = answer.details
      return { ...(await owners(path)), added_lines }
    },
    expected: { a7: 'a', a8: 'a', added_lines: 2 },
  },
  'cherry-pick': { play: bringing((_, { git }, topic) => git('cherry-pick', topic)), expected: brought },
  'merge --squash': {
    play: bringing((_, { git }, topic) => {
      git('merge', '-q', '--squash', topic)
      git('commit', '-qm', 'squashed')
    }),
    expected: brought,
  },
  'checkout of a file': {
    play: bringing((_, { git }, topic, path) => git('checkout', '-q', topic, '--', path)),
    expected: brought,
  },
  'restore --source': {
    play: bringing((_, { git }, topic, path) => git('restore', `--source=${topic}`, '--', path)),
    expected: brought,
  },
  am: {
    play: bringing((scene, { run }, topic) =>
      run(() => {
        scene.git('format-patch', '-q', '-1', '-o', '..', topic)
        scene.git(
          'am',
          '-q',
          join('..', `0001-topic-of-${scene.git('diff', '--name-only', `${topic}~1`, topic).trim()}.patch`),
        )
      }),
    ),
    expected: brought,
  },
  'git show into a file': {
    play: bringing((scene, { run }, topic, path) =>
      run(() => scene.put(path, scene.git('show', `${topic}:${path}`).split('\n').slice(0, -1))),
    ),
    expected: brought,
  },
  'a stash that was never recorded': {
    play: async ({ attempt, put, git, owners }, path) => {
      put(path, [...base(path), ...p(1, 2)])
      git('stash', '-q')
      const answer = await attempt('a', (tools) => tools.git('stash', 'pop', '-q'))
      return { ...(await owners(path)), brought: isBrought(answer, path) }
    },
    expected: brought,
  },
  'a colleague’s commit that was fetched': {
    play: bringing((_, { git, write }, topic, path) => {
      git('fetch', '-q', '.', `${topic}:refs/remotes/team/${topic}`)
      git('cherry-pick', `team/${topic}`)
      write('beside', [...a(1), path])
    }),
    expected: brought,
  },
  'a conflict of which both sides are kept': {
    play: async ({ attempt, put, git, rows, topic, owners }, path) => {
      const name = topic(path, [...base(path), ...p(1, 2)])
      put(path, [...base(path), ...p(3)])
      git('commit', '-qam', 'main moves')
      await attempt('a', ({ run, write }) => {
        run(() => expect(() => git('cherry-pick', name)).toThrow())
        write(path, [...rows(path).filter((row) => !/^[<=>]{7}/.test(row)), ...a(1)])
        run(() => {
          git('add', '-A')
          git('-c', 'core.editor=true', 'cherry-pick', '--continue')
        })
      })
      return owners(path)
    },
    expected: { ...nobodys, p3: 'nobody', a1: 'a' },
  },
  'a squash of another agent’s change of a file that has another name': {
    play: async ({ attempt, git, owners, rows, commit }, path) => {
      git('checkout', '-qb', `branch-of-${path}`)
      await attempt('b', ({ write }) => write(path, [...rows(path), ...b(1, 2)]))
      commit()
      git('checkout', '-q', 'main')
      await attempt('a', (tools) => {
        tools.git('mv', path, `${path}-new`)
        tools.git('commit', '-qm', 'renamed')
        tools.git('merge', '-q', '--squash', `branch-of-${path}`)
        tools.git('commit', '-qm', 'squashed')
      })
      return owners(`${path}-new`)
    },
    expected: { b1: 'b', b2: 'b' },
  },
  'a person’s rewrite, committed and reverted twice': {
    play: async ({ attempt, put, owners }, path) => {
      put(path, [...p(1, 2), ...base(path).slice(4)])
      await attempt('a', ({ git }) => {
        git('commit', '-qam', 'of a person')
        git('revert', '--no-edit', 'HEAD')
        git('revert', '--no-edit', 'HEAD')
      })
      const old = await owners(path, { rev: 'HEAD~1' })
      return { ...(await owners(path)), old: Object.keys(old).length }
    },
    expected: { ...nobodys, old: 0 },
  },
  'a revert, and one more line': {
    play: async ({ attempt, put, git, rows, owners }, path) => {
      const whole = [...base(path), ...p(1, 2)]
      put(path, whole)
      git('commit', '-qam', 'lines of a person')
      put(path, base(path))
      git('commit', '-qam', 'without them')
      await attempt('a', (tools) => {
        tools.git('revert', '--no-edit', 'HEAD')
        tools.write(path, [...a(1), ...rows(path)])
      })
      return owners(path)
    },
    expected: { ...nobodys, a1: 'a' },
  },
  'indentation where brackets repeat at several depths': {
    play: async ({ attempt, put, git, owners }, path) => {
      const body = ['p1 if one {', '  p2 while two {', '    p3 call', '  } p4', '} p5', 'base end']
      const bare = body.map((row) => row.replace(/} p\d/, '}'))
      put(path, bare)
      git('commit', '-qam', 'blocks')
      await attempt('a', ({ write }) =>
        write(path, ['a1 for all {', ...bare.slice(0, 5).map((row) => `  ${row}`), '}', 'base end']),
      )
      return owners(path)
    },
    expected: {
      a1: 'a',
      p1: 'nobody',
      p2: 'nobody',
      p3: 'nobody',
      '}': 'nobody',
      '}#2': 'nobody',
      '}#3': 'a',
    },
  },
  'a person writes right after an edit': {
    only: 'hooks',
    play: async ({ attempt, put, rows, owners }, path) => {
      const answer = await attempt('a', ({ write }) => {
        write(path, [...rows(path), ...a(1)])
        put(path, [...rows(path), ...p(1)])
        write(path, [...a(2), ...rows(path)])
      })
      const found = await owners(path)
      const file = answer.details[0].attribution
      return { a1: found['a1'], a2: found['a2'], isSure: found['p1'] === 'a', file }
    },
    expected: { a1: 'a', a2: 'a', isSure: false, file: 'probable' },
  },
  'what others left uncommitted is committed, and the branch switched': {
    play: async ({ attempt, put, git, owners, topic }, path) => {
      const name = topic(path, [...base(path), ...p(1, 2)])
      put(path, [...p(3, 4), ...base(path)])
      const { details } = await attempt('a', (tools) => {
        tools.git('checkout', '-qb', `side-of-${path}`)
        tools.git('commit', '-qam', 'of others')
        tools.git('checkout', '-q', name)
      })
      const found = {
        ...(await owners(path)),
        origin: details.find((one: Answer) => one.path === path).origin,
      }
      git('checkout', '-q', 'main')
      return found
    },
    expected: { ...nobodys, origin: 'imported' },
  },
  'a unique line among repeated ones': {
    play: async ({ attempt, rows, owners }, path) => {
      const again = ['same row here', 'same row here', 'same row here']
      await attempt('b', ({ write }) => write(path, [...rows(path), ...again, ...b(1), ...again]))
      await attempt('a', ({ write }) => write(path, [...base(path), ...again, ...again, ...again, ...b(1)]))
      return { b1: (await owners(path))['b1'] }
    },
    expected: { b1: 'b' },
  },
  'a commit of an attempt in another work tree that is squashed': {
    play: async ({ attempt, git, linked, owners }, path) => {
      git('worktree', 'add', '-q', '-b', `beside-${path}`, linked)
      await attempt('a', async (tools) => {
        await attempt('b', ({ write }) => write(path, [...base(path), ...b(1, 2)]), linked)
        runGit(linked, 'commit', '-qam', 'elsewhere')
        tools.git('merge', '-q', '--squash', `beside-${path}`)
        tools.git('commit', '-qm', 'squashed')
      })
      git('worktree', 'remove', '--force', linked)
      return owners(path)
    },
    expected: { b1: 'b', b2: 'b' },
  },
  'an own commit that is picked onto another branch and pushed': {
    play: async ({ attempt, git, rows, owners }, path) => {
      await attempt('a', (tools) => {
        tools.git('checkout', '-qb', `side-of-${path}`)
        tools.write(path, [...a(1, 2), ...rows(path)])
        tools.git('commit', '-qam', 'own')
        tools.git('checkout', '-q', 'main')
        tools.git('commit', '-q', '--allow-empty', '-m', 'between')
        tools.git('cherry-pick', `side-of-${path}`)
        tools.git('update-ref', 'refs/remotes/team/main', 'HEAD')
        tools.git('branch', '-qD', `side-of-${path}`)
      })
      git('update-ref', '-d', 'refs/remotes/team/main')
      return owners(path)
    },
    expected: { a1: 'a', a2: 'a' },
  },
  'an own commit that is pushed, and pulled again with lines that a colleague based on it': {
    play: async (scene, path) => {
      const clone = cloned(scene, path)
      const again = `again1 of ${path}`
      const answer = await scene.attempt('a', (tools) => {
        tools.write(path, [...a(1, 2, 3), again, ...base(path)])
        tools.git('commit', '-qam', 'own')
        tools.git('remote', 'add', path, clone.folder)
        tools.git('push', '-q', path, 'main:shared')
        runGit(clone.folder, 'merge', '-q', 'shared')
        // A deleted line that is written again is its new writer's.
        clone.commit(path, [...a(1, 2, 3), ...base(path)])
        clone.commit(path, [...a(1, 2, 3), again, ...base(path), ...p(1, 2)])
        tools.git('pull', '-q', path, 'main')
      })
      const { added_lines, brought_lines } = answer.details.find((one: Answer) => one.path === path)
      return { ...(await scene.owners(path)), added_lines, brought_lines }
    },
    expected: { ...nobodys, a1: 'a', a2: 'a', a3: 'a', again1: 'nobody', added_lines: 6, brought_lines: 3 },
    // After the content that a hook reported, the line is as it was.
    withHooks: { ...nobodys, a1: 'a', a2: 'a', a3: 'a', again1: 'a', added_lines: 6, brought_lines: 3 },
  },
  'an own commit that another work tree merged before the attempt ended': {
    play: async (scene, path) => {
      const linked = `${scene.linked}-of-${path}`
      scene.git('worktree', 'add', '-q', '-b', `linked-${path}`, linked)
      const answer = await scene.attempt('a', (tools) => {
        tools.write(path, [...a(1, 2, 3), ...base(path)])
        tools.git('commit', '-qam', 'own')
        runGit(linked, 'merge', '-q', 'main')
        writeFileSync(join(linked, path), [...a(1, 2, 3), ...base(path), ...p(1), ''].join('\n'))
        runGit(linked, 'commit', '-qam', 'more')
      })
      const { origin, brought_lines } = answer.details.find((one: Answer) => one.path === path)
      scene.git('worktree', 'remove', linked)
      return { ...(await scene.owners(path)), origin, brought_lines }
    },
    expected: { a1: 'a', a2: 'a', a3: 'a', origin: 'task', brought_lines: undefined },
  },
  'an older commit is restored without a trace, and a line written': {
    play: async ({ attempt, put, git, rows, owners }, path) => {
      put(path, [...base(path), ...p(1, 2)])
      git('commit', '-qam', 'lines of a person')
      put(path, base(path))
      git('commit', '-qam', 'without them')
      await attempt('a', (tools) => {
        tools.git('restore', '--source=HEAD~1', '--', path)
        tools.write(path, [...a(1), ...rows(path)])
      })
      return owners(path)
    },
    expected: { p1: 'a?', p2: 'a?', a1: 'a' },
    withHooks: { ...nobodys, a1: 'a' },
  },
  'a commit that is fetched, and made again within the second': {
    play: async (scene, path) => {
      const clone = cloned(scene, path)
      await scene.attempt('a', (tools) => {
        vi.stubEnv('GIT_COMMITTER_DATE', new Date().toISOString())
        clone.commit(path, [...p(1, 2), ...base(path)])
        tools.git('fetch', '-q', clone.folder, `main:refs/remotes/${path}/main`)
        tools.git('cherry-pick', `${path}/main`)
        vi.unstubAllEnvs()
        tools.write(path, [...a(1), ...scene.rows(path)])
      })
      expect(scene.git('rev-parse', 'HEAD')).toBe(scene.git('rev-parse', `${path}/main`))
      return scene.owners(path)
    },
    expected: { p1: 'a?', p2: 'a?', a1: 'a' },
  },
  'a commit that is fetched, and made again later': {
    play: async (scene, path) => {
      const clone = cloned(scene, path)
      await scene.attempt('a', (tools) => {
        vi.stubEnv('GIT_COMMITTER_DATE', new Date(Date.now() - 60_000).toISOString())
        vi.stubEnv('GIT_AUTHOR_DATE', process.env['GIT_COMMITTER_DATE'])
        clone.commit(path, [...p(1, 2), ...base(path)])
        tools.git('fetch', '-q', clone.folder, `main:refs/remotes/${path}/main`)
        vi.unstubAllEnvs()
        const patch = join(clone.folder, 'patch')
        writeFileSync(patch, scene.git('format-patch', '-1', '--stdout', `${path}/main`))
        tools.git('am', '-q', '--committer-date-is-author-date', patch)
        tools.write(path, [...a(1), ...scene.rows(path)])
      })
      expect(scene.git('rev-parse', 'HEAD')).toBe(scene.git('rev-parse', `${path}/main`))
      return scene.owners(path)
    },
    expected: { ...nobodys, a1: 'a' },
  },
  'lines of a file that two agents write at the same time are counted once with hooks': {
    play: async ({ attempt, rows }, path) => {
      const added = (answer: Answer) => {
        const { added_lines, deleted_lines } = answer.details.find((one: Answer) => one.path === path)
        return [added_lines, deleted_lines]
      }
      const found: Record<string, unknown> = {}
      const answer = await attempt('a', async ({ write }) => {
        write(path, [...a(1, 2, 3), ...rows(path).slice(1)])
        found['b'] = added(await attempt('b', (tools) => tools.write(path, [...rows(path), ...b(1, 2)])))
        write(path, [...rows(path).slice(1), ...a(4)])
      })
      return { ...found, a: added(answer) }
    },
    expected: { a: [5, 1], b: [2, 0] },
    withHooks: { a: [3, 1], b: [2, 0] },
  },
  'an attempt that nobody ended': {
    play: async ({ attempt, begin, wait, rows, owners }, path) => {
      await begin('lost')
      wait(3 * 60 * 60 * 1000)
      await attempt('b', ({ git }) => git('status'))
      await attempt('a', ({ write }) => write(path, [...rows(path), ...a(1)]))
      return owners(path)
    },
    expected: { a1: 'a' },
  },
}

test.each([false, true])(
  'an attempt is told as the author of what it wrote, and of nothing else; hooks: %s',
  async (hooks) => {
    const scene = await openScene(hooks)
    // In `npm test` every third case: with hooks or without.
    const step = amount({ test: 6, soak: 1 })
    const played = Object.entries(cases).filter(([, { only }], at) =>
      only === undefined ? (at + Number(hooks)) % step === 0 : hooks,
    )
    for (const [at] of played.entries()) scene.put(`case${at}`, base(`case${at}`))
    scene.commit()
    const found: Record<string, Found> = {}
    for (const [at, [name, { play }]] of played.entries()) {
      found[name] = await play(scene, `case${at}`).catch((error: unknown) => ({ error: String(error) }))
      scene.git('checkout', '-qf', 'main')
      scene.git('add', '-A')
      if (scene.git('status', '--porcelain') !== '') scene.commit()
    }
    removeFolder(scene.linked)
    const wrong = played.flatMap(([name, { expected, withHooks }]) => {
      const [own, wanted] = [found[name], (hooks && withHooks) || expected]
      if (isDeepStrictEqual(own, wanted)) return []
      return [`${name}: ${JSON.stringify(own)} instead of ${JSON.stringify(wanted)}`]
    })
    // The message names the case, where a reporter shows no difference.
    expect(wrong, wrong.join('; ')).toEqual([])
  },
)

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openStage, type Player } from '../sessions/driver.ts'
import { git as runGit } from '../support/git.ts'
import type { Answer } from '../support/project.ts'
import { removeFolder } from '../support/removed-folder.ts'
import { openStory } from './story.ts'

/** What a run found, each line once, with the steps in which it was found. */
export interface RunFigures {
  /** Lines of agents, a person and a colleague. */
  readonly judged: number
  /** Lines given to an agent for certain that did not write them. */
  readonly accused: readonly string[]
  /** Lines of agents that no agent is named for. */
  readonly lost: readonly string[]
  /** Lines of agents, or given to agents, that are not told for certain. */
  readonly unsure: readonly string[]
  /** Changed files that the report of the attempt does not name. */
  readonly missing: readonly string[]
  /** Files with written lines in the report of an attempt that wrote none. */
  readonly files: readonly string[]
}

/** What anybody may write anywhere. */
const phrases = ['return result', 'try again later', 'const found = null', 'done', '}', '']

export interface RunOptions {
  /** The clients of agents report their edits and commands. */
  readonly hooks?: boolean
  /** How many of ten lines are one of the phrases, which name no writer. */
  readonly phrases?: number
  /** How many times as many lines an edit writes and takes: more judged lines for the same work of git. */
  readonly width?: number
}

interface Writer {
  readonly name: string
  /** Without hooks, nobody can tell a person from the attempts that were open meanwhile. */
  readonly like: readonly string[]
}

interface Agent {
  readonly name: string
  readonly started: Answer
  readonly player: Player | null
  readonly wrote: Set<string>
  readonly before: Readonly<Record<string, string | null>>
}

const names = ['f', 'g', 'h', 'k']

function generator(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return Math.abs(state) % below
  }
}

/** Attempts, a person, a colleague and git in a random order. Only this function knows who wrote a line. */
export async function randomRun(
  seed: number,
  length: number,
  { hooks = false, phrases: common = 0, width = 1 }: RunOptions = {},
): Promise<RunFigures> {
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const below = generator(seed)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  const writers = new Map<string, Writer>()
  const [accused, lost, missing, files]: string[][] = [[], [], [], []]
  const [judged, wrong] = [new Set<string>(), new Set<string>()]
  const unsure = new Map<string, string>()
  let [written, attempts, commits] = [0, 0, 0]
  let kinds: string[] = []
  const main = s.git('branch', '--show-current').trim()
  const linked = join(s.folder, '..', 'linked')
  const clone = join(s.folder, '..', 'clone')
  s.git('branch', 'other')
  runGit(s.folder, 'clone', '-q', s.folder, clone)
  s.git('remote', 'add', 'team', clone)
  s.git('worktree', 'add', '-q', '-b', 'beside', linked)
  onTestFinished(() => {
    removeFolder(linked)
    removeFolder(clone)
  })

  const read = (folder: string, file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null
  const rowsOf = (folder: string, file: string) => (read(folder, file) ?? '').split('\n').slice(0, -1)
  const there = (folder = s.folder) => names.filter((name) => read(folder, name) !== null)
  /** A file that is there, or the first to be. */
  const anyFile = (folder = s.folder) => pick(there(folder)) ?? 'f'
  const fresh = (writer: Writer): string => {
    if (common > 0 && below(10) < common) return pick(phrases)
    written += 1
    const word = `w${written}w`
    writers.set(word, writer)
    return `${word} ${pick(['if this', 'return that', 'let it be', 'call on'])} ${(written * 7919) % 1000}`
  }
  /** The new content of a file: 1 to 4 lines (times the width) more at one or two places, sometimes one less. */
  const edited = (folder: string, file: string, writer: Writer): string => {
    const rows = rowsOf(folder, file)
    for (let more = 1 + below(2); more > 0; more -= 1) {
      const own = Array.from({ length: (1 + below(4)) * width }, () => fresh(writer))
      rows.splice(below(rows.length + 1), below(3) === 0 ? width : 0, ...own)
    }
    return rows.map((row) => `${row}\n`).join('')
  }
  const open: Agent[] = []
  const personIn = (folder: string, file = anyFile(folder)): void => {
    const like = hooks ? [] : open.map(({ name }) => name)
    writeFileSync(join(folder, file), edited(folder, file, { name: 'person', like }))
  }
  const tried = (folder: string, ...words: string[]) => {
    try {
      runGit(folder, ...words)
      return true
    } catch {
      return false
    }
  }
  const commitIn = (folder: string) => {
    commits += 1
    return tried(folder, 'add', '-A') && tried(folder, 'commit', '-qm', `commit ${commits}`)
  }
  const isDirty = (folder: string) =>
    runGit(folder, 'status', '--porcelain', '--untracked-files=no').trim() !== ''
  const colleague = () => {
    tried(clone, 'fetch', '-q')
    const file = anyFile(clone)
    writeFileSync(join(clone, file), edited(clone, file, { name: 'colleague', like: [] }))
    commitIn(clone)
    s.git('fetch', '-q', 'team')
    return `team/${main}`
  }
  const elsewhere = () => (s.git('branch', '--show-current').trim() === main ? 'other' : main)
  const source = () => pick([elsewhere(), elsewhere(), 'beside', colleague()])
  /** A command that stops at a conflict is answered by keeping both sides, or by giving it up. */
  const settled = (word: string, ...rest: string[]) => {
    if (tried(s.folder, word, ...rest)) return
    const isTwoSided = s
      .git('status', '--porcelain')
      .split('\n')
      .every((row) => !/^(DU|UD|AU|UA|DD)/.test(row))
    if (isTwoSided && below(2) === 0) {
      for (const file of there()) {
        const text = read(s.folder, file) ?? ''
        const kept = text.split('\n').filter((row) => !/^(<{7}|={7}|>{7}|\|{7})/.test(row))
        if (text.includes('<<<<<<<')) s.write(file, kept.join('\n'))
      }
      s.git('add', '-A')
      kinds.push('conflict')
      if (word === 'merge' || word === 'stash') {
        if (!rest.includes('--squash') && word === 'merge') tried(s.folder, 'commit', '-qm', 'merged')
        return
      }
      if (tried(s.folder, '-c', 'core.editor=true', word, '--continue')) return
    }
    if (word === 'stash') tried(s.folder, 'checkout', '-q', 'HEAD', '--', '.')
    else if (!tried(s.folder, word, '--abort')) tried(s.folder, 'reset', '-q', '--hard')
  }
  const clean = (work: () => void) => () => {
    if (isDirty(s.folder)) commitIn(s.folder)
    work()
  }
  const moves: Readonly<Record<string, () => void>> = {
    commit: () => void commitIn(s.folder),
    amend: () => void (commits > 3 && tried(s.folder, 'commit', '-qa', '--amend', '--no-edit')),
    switch: clean(() => tried(s.folder, 'checkout', '-q', elsewhere())),
    merge: clean(() => settled('merge', '--no-edit', source())),
    squash: clean(() => {
      settled('merge', '--squash', source())
      commitIn(s.folder)
    }),
    pick: clean(() => settled('cherry-pick', source())),
    rebase: clean(() => settled('rebase', elsewhere())),
    am: clean(() => {
      const patch = s.git('format-patch', '-1', '--stdout', source())
      writeFileSync(join(s.folder, '..', 'patch'), patch)
      if (!tried(s.folder, 'am', '-q', '-3', join(s.folder, '..', 'patch'))) tried(s.folder, 'am', '--abort')
    }),
    revert: clean(() => settled('revert', '--no-edit', pick(['HEAD', 'HEAD~1']))),
    file: clean(() => tried(s.folder, 'checkout', '-q', source(), '--', anyFile())),
    restore: () => void tried(s.folder, 'restore', `--source=${pick([source(), 'HEAD~1'])}`, '--', anyFile()),
    show: () => {
      const file = anyFile()
      try {
        s.write(file, s.git('show', `${source()}:${file}`))
      } catch {}
    },
    discard: () => void tried(s.folder, 'checkout', '-q', '--', anyFile()),
    stash: () => {
      if (isDirty(s.folder) && tried(s.folder, 'stash', '-q')) settled('stash', 'pop', '-q')
    },
    pop: clean(() => settled('stash', 'pop', '-q')),
    soft: () => {
      if (Number(s.git('rev-list', '--count', '--first-parent', 'HEAD')) < 6) return
      if (tried(s.folder, 'reset', '-q', pick(['--soft', '--mixed']), 'HEAD~2')) commitIn(s.folder)
    },
    reset: clean(() => {
      if (Number(s.git('rev-list', '--count', '--first-parent', 'HEAD')) < 6) return
      tried(s.folder, 'reset', '-q', '--hard', pick(['HEAD~1', elsewhere()]))
    }),
    rename: () => {
      const free = names.find((name) => !existsSync(join(s.folder, name)))
      if (free !== undefined && there().length > 1) tried(s.folder, 'mv', pick(there()), free)
    },
    indent: () => {
      const file = anyFile()
      s.write(file, (read(s.folder, file) ?? '').replace(/^(?=.)/gm, ' '))
    },
  }
  const among = Object.keys(moves)
  const contents = (folder: string) => Object.fromEntries(names.map((name) => [name, read(folder, name)]))

  const begin = async (folder = s.folder, more = {}): Promise<Agent> => {
    attempts += 1
    const name = `a${attempts}-`
    const player = hooks ? stage.session(name, { folder }) : null
    player?.start()
    player?.prompt()
    if (hooks) await stage.drain()
    const context = { ...s.context, folder }
    const input = { name: `work of ${name}`, goal: `goal of ${name}`, agent_name: name, ...more }
    const started = await s.call('start_task', input, { context })
    player?.own('mcp__waymark__start_task', started.attempt_id)
    if (hooks) await stage.drain()
    const agent = { name, started, player, wrote: new Set<string>(), before: contents(folder) }
    if (folder === s.folder) open.push(agent)
    return agent
  }
  const write = (agent: Agent, file = anyFile(), folder = s.folder): void => {
    const content = edited(folder, file, { name: agent.name, like: [] })
    agent.wrote.add(file)
    if (agent.player === null) writeFileSync(join(folder, file), content)
    else agent.player.edit(join(folder, file), content)
  }
  const run = (agent: Agent, name: string): void => {
    kinds.push(name)
    const work = () => {
      moves[name]?.()
    }
    if (agent.player === null) work()
    else agent.player.shell(work, { program: 'git' })
  }
  const end = async (agent: Agent, folder = s.folder): Promise<void> => {
    if (hooks) await stage.drain()
    const now = contents(folder)
    const context = { ...s.context, folder }
    const { task_id } = agent.started
    const input = { task_id, status: 'success', outcome: { summary: 'done' } }
    const answer = await s.call('complete_task', input, { context })
    agent.player?.stop()
    if (hooks) await stage.drain()
    const isAlone = open.length <= 1
    if (folder === s.folder) open.splice(open.indexOf(agent), 1)
    const { added, modified, deleted, renamed } = answer.files_changed
    const told = new Set([
      ...added,
      ...modified,
      ...deleted,
      ...renamed.flatMap(({ from, to }: Answer) => [from, to]),
    ])
    for (const { path } of answer.contested_files ?? []) told.add(path)
    const warned = answer.verification.warnings.join('\n')
    for (const name of names) {
      if (now[name] === agent.before[name] || told.has(name) || warned.includes(name)) continue
      missing?.push(`${kinds.join('+')}: ${name}`)
    }
    for (const { path, origin, attribution, added_lines, brought_lines } of answer.details) {
      if (added_lines === 0 || added_lines === brought_lines) continue
      const isGit = kinds.some((kind) => kind !== 'commit' && kind !== 'amend')
      if (!isGit || !isAlone || agent.wrote.size > 0 || origin !== 'task' || attribution !== 'certain')
        continue
      if (!kinds.includes('rename') && !kinds.includes('indent')) files?.push(`${kinds.join('+')}: ${path}`)
    }
  }

  const judge = async (folder = s.folder): Promise<void> => {
    const label = kinds.join('+')
    for (const file of there(folder)) {
      const rows = rowsOf(folder, file)
      const wordOf = (row = '') => /^\s*(w\d+w) /.exec(row)?.[1]
      const places = Map.groupBy(rows, wordOf)
      const answer = await s.call('blame', { file }, { context: { ...s.context, folder } })
      for (const { start, end: last, kind, agent, attribution, certainty } of answer.ranges) {
        for (let line = start; line <= last; line += 1) {
          const word = wordOf(rows[line - 1])
          const writer = writers.get(word ?? '')
          // A line that stands twice is a copy, and whoever copied it may be named.
          if (word === undefined || writer === undefined || places.get(word)?.length !== 1) continue
          judged.add(word)
          const said = `${label}: ${file}:${line} ${word} of ${writer.name} told as ${agent ?? kind} ${certainty}`
          if (kind === 'agent' && attribution !== 'certain' && !unsure.has(word)) unsure.set(word, said)
          if (wrong.has(word)) continue
          const isAgents = /^a\d+-$/.test(writer.name)
          const named = String(agent).split(' or ')
          if (kind === 'agent' && attribution === 'certain') {
            if (named.includes(writer.name) || named.some((name) => writer.like.includes(name))) continue
            wrong.add(word)
            accused?.push(said)
          } else if (kind !== 'agent' && isAgents) {
            wrong.add(word)
            lost?.push(said)
          }
        }
      }
    }
  }

  const step = async (name: string, work: () => Promise<void>): Promise<void> => {
    kinds = [name]
    await work()
    await judge()
  }
  const own = async (agent: Agent) => {
    const some = 1 + below(3)
    for (let more = 0; more < some; more += 1) {
      if (below(3) > 0) write(agent)
      if (below(2) === 0) run(agent, pick(among))
    }
  }
  for (let at = 0; at < length; at += 1) {
    const kind = below(12)
    if (kind < 4)
      await step('solo', async () => {
        const agent = await begin()
        await own(agent)
        await end(agent)
      })
    else if (kind === 4)
      await step('with person', async () => {
        const agent = await begin()
        write(agent)
        personIn(s.folder)
        if (below(2) === 0) write(agent)
        await end(agent)
      })
    else if (kind === 5)
      await step('disjoint', async () => {
        const [first, second] = [
          await begin(s.folder, { areas: ['/f', '/h'] }),
          await begin(s.folder, { areas: ['/g', '/k'] }),
        ]
        write(
          first,
          there().find((file) => 'fh'.includes(file)),
        )
        write(
          second,
          there().find((file) => 'gk'.includes(file)),
        )
        if (below(2) === 0) run(first, 'commit')
        await end(first)
        await end(second)
      })
    else if (kind === 6)
      await step('same file', async () => {
        const [first, second] = [await begin(), await begin()]
        const file = anyFile()
        for (const agent of [first, second, first]) write(agent, file)
        await end(second)
        write(first, file)
        await end(first)
      })
    else if (kind === 7)
      await step('linked', async () => {
        const agent = await begin(linked)
        const other = below(2) === 0 ? await begin() : null
        write(agent, anyFile(linked), linked)
        commitIn(linked)
        await end(agent, linked)
        if (other === null) return
        run(other, pick(['merge', 'squash', 'pick']))
        if (below(2) === 0) write(other)
        await end(other)
      })
    else if (kind === 8)
      await step('person stashes', async () => {
        personIn(s.folder)
        tried(s.folder, 'stash', '-q')
      })
    else if (kind < 11) await step('person', async () => personIn(s.folder))
    else
      await step('gap', async () => {
        const name = pick(among)
        kinds.push(name)
        moves[name]?.()
      })
  }
  return {
    judged: judged.size,
    accused: accused ?? [],
    lost: lost ?? [],
    unsure: [...unsure.values()],
    missing: missing ?? [],
    files: files ?? [],
  }
}

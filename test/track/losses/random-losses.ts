import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Randomness } from '../../git/randomness.ts'
import { recordGuardedCommand } from '../../support/guarded-command.ts'
import { agentActor, openProject, person, type TestProject } from '../../support/project.ts'

const tracked = ['src/auth.ts', 'src/api.ts', 'utils.ts', 'docs/one.md'] as const
const untracked = ['src/new.ts', 'docs/two.md', 'notes.txt'] as const
const paths = [...tracked, ...untracked]
const agents = ['ada', 'ben', 'cleo'] as const

type Contents = ReadonlyMap<string, string | null>

/** A guard's snapshot, with the uncommitted contents that were there. */
interface KeptMoment {
  readonly id: string
  readonly contents: Contents
}

export interface LossFigures {
  /** Reported as lost although no command destroyed them. */
  readonly wrong: readonly string[]
  /** Kept, destroyed, and not reported. */
  readonly missed: readonly string[]
  /** Contents that a restore did not bring back. */
  readonly unrestored: readonly string[]
  /** The lost files that were reported. */
  readonly reported: number
  readonly restored: number
}

/** Three agents and a person at work without hooks, and git commands that destroy uncommitted contents. */
export async function randomLosses(seed: number, length: number): Promise<LossFigures> {
  const run = new LossRun(seed, await openProject())
  await run.prepare()
  for (let step = 0; step < length; step += 1) await run.step()
  await run.restoreAll()
  return run.figures()
}

class LossRun {
  readonly #random: Randomness
  readonly #project: TestProject
  readonly #open = new Map<string, string>()
  readonly #moments: KeptMoment[] = []
  readonly #items = new Map<string, Contents>()
  readonly #wrong: string[] = []
  readonly #missed: string[] = []
  readonly #unrestored: string[] = []
  #restored = 0
  #reported = 0
  #written = 0
  #head: Contents = new Map()
  /** The newest uncommitted content of each path that was kept since the last measurement, or at it. */
  readonly #kept = new Map<string, string>()
  /** Paths whose uncommitted content a command destroyed since the last measurement. */
  readonly #destroyed = new Set<string>()
  /** Paths that were written last while no task was open: they are nobody's work. */
  readonly #ownerless = new Set<string>()
  /** Paths that a commit or a stash changed since the last measurement: it may have taken the content in. */
  readonly #explained = new Set<string>()
  readonly #stashes: { readonly contents: Contents; readonly commits: number }[] = []
  #commits = 0
  readonly #committed = new Set<string>()

  constructor(seed: number, project: TestProject) {
    this.#random = new Randomness(seed)
    this.#project = project
  }

  async prepare(): Promise<void> {
    for (const path of tracked) this.#project.write(path, `base of ${path}\n`)
    this.#commit()
    await this.#begin('ada')
  }

  async step(): Promise<void> {
    this.#project.wait(1_000)
    const kind = this.#random.below(20)
    if (kind < 8) this.#write()
    else if (kind < 10) await this.#begin(this.#random.pick(agents))
    else if (kind < 13) await this.#end(this.#random.pick(agents))
    else if (kind < 14) this.#commit()
    else if (kind < 16) this.#stash()
    else if (kind < 19) await this.#destroy()
    else await this.#restoreLast()
  }

  figures(): LossFigures {
    return {
      wrong: this.#wrong,
      missed: this.#missed,
      unrestored: this.#unrestored,
      reported: this.#reported,
      restored: this.#restored,
    }
  }

  #read(path: string): string | null {
    const file = join(this.#project.folder, path)
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }

  #disk(): Contents {
    return new Map(paths.map((path) => [path, this.#read(path)]))
  }

  #uncommitted(): ReadonlyMap<string, string> {
    const found = new Map<string, string>()
    for (const [path, content] of this.#disk()) {
      if (content !== null && content !== (this.#head.get(path) ?? null)) found.set(path, content)
    }
    return found
  }

  #write(): void {
    const path = this.#random.pick([tracked[0], ...paths])
    this.#written += 1
    this.#project.write(path, `content ${this.#written} of ${path}\n`)
    this.#destroyed.delete(path)
    if (this.#open.size === 0) this.#ownerless.add(path)
    else this.#ownerless.delete(path)
  }

  #commit(): void {
    const { git } = this.#project
    git('add', '-A')
    git('commit', '-q', '--allow-empty', '-m', 'All')
    const before = this.#head
    this.#head = this.#disk()
    this.#commits += 1
    for (const [path, content] of this.#head) if (content !== before.get(path)) this.#explained.add(path)
    for (const content of this.#head.values()) if (content !== null) this.#committed.add(content)
  }

  #stash(): void {
    const { git } = this.#project
    const [newest] = this.#stashes.slice(-1)
    const now = this.#uncommitted()
    if (newest === undefined || this.#random.below(3) === 0) {
      if (git('status', '--porcelain') === '') return
      git('stash', 'push', '-qu')
      // What was kept before went on, and the stash has that.
      for (const [path, content] of now) if (this.#kept.get(path) !== content) this.#explained.add(path)
      this.#stashes.push({ contents: now, commits: this.#commits })
      return
    }
    this.#stashes.pop()
    // On other commits it could conflict.
    if (git('status', '--porcelain') === '' && newest.commits === this.#commits) {
      git('stash', 'pop', '-q')
      for (const path of newest.contents.keys()) this.#destroyed.delete(path)
    } else {
      git('stash', 'drop', '-q')
      for (const path of newest.contents.keys()) if (!now.has(path)) this.#destroyed.add(path)
    }
  }

  /** A command that destroys uncommitted contents, mostly after a guard's snapshot. */
  async #destroy(): Promise<void> {
    if (this.#random.below(3) > 0) await this.#guard()
    const before = this.#uncommitted()
    const { git, folder } = this.#project
    const [inHead = 'src/auth.ts'] = tracked.filter((name) => (this.#head.get(name) ?? null) !== null)
    const commands: readonly [() => unknown, ...(() => unknown)[]] = [
      () => git('checkout', '-q', '--', '.'),
      () => git('reset', '-q', '--hard'),
      () => git('clean', '-fdq'),
      () => git('checkout', '-q', '--', inHead),
      () => [git('reset', '-q', '--hard'), git('clean', '-fdq')],
      () => rmSync(join(folder, 'docs'), { recursive: true, force: true }),
    ]
    this.#random.pick(commands)()
    const after = this.#disk()
    for (const [name, content] of before) if (after.get(name) !== content) this.#destroyed.add(name)
  }

  /** Restores the last loss: what is there then is kept. */
  async #restoreLast(): Promise<void> {
    const [id] = [...this.#items.keys()].slice(-1)
    if (id === undefined) return
    const input = { id, yes: true, force: true }
    const { files } = await this.#project.call('restore', input, { actor: person })
    this.#project.wait(10)
    for (const { path } of files) {
      this.#destroyed.delete(path)
      this.#ownerless.delete(path)
      this.#explained.delete(path)
    }
    if (files.length > 0) for (const [path, content] of this.#uncommitted()) this.#kept.set(path, content)
  }

  /** Takes a snapshot as the guard before a git command does. */
  async #guard(): Promise<void> {
    const id = await recordGuardedCommand(this.#project, 'git reset --hard')
    const contents = this.#uncommitted()
    for (const [path, content] of contents) this.#kept.set(path, content)
    this.#moments.push({ id, contents })
    this.#project.wait(10)
  }

  async #begin(agent: (typeof agents)[number]): Promise<void> {
    if (this.#open.has(agent)) return
    const as = { actor: { ...agentActor, name: agent } }
    const { task_id } = await this.#project.call(
      'start_task',
      { name: `Work of ${agent}`, agent_name: agent },
      as,
    )
    this.#open.set(agent, task_id)
    await this.#measured()
  }

  async #end(agent: (typeof agents)[number]): Promise<void> {
    const task_id = this.#open.get(agent)
    if (task_id === undefined) return
    const as = { actor: { ...agentActor, name: agent } }
    const input = { task_id, status: 'partial_success', outcome: { summary: 'Went on.' } }
    await this.#project.call('complete_task', input, as)
    this.#open.delete(agent)
    // What is stashed at the end of the last task is not among its files.
    const now = this.#uncommitted()
    if (this.#open.size === 0) for (const path of paths) if (!now.has(path)) this.#ownerless.add(path)
    await this.#measured()
  }

  /** Compares the new items with what was destroyed since the last measurement. */
  async #measured(): Promise<void> {
    const { items } = await this.#project.call('inbox', { kind: 'loss', limit: 100 })
    const fresh = items.filter(({ item_id }: { item_id: string }) => !this.#items.has(item_id))
    const told = new Set<string>()
    for (const { item_id, paths: lost } of fresh as readonly {
      item_id: string
      paths: readonly string[]
    }[]) {
      this.#items.set(item_id, new Map(lost.map((path) => [path, this.#kept.get(path) ?? null])))
      for (const path of lost) told.add(path)
    }
    this.#reported += told.size
    this.#wrong.push(...[...told].filter((path) => !this.#destroyed.has(path)))
    const isElsewhere = (content: string) =>
      this.#committed.has(content) ||
      this.#stashes.some(({ contents }) => [...contents.values()].includes(content)) ||
      [...this.#disk().values()].includes(content)
    for (const path of this.#destroyed) {
      const content = this.#kept.get(path)
      const isWork = content !== undefined && !this.#ownerless.has(path)
      if (!isWork || isElsewhere(content) || this.#explained.has(path)) continue
      if (!told.has(path)) this.#missed.push(path)
    }
    this.#destroyed.clear()
    this.#kept.clear()
    this.#explained.clear()
    for (const [path, content] of this.#uncommitted()) this.#kept.set(path, content)
    this.#project.wait(10)
  }

  /** Every content that a guard or a loss kept comes back. */
  async restoreAll(): Promise<void> {
    for (const { id, contents } of this.#moments) await this.#restore(id, contents)
    for (const [id, contents] of this.#items) await this.#restore(id, contents)
  }

  async #restore(id: string, contents: Contents): Promise<void> {
    if (contents.size === 0) return
    this.#project.wait(1_000)
    await this.#project.call('restore', { id, yes: true, force: true }, { actor: person })
    for (const [path, content] of contents) {
      if (content === null) continue
      this.#restored += 1
      if (this.#read(path) !== content) this.#unrestored.push(`${id} ${path}`)
    }
  }
}

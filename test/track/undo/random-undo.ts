import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Randomness } from '../../git/randomness.ts'
import { openStory } from '../../lines/story.ts'
import { openStage, type Player } from '../../sessions/driver.ts'
import { type Answer, person } from '../../support/project.ts'

/** What a run found; each finding is a sentence. */
export interface UndoFigures {
  readonly undone: number
  readonly refused: number
  /** Lines of others that are gone, or in another order. */
  readonly lost: readonly string[]
  /** Lines of the undone task that are still there, and not listed. */
  readonly left: readonly string[]
  /** Lines that only the undone task removed, and that did not come back. */
  readonly missing: readonly string[]
  /** Files that changed although the undo was refused. */
  readonly written: readonly string[]
}

interface Agent {
  readonly name: string
  readonly started: Answer
  readonly player: Player | null
}

const names = ['f', 'g', 'h'] as const

/** Three agents, a person and git in a random order; then each task is undone. Only this knows who wrote a line. */
export async function randomUndo(
  seed: number,
  { hooks, length }: { readonly hooks: boolean; readonly length: number },
): Promise<UndoFigures> {
  const random = new Randomness(seed)
  const below = (limit: number) => random.below(limit)
  const s = await openStory({ isOnMachine: false })
  const stage = openStage(s.context)
  const writers = new Map<string, string>()
  const removers = new Map<string, Set<string>>()
  /** Where each removed line was last. */
  const places = new Map<string, string>()
  /** Lines that no snapshot and no hook has seen: once removed, nothing has them. */
  const unseen = new Set<string>()
  const open: Agent[] = []
  const ended: Agent[] = []
  const [lost, left, missing, written]: [string[], string[], string[], string[]] = [[], [], [], []]
  let [lines, agents, commits, undone, refused] = [0, 0, 0, 0, 0]
  const story: string[] = []

  const read = (file: string) =>
    existsSync(join(s.folder, file)) ? readFileSync(join(s.folder, file), 'utf8') : null
  const rowsOf = (file: string) => (read(file) ?? '').split('\n').slice(0, -1)
  const there = () => names.filter((name) => read(name) !== null)
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
  const wordOf = (row: string) => /^\s*(\w+) /.exec(row)?.[1] ?? ''
  const fresh = (writer: string) => {
    lines += 1
    writers.set(`w${lines}w`, writer)
    return `w${lines}w ${pick(['if this', 'return that', 'let it be', 'call on'])} ${(lines * 7919) % 1000}`
  }
  const removed = (rows: readonly string[], file: string, by: string) => {
    for (const word of rows.map(wordOf).filter((one) => !unseen.has(one))) {
      removers.set(word, new Set([...(removers.get(word) ?? []), by]))
      places.set(word, file)
    }
  }
  const edited = (file: string, writer: string): string => {
    const rows = rowsOf(file)
    for (let more = 1 + below(2); more > 0; more -= 1) {
      const own = Array.from({ length: below(4) }, () => fresh(writer))
      const at = below(rows.length + 1)
      const gone = rows.splice(at, below(3) === 0 ? 1 : 0, ...own)
      removed(gone, file, writer)
    }
    return rows.map((row) => `${row}\n`).join('')
  }
  const begin = async () => {
    agents += 1
    const name = `a${agents}`
    const player = hooks ? stage.session(name) : null
    player?.start()
    player?.prompt()
    if (hooks) await stage.drain()
    const started = await s.begin(name)
    player?.own('mcp__waymark__start_task', started.attempt_id)
    if (hooks) await stage.drain()
    unseen.clear()
    open.push({ name, started, player })
  }
  const end = async () => {
    const [agent] = open.splice(below(open.length), 1)
    if (agent === undefined) return
    if (hooks) await stage.drain()
    await s.end(agent.started)
    agent.player?.stop()
    if (hooks) await stage.drain()
    unseen.clear()
    ended.push(agent)
    story.push(`${agent.name} ended`)
  }
  const write = ({ name, player }: Agent) => {
    const file = below(8) === 0 ? pick(names) : pick(there())
    // A hook reads the file before the edit.
    for (const row of rowsOf(file)) unseen.delete(wordOf(row))
    const content = edited(file, name)
    story.push(`${name} wrote ${file}`)
    if (player === null) s.write(file, content)
    else player.edit(join(s.folder, file), content)
  }
  /** Removes a file, or gives it another name. */
  const move = ({ name, player }: Agent) => {
    const file = pick(there())
    const free = names.find((one) => read(one) === null)
    if (there().length < 2) return
    const isRenamed = free !== undefined && below(2) === 0
    const rows = rowsOf(file)
    if (!isRenamed) removed(rows, file, name)
    story.push(`${name} ${isRenamed ? `renamed ${file} to ${free}` : `removed ${file}`}`)
    const work = () => {
      if (isRenamed) renameSync(join(s.folder, file), join(s.folder, free))
      else rmSync(join(s.folder, file))
    }
    if (player === null) work()
    else player.shell(work, { program: isRenamed ? 'mv' : 'rm' })
  }
  const commit = () => {
    commits += 1
    s.git('add', '-A')
    s.git('commit', '-q', '--allow-empty', '-m', `commit ${commits}`)
  }
  for (let at = 0; at < length; at += 1) {
    const kind = below(12)
    if ((open.length === 0 && kind < 9) || (kind === 0 && open.length < 3)) await begin()
    else if (kind < 3) await end()
    else if (kind === 3 && below(2) === 0) {
      // A write next to a command may be the command's, by the clocks of hooks and files.
      if (hooks) await setTimeout(80)
      move(pick(open))
      if (hooks) await setTimeout(80)
    } else if (kind < 9) write(pick(open))
    // Without hooks, nobody can tell a person from the attempts that are open meanwhile.
    else if (kind < 11 && (hooks || open.length === 0)) {
      const file = pick(there())
      const from = lines
      writeFileSync(join(s.folder, file), edited(file, 'person'))
      for (let line = from + 1; line <= lines; line += 1) unseen.add(`w${line}w`)
      story.push(`person wrote ${file}`)
    } else commit()
  }
  while (open.length > 0) await end()

  const contents = () => Object.fromEntries(names.map((name) => [name, read(name)]))
  while (ended.length > 0) {
    const [agent] = ended.splice(below(ended.length), 1)
    if (agent === undefined) break
    const { name, started } = agent
    const before = Object.fromEntries(names.map((file) => [file, rowsOf(file)]))
    const bytes = JSON.stringify(contents())
    const label = `${seed}: ${story.join(', ')}; undo ${name}`
    const answer: Answer = await s
      .call('undo', { id: started.task_id, yes: true }, { actor: person })
      .catch((error: Answer) => error)
    story.push(`${name} ${answer.written ? 'undone' : answer.reason}`)
    if (answer.written !== true) {
      refused += 1
      if (!['undo_conflicts', 'nothing_to_undo'].includes(answer.reason)) throw answer
      if (JSON.stringify(contents()) !== bytes) written.push(label)
      continue
    }
    undone += 1
    const after = Object.fromEntries(names.map((file) => [file, rowsOf(file)]))
    const isOwn = (row: string) => writers.get(wordOf(row)) === name
    for (const file of names) {
      const first = (before[file] ?? []).find((one) => !isOwn(one))
      // It may have another name now.
      const now = names.find((one) => first !== undefined && after[one]?.includes(first)) ?? file
      const rows = after[now] ?? []
      let at = 0
      for (const row of (before[file] ?? []).filter((one) => !isOwn(one))) {
        at = rows.indexOf(row, at) + 1
        if (at > 0) continue
        lost.push(`${label}: ${file}: ${row}`)
        break
      }
    }
    const staying = answer.stays.reduce((sum: number, one: Answer) => sum + (one.lines ?? 1_000), 0)
    const own = names.flatMap((file) => (after[file] ?? []).filter(isOwn))
    if (own.length > staying) left.push(`${label}: ${own.join(' | ')}`)
    if (answer.stays.length > 0) continue
    const present = new Set(names.flatMap((file) => (after[file] ?? []).map(wordOf)))
    for (const [word, by] of removers) {
      if (by.size !== 1 || !by.has(name) || writers.get(word) === name || present.has(word)) continue
      // Another one has removed its file since.
      if ((after[places.get(word) ?? ''] ?? []).length === 0) continue
      if (writers.get(word) !== undefined) missing.push(`${label}: ${word}`)
    }
  }
  return { undone, refused, lost, left, missing, written }
}

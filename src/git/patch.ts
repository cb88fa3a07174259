import type { ChangedHunk } from '../lines/domain/lines-of-change.ts'
import type { PathBytes } from './paths.ts'

/** The options of `diff-tree` for the output that is parsed here. To shorten ids, git would list all objects. */
export const patchForm = ['--raw', '--no-abbrev', '--full-index', '-z', '-p', '--no-color'] as const

/** A changed file with its removed and added lines. */
export interface ChangedContent {
  readonly path: PathBytes
  /** The old path of a rename. */
  readonly from?: PathBytes
  readonly before: string | null
  readonly after: string | null
  readonly places: readonly ChangedHunk[]
  readonly isText: boolean
  /** The number of added and removed lines, if requested; null for files that git treats as binary. */
  readonly count?: LineCount | null
}

export interface LineCount {
  readonly added: number
  readonly deleted: number
}

/**
 * Parses `--raw -z -p`, with or without `--numstat`: the list of changes, the counts, an empty record, and a patch for
 * each in the same order.
 */
export function parsePatch(output: Buffer): ChangedContent[] {
  const text = output.toString('latin1')
  const end = text.startsWith(':') ? text.indexOf('\0\0') : 0
  const records = text.slice(0, Math.max(0, end)).split('\0')
  const entries = parseRaw(records)
  const patches = splitPatches(text.slice(end < 0 ? text.length : end + 2))
  let next = 0
  return entries.map((entry) => {
    const patch = patches[next]
    // A change of white space alone has no patch where it is not compared.
    const isOwn = patch !== undefined && isPatchOf(entry, patch)
    if (isOwn) next += 1
    return { ...entry, ...parseHunks(isOwn ? patch : []) }
  })
}

function isPatchOf({ before, after }: ChangedEntry, lines: readonly string[]): boolean {
  const ids = lines.slice(0, 8).find((line) => line.startsWith('index '))
  const [, one = '', other = ''] = /^index ([0-9a-f]+)\.\.([0-9a-f]+)/.exec(ids ?? '') ?? []
  return ids === undefined || (oidOf(one) === before && oidOf(other) === after)
}

type ChangedEntry = Omit<ChangedContent, 'places' | 'isText'>

function parseRaw(records: readonly string[]): ChangedEntry[] {
  const entries: ChangedEntry[] = []
  let at = 0
  for (; records[at]?.startsWith(':'); at += 2) {
    const [, , before = '', after = '', status = ''] = (records[at] ?? '').split(' ')
    const oids = { before: oidOf(before), after: oidOf(after) }
    if (status.startsWith('R')) {
      entries.push({ path: records[at + 2] ?? '', from: records[at + 1] ?? '', ...oids })
      at += 1
    } else entries.push({ path: records[at + 1] ?? '', ...oids })
  }
  const counts = parseNumstat(records.slice(at))
  if (counts.length === 0) return entries
  const byPath = new Map(counts.map(({ path, count }) => [path, count]))
  return entries.map((entry) => ({ ...entry, count: byPath.get(entry.path) ?? null }))
}

/** Parses `--numstat -z`: `added<tab>deleted<tab>path`, or an empty path followed by the old and the new one. */
export function parseNumstat(records: readonly string[]): Pick<ChangedContent, 'path' | 'from' | 'count'>[] {
  const counted: Pick<ChangedContent, 'path' | 'from' | 'count'>[] = []
  for (let at = 0; at < records.length; at += 1) {
    const record = records[at] ?? ''
    const [added = '', deleted = ''] = record.split('\t', 2)
    const path = record.slice(added.length + deleted.length + 2)
    const count = added === '-' ? null : { added: Number(added), deleted: Number(deleted) }
    if (path !== '') counted.push({ path, count })
    else {
      counted.push({ path: records[at + 2] ?? '', from: records[at + 1] ?? '', count })
      at += 2
    }
  }
  return counted
}

export function oidOf(text: string): string | null {
  return /^0*$/.test(text) ? null : text
}

function splitPatches(text: string): string[][] {
  const patches: string[][] = []
  for (const line of text.split('\n')) {
    if (line.startsWith('diff --git ')) patches.push([])
    else patches.at(-1)?.push(line)
  }
  return patches
}

function parseHunks(lines: readonly string[]): Pick<ChangedContent, 'places' | 'isText'> {
  const places: MutableHunk[] = []
  let isText = true
  let before = 0
  let after = 0
  let context: (readonly [number, string])[] = []
  let current: MutableHunk | null = null
  let isInside = false
  for (const line of lines) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (head !== null) {
      // If a side is empty, git names the line before.
      before = Number(head[1]) + (head[2] === '0' ? 1 : 0)
      after = Number(head[3]) + (head[4] === '0' ? 1 : 0)
      context = []
      current = null
      isInside = true
      continue
    }
    if (!isInside) {
      if (line.startsWith('Binary files ')) isText = false
      continue
    }
    const sign = line[0]
    const text = line.slice(1)
    if (sign === ' ') {
      const beside = [after, text] as const
      if (current !== null && current.around.length < current.ahead + 3) current.around.push(beside)
      context = [...context.slice(-2), beside]
      current = current !== null && current.around.length >= current.ahead + 3 ? null : current
      if (current !== null) current.isOver = true
      before += 1
      after += 1
      continue
    }
    if (sign !== '+' && sign !== '-') continue
    if (current === null || current.isOver) {
      current = {
        before,
        after,
        removed: [],
        added: [],
        around: [...context],
        ahead: context.length,
        isOver: false,
      }
      places.push(current)
      context = []
    }
    if (sign === '-') {
      current.removed.push(text)
      before += 1
    } else {
      current.added.push(text)
      after += 1
    }
  }
  return { places: places.map(({ ahead: _, isOver: __, ...place }) => place), isText }
}

interface MutableHunk {
  readonly before: number
  readonly after: number
  readonly removed: string[]
  readonly added: string[]
  readonly around: (readonly [number, string])[]
  /** How many of them are ahead of it. */
  readonly ahead: number
  isOver: boolean
}

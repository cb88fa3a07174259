import type { ChangedHunk } from '../lines/domain/lines-of-change.ts'
import { readBlobs } from './blobs.ts'
import { diffContents, type PathChange, textOnly } from './diff.ts'
import { splitBufferLines } from './line-hash.ts'
import { type ChangedContent, parsePatch, patchForm } from './patch.ts'
import type { PrivateDirectory } from './private-directory.ts'

// Only the lines of files of this length are compared without their white space.
const maxLines = 20_000

/**
 * The changes of files in which lines only changed their white space, compared without white space. An exact comparison
 * takes a closing bracket for the one of another depth once the lines between are indented.
 */
export async function withReindented(
  place: PrivateDirectory,
  changed: readonly ChangedContent[],
): Promise<readonly ChangedContent[]> {
  const files = changed.filter(({ before, after, isText, places }) => {
    return before !== null && after !== null && isText && places.some(isReindented)
  })
  if (files.length === 0) return changed
  const pairs = files.map(({ path, before, after }): PathChange => {
    return { path, before: { mode: '100644', oid: before }, after: { mode: '100644', oid: after } }
  })
  const [diff, contents] = await Promise.all([
    diffContents(place, pairs, [...patchForm, '-U0', '-w'], textOnly),
    readBlobs(
      place,
      files.flatMap(({ before, after }) => [before ?? '', after ?? '']),
    ),
  ])
  if (diff === null) return changed
  const places = new Map(parsePatch(diff.output).map((file) => [file.path, file.places]))
  return changed.map((file) => {
    const [before, after] = [contents.get(file.before ?? ''), contents.get(file.after ?? '')]
    const hunks = places.get(file.path)
    if (!files.includes(file) || hunks === undefined || before === undefined || after === undefined)
      return file
    const [old, now] = [splitBufferLines(before), splitBufferLines(after)]
    return old.length + now.length > maxLines ? file : { ...file, places: splitHunks(hunks, old, now) }
  })
}

function isReindented({ removed, added }: ChangedHunk): boolean {
  const bare = new Set(removed.map(withoutSpace).filter((line) => line !== ''))
  return added.some((line) => bare.has(withoutSpace(line)))
}

function withoutSpace(line: string): string {
  return line.replace(/\s+/g, '')
}

/** Hunks of the changed lines, and one for each run of lines that only changed their white space. */
function splitHunks(
  hunks: readonly ChangedHunk[],
  old: readonly string[],
  now: readonly string[],
): readonly ChangedHunk[] {
  const split: { before: number; after: number; removed: readonly string[]; added: readonly string[] }[] = []
  let [before, after] = [1, 1]
  const passUntil = (end: number): void => {
    let [removed, added]: string[][] = [[], []]
    const close = () => {
      if (removed === undefined || added === undefined || removed.length === 0) return
      split.push({ before: before - removed.length, after: after - added.length, removed, added })
      ;[removed, added] = [[], []]
    }
    for (; before < end; before += 1, after += 1) {
      const [one = '', other = ''] = [old[before - 1], now[after - 1]]
      if (one === other) close()
      else {
        removed?.push(one)
        added?.push(other)
      }
    }
    close()
  }
  for (const hunk of hunks) {
    passUntil(hunk.before)
    split.push(hunk)
    before = hunk.before + hunk.removed.length
    after = hunk.after + hunk.added.length
  }
  passUntil(old.length + 1)
  const isChanged = new Set(split.flatMap((hunk) => hunk.added.map((_, more) => hunk.after + more)))
  return split.map((hunk) => ({
    ...hunk,
    around: linesBeside(hunk.after, hunk.added.length, now, isChanged),
  }))
}

function linesBeside(
  first: number,
  count: number,
  now: readonly string[],
  isChanged: ReadonlySet<number>,
): readonly (readonly [number, string])[] {
  const numbers = [first - 3, first - 2, first - 1, first + count, first + count + 1, first + count + 2]
  return numbers
    .filter((line) => line >= 1 && line <= now.length && !isChanged.has(line))
    .map((line) => [line, now[line - 1] ?? ''] as const)
}

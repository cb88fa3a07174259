import { lstatSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { HiddenEntry, SetTimesEntry } from './index-entries.ts'
import { onDisk } from './path-bytes.ts'

// About two milliseconds: a server goes on answering meanwhile.
const perTurn = 500

// What a number of milliseconds since 1970 can tell apart.
const precision = 0.001

// The longest that a clock of a file system stands still between two ticks.
const tick = 20

/**
 * The files that git would take for unchanged by their times, and that may have been edited: git compares whole seconds,
 * and a file whose time of modification was set back shows an edit only by its time of change.
 */
export async function doubtfulTimes(
  place: { readonly top: string; readonly index: string },
  entries: readonly SetTimesEntry[],
): Promise<HiddenEntry[]> {
  if (entries.length === 0) return []
  const comparedAt = statOf(place.index)?.mtimeMs ?? 0
  const doubtful: HiddenEntry[] = []
  for (const [at, entry] of entries.entries()) {
    if (at > 0 && at % perTurn === 0) await nextTurn()
    const found = statOf(onDisk(place.top, entry.path))
    if (found !== null && isDoubtful(entry, found, comparedAt)) {
      doubtful.push({ path: entry.path, index: entry.index, flag: 'times set' })
    }
  }
  return doubtful
}

function isDoubtful(
  { times }: SetTimesEntry,
  { mtimeMs, ctimeMs, size }: Stats,
  comparedAt: number,
): boolean {
  if (times === null) return Math.floor(mtimeMs / 1000) !== Math.floor(ctimeMs / 1000)
  // git notices these by itself.
  if (seconds(times.changed) !== seconds(ctimeMs) || seconds(times.modified) !== seconds(mtimeMs))
    return false
  if (times.size !== size % 2 ** 32) return false
  const wholeSeconds = times.changed % 1000 === 0 && times.modified % 1000 === 0
  const differ =
    Math.abs(times.changed - ctimeMs) > precision || Math.abs(times.modified - mtimeMs) > precision
  return differ || wholeSeconds || times.changed > comparedAt - tick
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

function statOf(path: string | Buffer): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

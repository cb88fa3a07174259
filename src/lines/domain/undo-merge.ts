import { align } from './alignment.ts'
import type { UndoHunk, UndoStep } from './undo-steps.ts'

/** A line of a file with its line feed, in any of its contents. */
interface WovenLine {
  /** At the end, and without the undone work: the line feed of a last line may differ. */
  text: string
  textWithout: string
  /** The hunk that added it; null for a line of the first content. */
  readonly born: WovenHunk | null
  died: WovenHunk | null
  /** It is in another file since. */
  isElsewhere?: true
  /** It goes with the undone work. */
  readonly isOwn: boolean
  /** It may belong to the undone work, and stays. */
  readonly isUncertain: boolean
}

interface WovenHunk extends Pick<UndoHunk, 'restores'> {
  readonly removesLines: boolean
  /** Someone else changed lines of the undone work here: only a merge shows what becomes of them. */
  isContended: boolean
}

/** The contents of a three-way merge that takes work back: what others changed in its lines is not in the base. */
export interface UndoMerge {
  readonly base: readonly string[]
  readonly theirs: readonly string[]
  /** For each line of the base whether it goes, and the lines that come back before it; one more at the end. */
  readonly edits: readonly UndoEdit[]
  /** How many lines stay that may belong to the undone work. */
  readonly uncertain: number
  /** How many lines of others stand between lines that go. */
  readonly inside: number
}

interface UndoEdit {
  readonly goes: boolean
  readonly back: readonly string[]
}

/**
 * Follows each line of a file from its first content through all changes. Null if a content does not fit to the record.
 */
export function undoMerge(
  first: readonly string[],
  steps: readonly UndoStep[],
  contentOf: (id: string | null) => readonly string[] | null,
): UndoMerge | null {
  let woven: WovenLine[] = first.map((text) => ({
    text,
    textWithout: text,
    born: null,
    died: null,
    isOwn: false,
    isUncertain: false,
  }))
  for (const step of steps) {
    const after = contentOf(step.after)
    if (after === null) return null
    const next = weave(woven, step.hunks, after)
    if (next === null) return null
    woven = next
  }
  return mergeOf(woven)
}

function weave(
  woven: readonly WovenLine[],
  hunks: readonly UndoHunk[],
  after: readonly string[],
): WovenLine[] | null {
  const next: WovenLine[] = []
  const isOwnStep = hunks.some(({ restores, own }) => restores || own.length > 0)
  let [at, line, lineAfter] = [0, 1, 1]
  /** Passes the lines that stay, until one of the content before. */
  const passUntil = (end: number): boolean => {
    for (; at < woven.length; at += 1) {
      const one = woven[at]
      if (one === undefined) return false
      if (one.died === null) {
        if (line >= end) return true
        const text = after[lineAfter - 1]
        if (text === undefined || !isSameText(text, one.text)) return false
        if (!isOwnStep) one.textWithout = text
        one.text = text
        line += 1
        lineAfter += 1
      }
      next.push(one)
    }
    return line >= end || end === Number.MAX_SAFE_INTEGER
  }
  for (const hunk of hunks) {
    const { before, removed, added, restores } = hunk
    // Lines that are only added stand after the line that git names.
    if (!passUntil(removed === 0 ? lineAfterHunk(hunk, line, lineAfter) : before)) return null
    if (hunk.after !== lineAfter && added > 0) return null
    const current: WovenHunk = { restores, removesLines: removed > 0, isContended: false }
    const [own, kept, uncertain] = [new Set(hunk.own), new Set(hunk.kept), new Set(hunk.uncertain)]
    const elsewhere = new Set(hunk.elsewhere)
    for (let more = 0; more < removed; ) {
      const one = woven[at]
      if (one === undefined) return null
      at += 1
      next.push(one)
      if (one.died !== null) continue
      one.died = current
      if (elsewhere.has(line)) one.isElsewhere = true
      const changesOwn =
        !restores &&
        !kept.has(line) &&
        ((one.isOwn && (added > own.size || (one.born?.restores === true && one.born.removesLines))) ||
          (one.born?.isContended === true && added > 0))
      if (changesOwn) current.isContended = true
      line += 1
      more += 1
    }
    for (let more = 0; more < added; more += 1, lineAfter += 1) {
      const text = after[lineAfter - 1]
      if (text === undefined) return null
      const [isOwn, isUncertain] = [own.has(lineAfter), uncertain.has(lineAfter)]
      next.push({ text, textWithout: text, born: current, died: null, isOwn, isUncertain })
    }
  }
  if (!passUntil(Number.MAX_SAFE_INTEGER) || lineAfter !== after.length + 1) return null
  return next
}

/** The line before which a hunk only adds lines: by its place afterwards, since git counts that one exactly. */
function lineAfterHunk({ after }: UndoHunk, line: number, lineAfter: number): number {
  return line + (after - lineAfter)
}

/** A last line may have lost its line feed, or got one, without being another line. */
function isSameText(one: string, other: string): boolean {
  return one === other || withoutFeed(one) === withoutFeed(other)
}

function withoutFeed(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

function mergeOf(woven: readonly WovenLine[]): UndoMerge {
  const base: string[] = []
  const theirs: string[] = []
  const edits: UndoEdit[] = []
  let back: string[] = []
  let [uncertain, inside, run] = [0, 0, 0]
  let isAfterOwn = false
  for (const { text, textWithout, born, died, isElsewhere, isOwn, isUncertain } of woven) {
    if (born?.isContended) continue
    const isInBase = died === null || died.isContended
    const isInTheirs = !isOwn && (isInBase || (died?.restores === true && isElsewhere !== true))
    if (isInTheirs) theirs.push(textWithout)
    if (isInTheirs && isUncertain) uncertain += 1
    if (isInBase) {
      base.push(text)
      edits.push({ goes: !isInTheirs, back })
      back = []
    } else if (isInTheirs) back.push(textWithout)
    if (isInBase && !isInTheirs) {
      if (isAfterOwn) inside += run
      ;[isAfterOwn, run] = [true, 0]
    } else if (isInBase) {
      if (born !== null) run += 1
      else [isAfterOwn, run] = [false, 0]
    }
  }
  edits.push({ goes: false, back })
  return { base, theirs, edits, uncertain, inside }
}

/** The content of lines: all but the last end with a line feed. */
export function contentOfLines(lines: readonly string[]): string {
  return lines
    .map((line, at) => (at < lines.length - 1 && !line.endsWith('\n') ? `${line}\n` : line))
    .join('')
}

/** The lines of a content, each with its line feed. */
export function linesWithFeeds(content: string): readonly string[] {
  return content === '' ? [] : content.split(/(?<=\n)/)
}

/**
 * Takes lines out of the content now, and puts lines back, where nothing else changed the same lines. Git's merge
 * refuses changes that only touch; here lines that others put beside or between the lines that go stay. Null for a
 * conflict.
 */
export function applyEdits({ base, edits }: UndoMerge, now: readonly string[]): readonly string[] | null {
  const pairs = align(base.map(withoutFeed), now.map(withoutFeed))
  const result: string[] = []
  const regions = regionsOf(edits)
  let at = 0
  for (let line = 0; line <= base.length; ) {
    const partner = line < base.length ? (pairs[line] ?? -1) : now.length
    // Lines of now that are not in the base stand before this one, and lines of the base may be gone.
    let end = line
    let target = partner
    while (end < base.length && (pairs[end] ?? -1) < 0) {
      end += 1
      target = end < base.length ? (pairs[end] ?? -1) : now.length
    }
    if (target > at || end > line) {
      const put = now.slice(at, target)
      const merged = mergeChange({ edits, regions }, { start: line, end, put })
      if (merged === null) return null
      result.push(...merged)
      at = target
    } else result.push(...(edits[line]?.back ?? []))
    if (end < base.length) {
      if (edits[end]?.goes !== true) result.push(now[at] ?? '')
      at += 1
    }
    line = end + 1
  }
  return result
}

/** Neighbouring lines of the base that go, with the gaps around them. */
interface EditRegion {
  readonly start: number
  readonly end: number
  readonly bringsBack: boolean
}

function regionsOf(edits: readonly UndoEdit[]): readonly EditRegion[] {
  const regions: EditRegion[] = []
  for (let at = 0; at < edits.length; at += 1) {
    if (edits[at]?.goes !== true && (edits[at]?.back.length ?? 0) === 0) continue
    let end = at
    while (edits[end]?.goes === true) end += 1
    const all = edits.slice(at, end + 1)
    regions.push({ start: at, end, bringsBack: all.some(({ back }) => back.length > 0) })
    // The gap at the end may have lines that come back, which belong to this region.
    at = end
  }
  return regions
}

/** A change of others: the lines of the base from `start` to before `end` are gone, and lines were put there. */
interface OtherChange {
  readonly start: number
  readonly end: number
  readonly put: readonly string[]
}

function mergeChange(
  { edits, regions }: { readonly edits: readonly UndoEdit[]; readonly regions: readonly EditRegion[] },
  { start, end, put }: OtherChange,
): readonly string[] | null {
  const touched = regions.filter((region) => region.start <= end && region.end >= start)
  if (touched.length === 0) return put
  const isInsertion = start === end
  let isBefore = true
  for (const region of touched) {
    if (isInsertion) {
      if (!region.bringsBack) continue
      // Which of two lines at the same place comes first is unknown.
      if (region.start === region.end) return null
      if (start > region.start && start < region.end) return null
      isBefore = start === region.start
      continue
    }
    const isOverlap = region.start < end && region.end > start
    if (put.length === 0 && !region.bringsBack) continue
    if (isOverlap || put.length > 0) return null
    if (region.start > start && region.start < end) return null
  }
  // Lines that come back at the places of gone lines stay with them.
  const back: string[] = []
  for (let gap = start; gap <= end; gap += 1) back.push(...(edits[gap]?.back ?? []))
  return isBefore ? [...put, ...back] : [...back, ...put]
}

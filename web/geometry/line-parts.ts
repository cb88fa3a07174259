import { diffWordsWithSpace } from 'diff/lib/diff/word.js'

/** Characters `from` up to `to`, without the last. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** A range that has a syntax colour. */
export interface ColorRange extends TextRange {
  readonly colour: string
}

/** A piece of a line as it is drawn. */
export interface LinePart {
  readonly text: string
  readonly colour: string | null
  /** It differs from the line that it took the place of. */
  readonly changed: boolean
  /** A character that would not be seen, or would turn others around, in words. */
  readonly odd: boolean
}

/** Longer lines are compared as a whole. */
const maxComparedLength = 1_000
/** Where less than this share stays the same, the words within say nothing. */
const leastAlike = 0.4

/** The words in which two lines differ; null where they are too different, or too long, to be compared. */
export function wordDifferences(
  before: string,
  after: string,
): { readonly before: readonly TextRange[]; readonly after: readonly TextRange[] } | null {
  if (before.length > maxComparedLength || after.length > maxComparedLength) return null
  const [old, next]: [TextRange[], TextRange[]] = [[], []]
  let [atOld, atNew, alike] = [0, 0, 0]
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) {
      old.push({ from: atOld, to: atOld + value.length })
      atOld += value.length
    } else if (added) {
      next.push({ from: atNew, to: atNew + value.length })
      atNew += value.length
    } else {
      alike += value.trim().length
      atOld += value.length
      atNew += value.length
    }
  }
  const longer = Math.max(before.trim().length, after.trim().length)
  return longer > 0 && alike / longer >= leastAlike ? { before: old, after: next } : null
}

/**
 * Controls and marks that are not seen or that turn the order of what is seen: escape codes, bidirectional marks, spaces
 * without width, tags. A tab is seen.
 */
const oddCharacters =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu

/** A text with what is not seen in it named: `U+202E`. */
export function plainParts(text: string): readonly Pick<LinePart, 'text' | 'odd'>[] {
  const parts: Pick<LinePart, 'text' | 'odd'>[] = []
  let end = 0
  for (const { 0: character, index } of text.matchAll(oddCharacters)) {
    if (index > end) parts.push({ text: text.slice(end, index), odd: false })
    parts.push({ text: nameOf(character), odd: true })
    end = index + character.length
  }
  if (end < text.length || parts.length === 0) parts.push({ text: text.slice(end), odd: false })
  return parts
}

/** A name in one piece, with what is not seen in it named. */
export function plainText(text: string): string {
  return text.replace(oddCharacters, nameOf)
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

interface LineDecoration {
  /** In order, and apart from each other. */
  readonly colours: readonly ColorRange[]
  readonly changed: readonly TextRange[]
}

/** A line cut where its colour or what changed in it begins and ends. */
export function lineParts(text: string, { colours, changed }: LineDecoration): readonly LinePart[] {
  const cuts = new Set([0, text.length])
  for (const { from, to } of [...colours, ...changed]) {
    if (from < text.length) cuts.add(from)
    if (to < text.length) cuts.add(to)
  }
  const places = [...cuts].sort((a, b) => a - b)
  return places.slice(0, -1).flatMap((from, at) => {
    const to = places[at + 1] ?? text.length
    const dressed = {
      colour: colours.find((range) => range.from <= from && range.to >= to)?.colour ?? null,
      changed: changed.some((range) => range.from <= from && range.to >= to),
    }
    return plainParts(text.slice(from, to)).map((part) => ({ ...part, ...dressed }))
  })
}

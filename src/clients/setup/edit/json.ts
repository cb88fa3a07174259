import { isDeepStrictEqual } from 'node:util'
import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { isJsonObject } from '../../../kernel/json.ts'
import { type Json, printJsonValue } from './json-text.ts'

/** The JSON extensions that the reading client supports. */
export interface JsonFormat {
  readonly comments: boolean
  readonly trailingCommas: boolean
}

/** A location: property names from the top; with `item`, an element of the list there. */
export interface JsonLocation {
  readonly keys: readonly string[]
  readonly item: boolean
}

/** A pure insertion, with the data to find it again. */
export interface JsonInsertion {
  /** The inserted text. */
  readonly put: string
  /** The start and length of the added property or element in the text. */
  readonly core: readonly [at: number, length: number]
  /** The location of the whole addition: above the entry if its parents were added too. */
  readonly at: JsonLocation
}

export type JsonEditResult =
  | { readonly text: string; readonly insertion: JsonInsertion }
  | { readonly refused: string }

/** Why a text cannot be edited, with line and column; null if it can. */
export function jsonFault(text: string, format: JsonFormat): string | null {
  const read = readJson(text, format)
  return 'refused' in read ? read.refused : null
}

/** The value at a location; undefined if it is missing or the text is invalid. */
export function jsonValue(text: string, keys: readonly string[]): Json | undefined {
  const read = readJson(text, { comments: true, trailingCommas: true })
  if ('refused' in read || read.root === null) return undefined
  const node = keys.reduce<Node | undefined>((above, key) => propertyOf(above, key)?.value, read.root)
  return node && jsonOf(node)
}

/** Adds a value with one insertion in the style of the file. */
export function insertJson(
  text: string,
  format: JsonFormat,
  place: JsonLocation,
  value: Json,
): JsonEditResult {
  const read = readJson(text, format)
  if ('refused' in read) return read
  const style = styleOf(text)
  if (read.root === null) return firstText(text, { place, value, style })
  let holder: Node = read.root
  for (const [depth, key] of place.keys.entries()) {
    const wrong = wrongTypeMessage(text, holder, 'object', place.keys.slice(0, depth))
    if (wrong) return { refused: wrong }
    const found = propertyOf(holder, key)
    if (found === null) {
      const rest = place.keys.slice(depth + 1)
      const core = { key, value: nestValue(rest, place.item ? [value] : value), parents: rest.length }
      const at = { keys: place.keys.slice(0, depth + 1), item: false }
      return checkEdit(text, format, addTo(text, { holder, core, style, at }))
    }
    if (found.again)
      return { refused: `"${key}" is there twice, again at ${lineAndColumn(text, found.again)}` }
    holder = found.value
  }
  if (!place.item) return { refused: `there is a value at ${place.keys.join('.')} already` }
  const wrong = wrongTypeMessage(text, holder, 'array', place.keys)
  if (wrong) return { refused: wrong }
  return checkEdit(
    text,
    format,
    addTo(text, { holder, core: { key: null, value, parents: 0 }, style, at: place }),
  )
}

/** Replaces the value of a property, and returns the old one. */
export function replaceJson(
  text: string,
  format: JsonFormat,
  keys: readonly string[],
  value: Json,
): { readonly text: string; readonly put: string; readonly instead: string } | { readonly refused: string } {
  const read = readJson(text, format)
  if ('refused' in read) return read
  const node = nodeAt(read.root, keys)
  if (!node) return { refused: `there is nothing at ${keys.join('.')}` }
  const style = styleOf(text)
  const put = printJsonValue(value, { ...style, indent: indentAt(text, node.parent?.offset ?? node.offset) })
  const instead = textOf(text, node)
  return { text: spliceText(text, node.offset, node.length, put), put, instead }
}

/** The result of undoing an insertion: removed, changed by somebody, or not found. */
export type JsonRemoveResult =
  | { readonly text: string }
  | { readonly changed: string }
  | { readonly missing: true }

/**
 * Undoes an insertion. Removes the exact text if its surroundings are unchanged, else only the added value.
 * Removes nothing if somebody edited the value.
 */
export function removeJson(
  text: string,
  insertion: JsonInsertion,
  leaf: { readonly place: JsonLocation; readonly value: Json },
): JsonRemoveResult {
  const read = readJson(text, { comments: true, trailingCommas: true })
  if ('refused' in read) return { changed: read.refused }
  if (read.root === null) return { missing: true }
  const { put, core, at } = insertion
  const isWhole = at.keys.length === 0 && !at.item
  if (isWhole && text.endsWith(put)) return { text: text.slice(0, -put.length) }
  const whole = isWhole ? null : pairAt(read.root, at, leaf.value)
  const start = whole ? whole.offset - core[0] : -1
  if (whole && start >= 0 && text.slice(start, start + put.length) === put) {
    return { text: spliceText(text, start, put.length, '') }
  }
  return removeLeaf(text, read.root, leaf, at)
}

/** Removes the added value with a comma, then the added parents that are empty. */
function removeLeaf(
  text: string,
  root: Node,
  leaf: { readonly place: JsonLocation; readonly value: Json },
  at: JsonLocation,
): JsonRemoveResult {
  const node = pairAt(root, leaf.place, leaf.value)
  if (!node) {
    const list = leaf.place.item ? null : nodeAt(root, leaf.place.keys)
    return list ? { changed: lineAndColumn(text, list) } : { missing: true }
  }
  const value = leaf.place.item ? node : node.children?.[1]
  if (!value || !isDeepStrictEqual(jsonOf(value), leaf.value) || hasComment(textOf(text, node))) {
    return { changed: lineAndColumn(text, node) }
  }
  let left = removeNode(text, node)
  for (let depth = leaf.place.keys.length - (leaf.place.item ? 0 : 1); depth >= at.keys.length; depth -= 1) {
    const above = parseTree(left, [], { allowTrailingComma: true })
    const empty = above && pairAt(above, { keys: leaf.place.keys.slice(0, depth), item: false }, null)
    if (!empty || (empty.children?.[1]?.children?.length ?? 1) > 0) break
    left = removeNode(left, empty)
  }
  return { text: left }
}

/** A property or element with the white space before it and one of the commas beside it. */
function removeNode(text: string, node: Node): string {
  let start = node.offset
  while (start > 0 && /\s/.test(text[start - 1] ?? '')) start -= 1
  let end = node.offset + node.length
  const next = /^\s*,/.exec(text.slice(end))
  if (next) end += next[0].length
  else if (text[start - 1] === ',') start -= 1
  if (text[start - 1] === '{' || text[start - 1] === '[') {
    const closing = /^\s*(?=[}\]])/.exec(text.slice(end))
    if (closing) end += closing[0].length
  }
  return text.slice(0, start) + text.slice(end)
}

type JsonReadResult = { readonly root: Node | null } | { readonly refused: string }

/** The last parsed texts: an edit parses the same text several times, and the next edit begins with it. */
let lately: readonly { readonly text: string; readonly format: JsonFormat; readonly read: JsonReadResult }[] =
  []

function readJson(text: string, format: JsonFormat): JsonReadResult {
  const { comments, trailingCommas } = format
  const cached = lately.find(
    (one) =>
      one.text === text && one.format.comments === comments && one.format.trailingCommas === trailingCommas,
  )
  if (cached) return cached.read
  const read = parseJsonTree(text, format)
  lately = [{ text, format, read }, ...lately.slice(0, 3)]
  return read
}

function parseJsonTree(text: string, { comments, trailingCommas }: JsonFormat): JsonReadResult {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, {
    disallowComments: !comments,
    allowTrailingComma: trailingCommas,
    allowEmptyContent: true,
  })
  const [first] = errors
  if (first) {
    const what = faults[printParseErrorCode(first.error)] ?? 'it cannot be read'
    return { refused: `${what} at ${lineAndColumn(text, first)}` }
  }
  return { root: root ?? null }
}

const faults: Readonly<Record<string, string>> = {
  InvalidCommentToken: 'there is a comment, which its client cannot read,',
  UnexpectedEndOfComment: 'a comment does not end',
  UnexpectedEndOfString: 'a text does not end',
  CommaExpected: 'a comma is missing',
  ColonExpected: 'a colon is missing',
  ValueExpected: 'a value is missing',
  PropertyNameExpected: 'the name of a property is missing',
  CloseBraceExpected: 'a } is missing',
  CloseBracketExpected: 'a ] is missing',
  EndOfFileExpected: 'there is more after the end of the value',
}

function lineAndColumn(text: string, { offset }: { readonly offset: number }): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

function wrongTypeMessage(
  text: string,
  node: Node,
  type: 'object' | 'array',
  keys: readonly string[],
): string | null {
  if (node.type === type) return null
  const name = keys.length === 0 ? 'the whole file' : `"${keys.join('.')}"`
  return `${name} is ${kinds[node.type]}, not ${kinds[type]}, at ${lineAndColumn(text, node)}`
}

const kinds = {
  object: 'an object',
  array: 'a list',
  property: 'a property',
  string: 'a text',
  number: 'a number',
  boolean: 'a yes or no',
  null: 'null',
} satisfies Record<Node['type'], string>

/** A property of an object; `again` if the name occurs twice. */
function propertyOf(
  node: Node | undefined,
  key: string,
): { readonly pair: Node; readonly value: Node; readonly again: Node | null } | null {
  if (node?.type !== 'object') return null
  const pairs = (node.children ?? []).filter(({ children }) => children?.[0]?.value === key)
  const [pair, again] = pairs
  const value = pair?.children?.[1]
  return pair && value ? { pair, value, again: again ?? null } : null
}

function nodeAt(root: Node | null, keys: readonly string[]): Node | undefined {
  return keys.reduce<Node | undefined>((above, key) => propertyOf(above, key)?.value, root ?? undefined)
}

/** The property, or the element that has this value. */
function pairAt(root: Node, { keys, item }: JsonLocation, value: Json): Node | undefined {
  if (!item) {
    const key = keys.at(-1)
    return key === undefined ? undefined : propertyOf(nodeAt(root, keys.slice(0, -1)), key)?.pair
  }
  const list = nodeAt(root, keys)
  return list?.children?.find((element) => isDeepStrictEqual(jsonOf(element), value))
}

function jsonOf(node: Node): Json {
  if (node.type === 'array') return (node.children ?? []).map(jsonOf)
  if (node.type !== 'object') return node.value
  return Object.fromEntries(
    (node.children ?? []).flatMap(({ children }) => {
      const [key, value] = children ?? []
      return key && value ? [[String(key.value), jsonOf(value)]] : []
    }),
  )
}

function nestValue(keys: readonly string[], value: Json): Json {
  return keys.reduceRight<Json>((inner, key) => ({ [key]: inner }), value)
}

export interface JsonStyle {
  readonly unit: string
  readonly eol: string
}

// Each comment matches in only one way, which avoids backtracking.
const afterComments = /^(?:\s|\/\/[^\r\n]*(?:[\r\n]|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*,/

function styleOf(text: string): JsonStyle {
  const unit = /\n([ \t]+)["{[/]/.exec(text)?.[1] ?? '  '
  return { unit: unit.startsWith('\t') ? '\t' : unit, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}

/** The indentation of the line at a position. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start))?.[0] ?? ''
}

interface JsonAddition {
  readonly holder: Node
  readonly core: { readonly key: string | null; readonly value: Json; readonly parents: number }
  readonly style: JsonStyle
  readonly at: JsonLocation
}

interface JsonInsertResult {
  readonly text: string
  readonly insertion: JsonInsertion
  readonly value: Json
}

/** Inserts a property or element after the last one, or before the first. */
function addTo(text: string, { holder, core, style, at }: JsonAddition): JsonInsertResult {
  const children = holder.children ?? []
  const [open, close] = [holder.offset, holder.offset + holder.length - 1]
  const isOneLine = !text.slice(open, close).includes('\n') && children.length > 0
  const inner = children[0]
  const indent = isOneLine ? '' : inner ? indentAt(text, inner.offset) : indentAt(text, open) + style.unit
  const words = isOneLine
    ? printJsonValue(core.value, {
        inline: text.slice(open, close).includes(': ') || /[{[]\s/.test(text.slice(open, close)),
      })
    : printJsonValue(core.value, { ...style, indent, spread: core.parents })
  const colon = isOneLine && !/":\s/.test(text.slice(open, close)) ? ':' : ': '
  const property = core.key === null ? words : `${JSON.stringify(core.key)}${colon}${words}`
  const last = children.at(-1)
  const { offset, before, after } = spot()
  const put = before + property + after
  return {
    text: spliceText(text, offset, 0, put),
    insertion: { put, core: [before.length, property.length], at },
    value: core.value,
  }

  function spot(): { readonly offset: number; readonly before: string; readonly after: string } {
    const newLine = style.eol + indent
    if (!last || !inner) {
      // It has only white space and comments: the closing bracket gets its own line.
      const inside = text.slice(open + 1, close)
      const end = text.slice(0, close).trimEnd().length
      if (inside.trim() !== '') return { offset: end, before: newLine, after: '' }
      const closing = inside.includes('\n') ? '' : style.eol + indentAt(text, open)
      return { offset: open + 1, before: newLine, after: closing }
    }
    if (isOneLine) {
      const gap =
        /,(\s*)$/.exec(text.slice(0, last.offset))?.[1] ??
        (children.length > 1 || !text.slice(open, close).includes(' ') ? '' : ' ')
      return { offset: last.offset + last.length, before: `,${gap}`, after: '' }
    }
    const end = last.offset + last.length
    const rest = text.slice(end, close)
    const trailing = afterComments.exec(rest)
    if (trailing) {
      // After the comma and any comment on the line of the last one.
      const line = /^[ \t]*(?:(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)[ \t]*)?(?=\r?\n)/.exec(
        rest.slice(trailing[0].length),
      )
      return { offset: end + trailing[0].length + (line?.[0].length ?? 0), before: newLine, after: ',' }
    }
    const isPlain = /^[ \t]*(?:\r?\n|$)/.test(rest)
    const front = /^[ \t]*(?=\r?\n)/.exec(text.slice(open + 1))
    if (!isPlain && front) return { offset: open + 1 + front[0].length, before: newLine, after: ',' }
    return { offset: end, before: `,${newLine}`, after: '' }
  }
}

/** Gives an empty file its first value, after the existing white space. */
function firstText(
  text: string,
  { place, value, style }: { readonly place: JsonLocation; readonly value: Json; readonly style: JsonStyle },
): JsonEditResult {
  const whole = nestValue(place.keys, place.item ? [value] : value)
  const put = `${printJsonValue(whole, { ...style, indent: '', spread: place.keys.length })}${style.eol}`
  return {
    text: text + put,
    insertion: { put, core: [0, put.length], at: { keys: [], item: false } },
  }
}

/** Parses the new text: it must have all old values and the added one, else nothing is done. */
function checkEdit(text: string, format: JsonFormat, added: JsonInsertResult): JsonEditResult {
  const [before, after] = [readJson(text, format), readJson(added.text, format)]
  if ('refused' in after) return { refused: `the entry would not fit: ${after.refused}` }
  if ('refused' in before || before.root === null || after.root === null) return { refused: 'it is empty' }
  const [was, is] = [jsonOf(before.root), jsonOf(after.root)]
  const { at } = added.insertion
  const isAdded = [true, false].some((first) =>
    isDeepStrictEqual(is, withValue(was, { ...at, first }, added.value)),
  )
  if (!isAdded) return { refused: 'the entry would change something else in it' }
  return { text: added.text, insertion: added.insertion }
}

function withValue(
  whole: Json,
  { keys, item, first }: JsonLocation & { readonly first: boolean },
  value: Json,
): Json {
  const [key, ...rest] = keys
  if (key === undefined) {
    if (!item || !Array.isArray(whole)) return value
    return first ? [value, ...whole] : [...whole, value]
  }
  const held = isJsonObject(whole) ? whole : {}
  const inner = held[key]
  return {
    ...held,
    [key]: inner === undefined ? value : withValue(inner, { keys: rest, item, first }, value),
  }
}

function hasComment(text: string): boolean {
  const errors: ParseError[] = []
  parseTree(text.startsWith('"') && /^"(?:[^"\\]|\\.)*"\s*:/.test(text) ? `{${text}}` : text, errors, {
    disallowComments: true,
    allowTrailingComma: true,
  })
  return errors.length > 0
}

function textOf(text: string, node: Node): string {
  return text.slice(node.offset, node.offset + node.length)
}

function spliceText(text: string, offset: number, length: number, put: string): string {
  return text.slice(0, offset) + put + text.slice(offset + length)
}

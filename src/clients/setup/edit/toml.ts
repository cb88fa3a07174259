import { isDeepStrictEqual } from 'node:util'
import { parse, TomlError } from 'smol-toml'

export type TomlValue = string | number | boolean | readonly string[]

/** A table: its name and entries. */
export interface TomlTable {
  readonly name: readonly [string, string]
  readonly entries: readonly (readonly [key: string, value: TomlValue])[]
}

export type TomlEditResult =
  | { readonly text: string; readonly put: string; readonly instead: string }
  | { readonly refused: string }

/** The entries of a table; undefined if it is missing or the text is invalid. */
export function tomlTable(text: string, [first, second]: TomlTable['name']): unknown {
  const read = readToml(text)
  if ('refused' in read) return undefined
  const outer = read.value[first]
  return isTable(outer) ? outer[second] : undefined
}

/** The tables `[<first>.<name>]` of a text, by name. */
export function tomlTables(text: string, first: string): Readonly<Record<string, unknown>> {
  const read = readToml(text)
  const outer = 'refused' in read ? undefined : read.value[first]
  return isTable(outer) ? outer : {}
}

/** Why a text cannot be edited, or null. */
export function tomlFault(text: string): string | null {
  const read = readToml(text)
  return 'refused' in read ? read.refused : null
}

export function isTomlTable(found: unknown, { entries }: TomlTable): boolean {
  return isDeepStrictEqual(toPlainValue(found), Object.fromEntries(entries))
}

/** Appends a table after a blank line. */
export function appendTable(text: string, table: TomlTable): TomlEditResult {
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const end = text === '' || text.endsWith('\n') ? '' : eol
  const gap = text === '' || /\n\r?\n$/.test(text) ? '' : eol
  const put = end + gap + tableText(table, eol)
  return checkedTable(text, { text: text + put, put, instead: '' }, table)
}

/** Replaces a table that has its own header. */
export function replaceTable(text: string, table: TomlTable): TomlEditResult {
  const range = rangeOf(text, table.name)
  if (range === null) return { refused: `[${table.name.join('.')}] is written in another form there` }
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const [start, end] = range
  const instead = text.slice(start, end)
  const put = tableText(table, eol)
  return checkedTable(text, { text: text.slice(0, start) + put + text.slice(end), put, instead }, table)
}

/** The lines of a table. */
export function tableText({ name, entries }: TomlTable, eol = '\n'): string {
  const lines = entries.map(([key, value]) => `${key} = ${tomlText(value)}`)
  return [`[${name.join('.')}]`, ...lines, ''].join(eol)
}

/** The same as an inline table. */
export function inlineTable({ name, entries }: TomlTable): string {
  return `${name[1]} = { ${entries.map(([key, value]) => `${key} = ${tomlText(value)}`).join(', ')} }`
}

function tomlText(value: TomlValue): string {
  if (typeof value === 'object') return `[${value.map(tomlText).join(', ')}]`
  // TOML has JSON's escapes, and also requires one for the delete character.
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

/** The range from a header to the next one that is not nested in it. */
function rangeOf(text: string, name: readonly string[]): readonly [number, number] | null {
  const header = `\\[\\s*${name.map((part) => `(?:"${part}"|'${part}'|${part})`).join('\\s*\\.\\s*')}`
  const found = new RegExp(`^[ \\t]*${header}\\s*\\]`, 'm').exec(text)
  if (!found) return null
  const after = found.index + found[0].length
  const next = [...text.slice(after).matchAll(/^[ \t]*\[/gm)].find(
    ({ index }) => !new RegExp(`^[ \\t]*${header}\\s*\\.`).test(text.slice(after + index)),
  )
  return [found.index, next === undefined ? text.length : after + next.index]
}

function checkedTable(
  before: string,
  edited: { readonly text: string; readonly put: string; readonly instead: string },
  table: TomlTable,
): TomlEditResult {
  const [was, is] = [readToml(before), readToml(edited.text)]
  if ('refused' in was) return was
  const [first, second] = table.name
  if ('refused' in is)
    return { refused: `${first} is written there in a form to which no table can be added` }
  const outer = was.value[first]
  const expected = {
    ...was.value,
    [first]: { ...(isTable(outer) ? outer : {}), [second]: Object.fromEntries(table.entries) },
  }
  if (!isDeepStrictEqual(toPlainValue(is.value), toPlainValue(expected))) {
    return { refused: 'the entry would change something else in it' }
  }
  return edited
}

function readToml(
  text: string,
): { readonly value: Readonly<Record<string, unknown>> } | { readonly refused: string } {
  try {
    return { value: parse(text) }
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const says = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '')
    return { refused: `${says} at line ${error.line}, column ${error.column}` }
  }
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** In smol-toml tables have no prototype, and dates have their own class. */
function toPlainValue(value: unknown): unknown {
  if (value instanceof Date) return String(value)
  if (Array.isArray(value)) return value.map(toPlainValue)
  if (!isTable(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toPlainValue(entry)]))
}

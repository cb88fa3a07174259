import { messageOf } from '../domain/failure.ts'
import { deepestNesting, outlineOf } from '../domain/json-outline.ts'
import { excerpt } from '../domain/text.ts'

/** Reads the fields of one parsed object, and says what is wrong with them. A field that is null counts as absent. */
export interface FieldReader {
  /** `''` when it is missing, which is a problem. */
  text(name: string): string
  textOrNull(name: string): string | null
  /** A list, or a single text in place of a list of one. */
  texts(name: string): readonly string[]
  numberOrNull(name: string): number | null
  flag(name: string): boolean
  /** ISO 8601. */
  instantOrNull(name: string): number | null
  choice<T extends string>(name: string, choices: readonly T[], absent: T): T
  choiceOrNull<T extends string>(name: string, choices: readonly T[]): T | null
  records(name: string): readonly FieldReader[]
  /** Says that a field may be passed over. */
  ignore(name: string): void
  readonly place: string
  /** Fields that were not asked for, here and in the records read, except those whose value is null. */
  unread(): readonly UnreadField[]
}

export interface UnreadField {
  readonly place: string
  readonly name: string
}

export type JsonObject = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Problems are appended to the list given, as sentences that begin with the place. */
export function fieldReader(value: unknown, place: string, problems: string[]): FieldReader {
  const fields: JsonObject = isObject(value) ? value : {}
  if (!isObject(value)) problems.push(`${place}: expected an object, found ${shown(value)}.`)
  const asked = new Set<string>()
  const within: FieldReader[] = []
  const at = (name: string): unknown => {
    asked.add(name)
    return Object.hasOwn(fields, name) ? (fields[name] ?? null) : null
  }
  const refuse = (name: string, expected: string): null => {
    problems.push(`${place}.${name}: expected ${expected}, found ${shown(fields[name])}.`)
    return null
  }
  const textOrNull = (name: string): string | null => {
    const found = at(name)
    return found === null ? null : (textOf(found) ?? refuse(name, 'a text'))
  }
  const listOf = (name: string): readonly unknown[] => {
    const found = at(name)
    if (found === null) return []
    return Array.isArray(found) ? found : [found]
  }
  const choiceOrNull = <T extends string>(name: string, choices: readonly T[]): T | null => {
    const found = at(name)
    if (found === null) return null
    return choices.find((choice) => choice === found) ?? refuse(name, `one of ${choices.join(', ')}`)
  }
  return {
    place,
    textOrNull,
    choiceOrNull,
    ignore: (name) => void asked.add(name),
    text: (name) => {
      if (at(name) === null) problems.push(`${place}: "${name}" is missing.`)
      return textOrNull(name) ?? ''
    },
    texts: (name) => listOf(name).flatMap((item) => textOf(item) ?? refuse(name, 'a list of texts') ?? []),
    numberOrNull: (name) => {
      const found = at(name)
      return found === null || typeof found === 'number' ? found : refuse(name, 'a number')
    },
    flag: (name) => {
      const found = at(name)
      return (found === null || typeof found === 'boolean' ? found : refuse(name, 'true or false')) ?? false
    },
    instantOrNull: (name) => {
      const text = textOrNull(name)
      return text === null
        ? null
        : (instantOfText(text) ?? refuse(name, 'a time such as 2026-01-31T09:30:00Z'))
    },
    choice: (name, choices, absent) => choiceOrNull(name, choices) ?? absent,
    records: (name) => {
      const found = listOf(name).map((item, index) =>
        fieldReader(item, `${place}.${name}[${index}]`, problems),
      )
      within.push(...found)
      return found
    },
    unread: () => [
      ...Object.keys(fields)
        .filter((name) => !asked.has(name) && fields[name] !== null)
        .map((name) => ({ place, name })),
      ...within.flatMap((fields) => fields.unread()),
    ],
  }
}

function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : null
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return excerpt(text, 60)
}

/** One sentence for each field of another program that is not kept, with how often it stood there. */
export function unreadFields(readers: readonly FieldReader[]): readonly string[] {
  const found = Map.groupBy(
    readers.flatMap((fields) => fields.unread()),
    ({ name }) => name,
  )
  return [...found].map(([name, all]) => {
    const first = all[0]?.place ?? ''
    const more = all.length === 1 ? '' : ` and ${all.length - 1} more`
    return `${first}${more}: left out: the field "${name}", which Waymark does not keep.`
  })
}

export type ParsedJson =
  | { readonly readable: true; readonly value: unknown }
  | { readonly readable: false; readonly place: string; readonly problem: string }

/** Parses JSON; where it is broken, names the line if the engine tells, else the file. */
export function parsedJson(text: string): ParsedJson {
  if (outlineOf(text).tooDeep) {
    const problem = `this is nested too deep: more than ${deepestNesting} brackets stand within each other.`
    return { readable: false, place: 'file', problem }
  }
  try {
    return { readable: true, value: JSON.parse(text.replace(/^\ufeff/, '')) }
  } catch (error) {
    const message = messageOf(error)
    const position = /at position (\d+)/.exec(message)?.[1]
    const place =
      position === undefined ? 'file' : `line ${text.slice(0, Number(position)).split('\n').length}`
    return { readable: false, place, problem: `this is not JSON: ${message.replace(/\s+/g, ' ')}.` }
  }
}

export interface JsonLine {
  readonly place: string
  readonly value: unknown
}

/** The lines of a JSONL text that are not empty, and a problem for each that is not JSON. */
export function jsonLines(text: string): {
  readonly lines: readonly JsonLine[]
  readonly problems: string[]
} {
  const lines: JsonLine[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const place = `line ${index + 1}`
    const parsed = parsedJson(line)
    if (parsed.readable) lines.push({ place, value: parsed.value })
    else problems.push(`${place}: ${parsed.problem}`)
  }
  return { lines, problems }
}

const form = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)\s*(Z|[+-]\d{2}:?\d{2})?)?$/i

/** Milliseconds since the epoch of an ISO 8601 date or time, in UTC where it names no zone; null of any other text. */
export function instantOfText(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = form.exec(text.trim()) ?? []
  if (date === undefined) return null
  const at = Date.parse(`${date}T${time}${zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2').toUpperCase()}`)
  return Number.isNaN(at) ? null : at
}

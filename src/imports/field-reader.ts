import { instantOfText } from './instant-text.ts'

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
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

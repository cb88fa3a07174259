import { CompiledQuery } from 'kysely'
import { type KeptWrite, wordsOf } from '../record/session.ts'

// More of them take longer to send than a statement takes to begin, and each number of rows is a text of its own.
const fewParameters = 100

/**
 * The same as these writes one after the other, in fewer statements: those in a row of which none reads or changes what
 * one before it changes are one. Where `isWorthIt` says no to the text of one, they stay apart.
 */
export function joined(
  writes: readonly KeptWrite[],
  isWorthIt: (sql: string) => boolean,
): readonly CompiledQuery[] {
  return apart(writes).flatMap((group) => {
    if (group.length === 1) return group
    const sql = textOf(group.map((write) => write.sql))
    if (!isWorthIt(sql)) return group
    return [
      CompiledQuery.raw(
        sql,
        group.flatMap(({ parameters }) => parameters),
      ),
    ]
  })
}

/** In order, those together that may be one. */
function apart(writes: readonly KeptWrite[]): readonly CompiledQuery[][] {
  const groups: CompiledQuery[][] = []
  let changed: string[] = []
  for (const { query, table } of writes) {
    const canJoin = beginsPlainly.test(query.sql) && query.parameters.length <= fewParameters
    const joins = canJoin && changed.length > 0 && !namesAny(query, changed)
    if (!joins) {
      groups.push([])
      changed = []
    }
    groups.at(-1)?.push(query)
    if (canJoin) changed.push(table)
  }
  return groups
}

function namesAny({ sql }: CompiledQuery, tables: readonly string[]): boolean {
  const words = wordsOf(sql)
  return tables.some((table) => words.has(table))
}

// One that begins with tables of its own cannot be one of another's.
const beginsPlainly = /^\s*(?:insert|update|delete)\b/i

const mostTexts = 300
const texts = new Map<string, string>()

/** What the parts of a statement change is seen by none of them; the database checks all when they are done. */
function textOf(parts: readonly string[]): string {
  const key = parts.join('\n')
  const known = texts.get(key)
  if (known !== undefined) return known
  let before = 0
  const numbered = parts.map((part) => {
    let most = 0
    const text = part.replace(values, (word, number?: string) => {
      if (number === undefined) return word
      most = Math.max(most, Number(number))
      return `$${before + Number(number)}`
    })
    before += most
    return text
  })
  const last = numbered.at(-1) ?? ''
  const others = numbered.slice(0, -1).map((text, index) => `"w${index}" as (${text})`)
  const text = `with ${others.join(', ')} ${last}`
  if (texts.size >= mostTexts) texts.clear()
  texts.set(key, text)
  return text
}

/** A value's place, or a text or a name, in which a sign of such a place means nothing. */
const values = /'(?:[^']|'')*'|"[^"]*"|\$(\d+)/g

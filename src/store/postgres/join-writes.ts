import { CompiledQuery } from 'kysely'
import { assertExactNumber } from '../exact-number.ts'
import { type BufferedWrite, type JoinedQuery, wordsOf } from '../record/session.ts'

// More of them take longer to send than a statement takes to begin, and each number of rows is a text of its own.
const fewParameters = 100

// A list in JSON costs the server and the reader more than two or three answers by themselves.
const fewestQuestions = 6

/**
 * One question that answers all of these, each as a list in JSON. Null where they are better asked apart: one has many
 * values or holds rows for itself, there are few, or `isWorthIt` says no to the text of all.
 */
export function joinedQuestion(
  questions: readonly CompiledQuery[],
  isWorthIt: (sql: string) => boolean,
): JoinedQuery | null {
  if (questions.length < fewestQuestions || !questions.every(isPlainQuestion)) return null
  const parts = numberParameters(questions.map(({ sql }) => sql))
  const lists = parts.map((part, index) => `(select json_agg("q") from (${part}) as "q") as "q${index}"`)
  const sql = `select ${lists.join(', ')}`
  if (!isWorthIt(sql)) return null
  return {
    query: CompiledQuery.raw(
      sql,
      questions.flatMap(({ parameters }) => parameters),
    ),
    rowsOf: ({ rows: [row] }) => parts.map((_, index) => rowsIn(row?.[`q${index}`])),
  }
}

function isPlainQuestion({ sql, parameters }: CompiledQuery): boolean {
  return parameters.length <= fewParameters && /^\s*(?:select|with)\b/i.test(sql) && !holdsRows.test(sql)
}

const holdsRows = /\bfor\s+(?:no\s+key\s+)?(?:update|share)\b/i

/** As the driver answers the rows of a question: truth values as numbers, and no number that is not exact. */
function rowsIn(json: unknown): readonly unknown[] {
  if (typeof json !== 'string') return []
  return JSON.parse(json, (_, value: unknown) => {
    if (typeof value === 'boolean') return Number(value)
    return typeof value === 'number' ? assertExactNumber(value) : value
  }) as unknown[] // a list, as `json_agg` makes it
}

/**
 * The same as these writes one after the other, in fewer statements: those in a row of which none reads or changes what
 * one before it changes are one. Where `isWorthIt` says no to the text of one, they stay apart.
 */
export function joinWrites(
  writes: readonly BufferedWrite[],
  isWorthIt: (sql: string) => boolean,
): readonly CompiledQuery[] {
  return groupByTable(writes).flatMap((group) => {
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
function groupByTable(writes: readonly BufferedWrite[]): readonly CompiledQuery[][] {
  const groups: CompiledQuery[][] = []
  let changed: string[] = []
  for (const { query, table } of writes) {
    const canJoin = beginsPlainly.test(query.sql) && query.parameters.length <= fewParameters
    const joins = canJoin && changed.length > 0 && !hasAnyTable(query, changed)
    if (!joins) {
      groups.push([])
      changed = []
    }
    groups.at(-1)?.push(query)
    if (canJoin) changed.push(table)
  }
  return groups
}

function hasAnyTable({ sql }: CompiledQuery, tables: readonly string[]): boolean {
  const words = wordsOf(sql)
  return tables.some((table) => words.has(table))
}

// One that begins with tables of its own cannot be one of another's.
const beginsPlainly = /^\s*(?:insert|update|delete)\b/i

/** What the parts of a statement change is seen by none of them; the database checks all when they are done. */
function textOf(parts: readonly string[]): string {
  const texts = numberParameters(parts)
  const others = texts.slice(0, -1).map((text, index) => `"w${index}" as (${text})`)
  return `with ${others.join(', ')} ${texts.at(-1)}`
}

const mostKnown = 500
const known = new Map<string, readonly string[]>()

/** The same texts, with the places of their values counted on from one to the next. */
function numberParameters(parts: readonly string[]): readonly string[] {
  const key = parts.join('\n')
  const found = known.get(key)
  if (found !== undefined) return found
  let before = 0
  const texts = parts.map((part) => {
    let most = 0
    const text = part.replace(values, (word, number?: string) => {
      if (number === undefined) return word
      most = Math.max(most, Number(number))
      return `$${before + Number(number)}`
    })
    before += most
    return text
  })
  if (known.size >= mostKnown) known.clear()
  known.set(key, texts)
  return texts
}

/** A value's place, or a text or a name, in which a sign of such a place means nothing. */
const values = /'(?:[^']|'')*'|"[^"]*"|\$(\d+)/g

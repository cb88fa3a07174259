import { channel } from 'node:diagnostics_channel'
import {
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  type Dialect,
  DummyDriver,
  InsertQueryNode,
  Kysely,
  type QueryResult,
  SqliteIntrospector,
  SqliteQueryCompiler,
  UpdateQueryNode,
} from 'kysely'
import type { Tables } from '../tables/tables.ts'

/** What a record asked of its database while it held the project; told on the channel `waymark.record`. */
export interface TransactionStats {
  /** In the order in which they were sent. */
  readonly statements: readonly string[]
  /** How many times it waited for the database to answer. */
  readonly waits: number
  /** How many rows it was answered. */
  readonly rows: number
}

const told = channel('waymark.record')

/** A write that is kept for a while, and the table that it changes. */
export interface BufferedWrite {
  readonly query: CompiledQuery
  readonly table: string
}

/** A connection to a database that can do in one statement what others do in several. */
export interface JoiningConnection extends DatabaseConnection {
  /** Statements that do the same as these writes one after the other. */
  joined(writes: readonly BufferedWrite[]): readonly CompiledQuery[]
  /** One question that answers all of these; null where they are better asked apart. */
  joinedQuestion(questions: readonly CompiledQuery[]): JoinedQuery | null
}

export interface JoinedQuery {
  readonly query: CompiledQuery<Readonly<Record<string, unknown>>>
  /** The rows of each of the questions. */
  readonly rowsOf: (answer: QueryResult<Readonly<Record<string, unknown>>>) => readonly (readonly unknown[])[]
}

/**
 * Runs what is recorded on a connection that waits as little as possible: writes are kept until a table that they change
 * is read, or the end, and are then sent together; what was read of tables that have not changed is not asked again.
 */
export async function runInSession<Result>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  const { result, written } = await startInSession(db, work)
  await written
  return result
}

/** The same, where what is written last is sent and not waited for: `written` fails with the first that was refused. */
export function startInSession<Result>(
  db: Kysely<Tables>,
  work: (db: Kysely<Tables>) => Promise<Result>,
): Promise<{ readonly result: Result; readonly written: Promise<void> }> {
  const outer = db.getExecutor()
  return outer.provideConnection(async (connection) => {
    const session = new RecordSession(connection)
    const executor = outer.withConnectionProvider({ provideConnection: (consumer) => consumer(session) })
    const dialect: Dialect = { ...neverAsked, createAdapter: () => executor.adapter }
    const result = await work(
      new Kysely({ config: { dialect }, dialect, driver: new DummyDriver(), executor }),
    )
    const written = session.flush()
    written.catch(() => undefined) // by who waits for it
    if (told.hasSubscribers) told.publish(session.asked)
    return { result, written }
  })
}

/** In a session the rows that were written just now are the answer to a question: it is not asked. */
export async function cacheAnswer<Row>(
  db: Kysely<Tables>,
  question: CompiledQuery<Row>,
  rows: readonly Row[],
): Promise<void> {
  await db.getExecutor().provideConnection(async (connection) => {
    if (connection instanceof RecordSession) connection.makeKnown(question, rows)
  })
}

/** What Kysely wants of a dialect, and never uses where it is handed an executor. */
const neverAsked = {
  createDriver: () => new DummyDriver(),
  createIntrospector: (of: Kysely<unknown>) => new SqliteIntrospector(of),
  createQueryCompiler: () => new SqliteQueryCompiler(),
}

class RecordSession implements DatabaseConnection {
  readonly #connection: DatabaseConnection
  readonly #statements: string[] = []
  readonly #kept: BufferedWrite[] = []
  #keptValues = 0
  /** The tables that the kept writes change. */
  readonly #changing = new Set<string>()
  readonly #sent: Promise<unknown>[] = []
  /** Questions that wait for others of the same turn of the event loop. */
  #gathered: PendingQuery[] = []
  /** What was read and not written to since, by the words of the question and then by what it was asked of. */
  readonly #known = new Map<string, Map<string, Promise<QueryResult<unknown>>>>()
  #failure: { readonly error: unknown } | null = null
  #waits = 0
  #rows = 0
  /** Reads under way: what is asked together is waited for once. */
  #awaited = 0

  constructor(connection: DatabaseConnection) {
    this.#connection = connection
  }

  get asked(): TransactionStats {
    return { statements: this.#statements, waits: this.#waits, rows: this.#rows }
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (isAnswerless(query)) {
      const table = this.#forget(query)
      this.#changing.add(table)
      this.#kept.push({ query, table })
      this.#keptValues += query.parameters.length
      if (this.#kept.length >= mostKept || this.#keptValues >= mostKeptValues) this.#sendKept()
      return nothing
    }
    return (await this.#answer(query)) as QueryResult<Row> // the rows of this very question
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('queries of the store are bounded: nothing is streamed')
  }

  /** Sends what is kept, and waits until all of it is done. */
  async flush(): Promise<void> {
    this.#sendKept()
    if (this.#sent.length > 0) this.#waits += 1
    await Promise.all(this.#sent.splice(0))
    if (this.#failure) throw this.#failure.error
  }

  makeKnown(question: CompiledQuery, rows: readonly unknown[]): void {
    this.#know(question, Promise.resolve({ rows: [...rows] }))
  }

  #know({ sql, parameters }: CompiledQuery, answer: Promise<QueryResult<unknown>>): void {
    const answers = this.#known.get(sql) ?? new Map<string, Promise<QueryResult<unknown>>>()
    this.#known.set(sql, answers.set(JSON.stringify(parameters), answer))
  }

  async #answer(query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (!isQuestion(query)) {
      this.#forget(query)
      this.#sendKept()
      return this.#ask(query)
    }
    const known = this.#known.get(query.sql)?.get(JSON.stringify(query.parameters))
    const words = wordsOf(query.sql)
    if (!known && this.#changing.values().some((table) => words.has(table))) this.#sendKept()
    const answer = known ?? this.#ask(query)
    if (!known) this.#know(query, answer)
    const { rows, ...more } = await answer
    return { ...more, rows: [...rows] } // one who asked may change the list
  }

  /** Forgets what was read of the table that a write changes, and answers which that is. */
  #forget({ sql }: CompiledQuery): string {
    const table = /\b(?:insert\s+into|update|delete\s+from)\s+"?(\w+)/i.exec(sql)?.[1] ?? everyTable
    // By question and not by answer: a long import knows thousands of answers to each.
    for (const question of this.#known.keys()) if (wordsOf(question).has(table)) this.#known.delete(question)
    return table
  }

  async #ask(query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (this.#awaited === 0) this.#waits += 1
    this.#awaited += 1
    const answer = isJoining(this.#connection) && isQuestion(query) ? this.#gather(query) : this.#send(query)
    await answer.catch(() => undefined)
    await Promise.all(this.#sent.splice(0))
    this.#awaited -= 1
    // After one that failed, what comes next only says that something failed before it.
    if (this.#failure) throw this.#failure.error
    const answered = await answer
    this.#rows += answered.rows.length
    return answered
  }

  /** Asks together with what else is asked in this turn of the event loop. */
  #gather(query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (this.#gathered.length === 0) process.nextTick(() => this.#sendGathered())
    const { promise, resolve, reject } = Promise.withResolvers<QueryResult<unknown>>()
    this.#gathered.push({ query, resolve, reject })
    return promise
  }

  #sendGathered(): void {
    const gathered = this.#gathered
    this.#gathered = []
    const queries = gathered.map(({ query }) => query)
    const one = isJoining(this.#connection) ? this.#connection.joinedQuestion(queries) : null
    if (one === null) {
      for (const { query, resolve, reject } of gathered) this.#sendNow(query).then(resolve, reject)
      return
    }
    this.#sendNow(one.query)
      .then((answer) => one.rowsOf(answer))
      .then(
        (rows) => {
          for (const [index, { resolve }] of gathered.entries()) resolve({ rows: [...(rows[index] ?? [])] })
        },
        (error: unknown) => {
          for (const { reject } of gathered) reject(error)
        },
      )
  }

  #sendKept(): void {
    const kept = this.#kept.splice(0)
    this.#keptValues = 0
    const queries = isJoining(this.#connection)
      ? this.#connection.joined(kept)
      : kept.map(({ query }) => query)
    for (const query of queries) void this.#send(query)
    this.#changing.clear()
  }

  /** Behind what was asked before. */
  #send(query: CompiledQuery): Promise<QueryResult<unknown>> {
    this.#sendGathered()
    return this.#sendNow(query)
  }

  #sendNow<Row>(query: CompiledQuery<Row>): Promise<QueryResult<Row>> {
    this.#statements.push(query.sql)
    const answer = this.#connection.executeQuery<Row>(query)
    this.#sent.push(
      answer.catch((error: unknown) => {
        this.#failure ??= { error }
      }),
    )
    return answer
  }
}

interface PendingQuery {
  readonly query: CompiledQuery
  readonly resolve: (answer: QueryResult<unknown>) => void
  readonly reject: (error: unknown) => void
}

function isJoining(connection: DatabaseConnection): connection is JoiningConnection {
  return 'joined' in connection
}

// More than one call writes; SQLite runs all that is kept in one turn of the event loop.
const mostKept = 100
const mostKeptValues = 4_000

const nothing = { rows: [] }

/** A word of every question. */
const everyTable = 'select'

const mostWords = 2000
const words = new Map<string, ReadonlySet<string>>()

/** The words of a statement, among them every table that it reads or changes. */
export function wordsOf(sql: string): ReadonlySet<string> {
  const known = words.get(sql)
  if (known) return known
  if (words.size >= mostWords) words.clear()
  const found = new Set(sql.match(/\w+/g))
  words.set(sql, found)
  return found
}

/** A write whose rows nobody asks for. */
function isAnswerless({ query, sql }: CompiledQuery): boolean {
  if (InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query))
    return !query.returning
  return query.kind === 'RawNode' && writes.test(sql) && !/\breturning\b/i.test(sql)
}

const writes = /^\s*(?:insert|update|delete|with\b[\s\S]*\bupdate task\b)/i

function isQuestion({ query, sql }: CompiledQuery): boolean {
  return (
    query.kind === 'SelectQueryNode' ||
    (query.kind === 'RawNode' && !/\b(?:insert|update|delete)\b/i.test(sql))
  )
}

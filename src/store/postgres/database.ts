import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type BinaryOperationNode,
  type CompiledQuery,
  type DatabaseConnection,
  DeleteQueryNode,
  type Dialect,
  type Driver,
  InsertQueryNode,
  Kysely,
  OperatorNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  PrimitiveValueListNode,
  type QueryResult,
  type RawBuilder,
  sql,
  UpdateQueryNode,
} from 'kysely'
import { Pool, type PoolClient } from 'pg'
import { sha256, toStorable } from '../fingerprint.ts'
import { type SentStatement, statementChannel } from '../statement-channel.ts'
import type { Tables } from '../tables/tables.ts'
import { clientConfig, type PostgresLocation } from './database-url.ts'
import {
  CommitOutcomeUnknown,
  ConnectionUnavailable,
  errorReaction,
  isAboutStatements,
  isConnectionLost,
} from './errors.ts'

/** Timeouts in milliseconds. */
export interface PostgresTimes {
  /** For an unreachable database. */
  readonly awayMs: number
  /** For a lock; waited for three times. */
  readonly lockMs: number
  /** For an idle session in a transaction. */
  readonly idleMs: number
}

// All lock timeouts end before an idle session is ended: a waiter of a stopped process never gets the lock.
export const usualTimes: PostgresTimes = { awayMs: 10_000, lockMs: 3_300, idleMs: 5_000 }

const maxConflicts = 5
const maxLockWaits = 3

function timeoutSettings({ lockMs, idleMs }: PostgresTimes) {
  return Object.entries({
    lock_timeout: `${lockMs}ms`,
    statement_timeout: '15s',
    idle_in_transaction_session_timeout: `${idleMs}ms`,
  })
}

function beginStatements(times: PostgresTimes) {
  return {
    /** For transactions whose first lock uses `limited`. */
    record: 'begin',
    write: `begin; ${timeoutSettings(times)
      .map(([name, value]) => `set local ${name} = '${value}'`)
      .join('; ')}`,
    read: `begin isolation level repeatable read read only; set local statement_timeout = '15s'`,
    // Reading a whole record may take long, and blocks no one.
    inspect: 'begin isolation level repeatable read read only',
  } as const
}

export type PostgresAccessMode = keyof ReturnType<typeof beginStatements>

function isWriting(access: PostgresAccessMode): boolean {
  return access === 'record' || access === 'write'
}

/** A transaction's connection. Queries that are not awaited are sent together. */
export interface TransactionSession {
  readonly db: Kysely<Tables>
  /** Fails where the transaction could not begin; awaited before the first write. */
  readonly begun: Promise<unknown>
  /** Sends at once: later queries run after it. */
  readonly send: <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>
}

/** One database on a server, with this process's connections. */
export class PostgresDatabase {
  readonly place: PostgresLocation
  /** An always-true condition that sets the timeouts within the lock statement, which saves extra round trips. */
  readonly limited: RawBuilder<boolean>
  readonly #begin: ReturnType<typeof beginStatements>
  readonly #awayMs: number
  readonly #pool: Pool
  readonly #statements = new StatementNames()
  // Adapters cache reads: those of a rolled-back transaction must be dropped.
  #adapters: Readonly<Record<'write' | 'read', PostgresAdapter>> = newAdapters()
  readonly #connections = new WeakMap<PoolClient, PostgresConnection>()
  /** The first and last connection failure since the last answer, of `performance.now`. */
  #outage: { readonly first: number; readonly last: number } | null = null

  constructor(place: PostgresLocation, times: PostgresTimes = usualTimes) {
    this.place = place
    this.#begin = beginStatements(times)
    this.#awayMs = times.awayMs
    this.limited = sql.raw(
      `${timeoutSettings(times)
        .map(([name, value]) => `set_config('${name}', '${value}', true)`)
        .join(' || ')} is not null`,
    )
    this.#statements.areKept = place.prepares
    this.#pool = new Pool({
      ...clientConfig(place.url),
      pipeline: true,
      max: place.pool,
      connectionTimeoutMillis: times.awayMs,
      idleTimeoutMillis: 30_000,
    })
    // The pool drops an idle connection that ends; a query on a busy one fails by itself.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** All queries of `work` see one state, and nothing is written. */
  read<Answer>(
    work: (db: Kysely<Tables>) => Promise<Answer>,
    access: PostgresAccessMode = 'read',
  ): Promise<Answer> {
    return this.patiently(() => this.transaction(access, ({ db }) => work(db)))
  }

  /** Fails with CommitOutcomeUnknown if the commit may have succeeded. Never retries. */
  async transaction<Answer>(
    access: PostgresAccessMode,
    work: (session: TransactionSession) => Promise<Answer>,
  ): Promise<Answer> {
    const connection = await this.#connect()
    connection.begin(isWriting(access))
    const session: TransactionSession = {
      db: connection.db(access, this.#adapters),
      begun: connection.send(this.#begin[access]),
      send: (query) => connection.executeQuery(query),
    }
    session.begun.catch(() => undefined)
    try {
      const answer = await work(session)
      await session.begun
      if (isWriting(access)) await connection.commit()
      else connection.send('commit').catch(() => undefined)
      connection.release()
      this.#outage = null
      return answer
    } catch (error) {
      if (isAboutStatements(error)) this.#statements.areKept = false
      if (isWriting(access)) this.#adapters = { ...this.#adapters, write: new PostgresAdapter() }
      if (isConnectionLost(error)) connection.drop()
      else {
        connection.send('rollback').catch(() => undefined)
        connection.release()
      }
      throw error
    }
  }

  /** Retries after conflicts, lock timeouts and lost connections. After a lost commit, `settle` first checks whether it succeeded. */
  async patiently<Answer>(
    work: () => Promise<Answer>,
    settle?: () => Promise<Answer | null>,
  ): Promise<Answer> {
    let conflicts = 0
    let waits = 0
    let failures = 0
    let commitError: CommitOutcomeUnknown | null = null
    for (;;) {
      try {
        if (commitError && settle) {
          const settled = await settle()
          if (settled !== null) return settled
        }
        commitError = null
        return await work()
      } catch (error) {
        if (error instanceof CommitOutcomeUnknown) commitError = error
        const decision = errorReaction(error)
        // An unknown commit is reported, whatever failed last.
        if (decision === 'refused') throw commitError ?? error
        if (decision === 'locked') {
          waits += 1
          if (waits === maxLockWaits) throw commitError ?? error
          continue
        }
        if (decision === 'again') {
          conflicts += 1
          if (conflicts > maxConflicts) throw commitError ?? error
          await sleep(Math.random() * 10 * 2 ** conflicts)
          continue
        }
        if (this.#isUnreachable()) throw commitError ?? error
        failures += 1
        await sleep(Math.random() * Math.min(200, 10 * 2 ** failures))
      }
    }
  }

  /** Whether the database was unreachable for longer than `awayMs`: then each call tries only once. */
  #isUnreachable(): boolean {
    const now = performance.now()
    if (this.#outage === null || now - this.#outage.last > this.#awayMs)
      this.#outage = { first: now, last: now }
    else this.#outage = { ...this.#outage, last: now }
    return now - this.#outage.first > this.#awayMs
  }

  /** Statements outside a transaction, such as `notify`. */
  async ask(statement: string): Promise<void> {
    const connection = await this.#connect()
    try {
      await connection.send(statement)
      connection.release()
    } catch (error) {
      connection.drop()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#pool.end()
  }

  async #connect(): Promise<PostgresConnection> {
    let client: PoolClient
    try {
      client = await this.#pool.connect()
    } catch (error) {
      throw new ConnectionUnavailable(error)
    }
    const existing = this.#connections.get(client)
    if (existing) return existing
    const connection = new PostgresConnection(client, this.#statements)
    this.#connections.set(client, connection)
    return connection
  }
}

function newAdapters(): Readonly<Record<'write' | 'read', PostgresAdapter>> {
  return { write: new PostgresAdapter(), read: new PostgresAdapter() }
}

const maxNames = 300
// An import writes many thousand rows in one transaction.
const maxUnanswered = 200

/** The names of prepared statements. A statement gets one at its second use. */
class StatementNames {
  areKept = true
  readonly #seen = new Set<string>()
  readonly #names = new Map<string, string>()

  nameOf(sql: string): string | undefined {
    // Texts with several statements cannot be prepared.
    if (!this.areKept || sql.includes(';')) return undefined
    const existing = this.#names.get(sql)
    if (existing !== undefined || this.#names.size >= maxNames) return existing
    if (!this.#seen.has(sql)) {
      if (this.#seen.size > 10 * maxNames) this.#seen.clear()
      this.#seen.add(sql)
      return undefined
    }
    this.#seen.delete(sql)
    const name = `w${sha256(sql).slice(0, 24)}`
    this.#names.set(sql, name)
    return name
  }
}

/** Queries one connection without waiting for earlier answers: the server answers in order. */
class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #statements: StatementNames
  /** Whether its transaction may lock a project. */
  #isWriting = false
  /** Writes that were sent and not awaited. */
  #unanswered: Promise<unknown>[] = []
  #isCorked = false
  #kysely: { readonly adapter: PostgresAdapter; readonly db: Kysely<Tables> } | null = null

  constructor(client: PoolClient, statements: StatementNames) {
    this.#client = client
    this.#statements = statements
  }

  db(
    access: PostgresAccessMode,
    adapters: Readonly<Record<'write' | 'read', PostgresAdapter>>,
  ): Kysely<Tables> {
    const adapter = isWriting(access) ? adapters.write : adapters.read
    if (this.#kysely?.adapter !== adapter) this.#kysely = { adapter, db: databaseOver(this, adapter) }
    return this.#kysely.db
  }

  begin(isWriting: boolean): void {
    this.#isWriting = isWriting
    this.#unanswered = []
  }

  /** A write without returned rows is not awaited: the next query or the commit throws its failure. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const answer = this.#query<Row>(query)
    if (this.#isWriting && isWriteWithoutRows(query)) {
      answer.catch(() => undefined)
      this.#unanswered.push(answer)
      if (this.#unanswered.length >= maxUnanswered) await Promise.all(this.#unanswered.splice(0))
      return { rows: [] }
    }
    try {
      return await answer
    } catch (error) {
      // After a failed write, later errors only say that the transaction is aborted.
      throw (await this.#failureOfWrites()) ?? error
    }
  }

  async #failureOfWrites(): Promise<unknown> {
    for (const settled of await Promise.allSettled(this.#unanswered))
      if (settled.status === 'rejected') return settled.reason
    return null
  }

  async #query<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = this.#statements.nameOf(sql)
    const values = parameters.map(toStorable)
    this.#corkPackets()
    const result = await this.#client.query(
      name === undefined ? { text: sql, values } : { name, text: sql, values },
    )
    const rows = result.rows as Row[] // a driver's rows
    if (statementChannel.hasSubscribers)
      statementChannel.publish({
        sql,
        values,
        isHeld: this.#isWriting,
        rows: result.rowCount ?? 0,
      } satisfies SentStatement)
    return result.command === 'SELECT' ? { rows } : { rows, numAffectedRows: BigInt(result.rowCount ?? 0) }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('queries of the store are bounded: nothing is streamed')
  }

  /** Sends all queries of one event-loop turn in one packet, which is cheaper than separate packets. */
  #corkPackets(): void {
    const { stream } = (this.#client as unknown as { readonly connection: { readonly stream: Duplex } })
      .connection // internal to the driver, absent from its types
    if (this.#isCorked) return
    this.#isCorked = true
    stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      stream.uncork()
    })
  }

  send(statements: string): Promise<unknown> {
    this.#corkPackets()
    return this.#client.query(statements)
  }

  /** Waits for all pending writes. After a lost connection the outcome is unknown. */
  async commit(): Promise<void> {
    this.#corkPackets()
    const [ended, ...before] = await Promise.allSettled([
      this.#client.query('commit'),
      ...this.#unanswered.splice(0),
    ])
    const refused = [...before, ended].find(({ status }) => status === 'rejected')
    if (refused?.status === 'rejected') {
      const { reason } = refused
      throw isConnectionLost(reason) ? new CommitOutcomeUnknown('lost at commit', { cause: reason }) : reason
    }
    const command = ended.status === 'fulfilled' ? ended.value.command : 'nothing'
    if (command !== 'COMMIT') throw new Error(`the transaction ended with ${command}`)
  }

  release(): void {
    this.#client.release()
  }

  drop(): void {
    this.#client.release(true)
  }
}

function isWriteWithoutRows({ query }: CompiledQuery): boolean {
  const isWrite = InsertQueryNode.is(query) || UpdateQueryNode.is(query) || DeleteQueryNode.is(query)
  return isWrite && query.returning === undefined
}

/** SQLite accepts an empty list in a comparison, PostgreSQL does not. */
class EmptyListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node
    const isEmpty = PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length === 0
    if (isEmpty && OperatorNode.is(operator)) this.append(operator.operator === 'not in' ? 'true' : 'false')
    else super.visitBinaryOperation(node)
  }
}

/** Kysely over one connection; its own transactions would wait for each answer. */
function databaseOver(connection: PostgresConnection, adapter: PostgresAdapter): Kysely<Tables> {
  const nothing = async (): Promise<void> => undefined
  const driver: Driver = {
    init: nothing,
    acquireConnection: async () => connection,
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: nothing,
    destroy: nothing,
  }
  const dialect: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => new EmptyListCompiler(),
    createAdapter: () => adapter,
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
  return new Kysely<Tables>({ dialect })
}

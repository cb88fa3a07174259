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

/** How long is waited, in milliseconds. */
export interface PostgresTimes {
  /** For a database that cannot be reached. */
  readonly awayMs: number
  /** For a lock, three times. */
  readonly lockMs: number
  /** For a session that stands still in a transaction. */
  readonly idleMs: number
}

// Each time for a lock ends before a session that stands still in a transaction is ended: whoever waits in a process that
// was stopped is gone before the lock would be theirs.
export const usualTimes: PostgresTimes = { awayMs: 10_000, lockMs: 3_300, idleMs: 5_000 }

const maxConflicts = 5
const maxWaits = 3

function limitsOf({ lockMs, idleMs }: PostgresTimes) {
  return Object.entries({
    lock_timeout: `${lockMs}ms`,
    statement_timeout: '15s',
    idle_in_transaction_session_timeout: `${idleMs}ms`,
  })
}

function beginningsOf(times: PostgresTimes) {
  return {
    /** For what begins with a lock that is `limited`. */
    record: 'begin',
    write: `begin; ${limitsOf(times)
      .map(([name, value]) => `set local ${name} = '${value}'`)
      .join('; ')}`,
    read: `begin isolation level repeatable read read only; set local statement_timeout = '15s'`,
    // A whole record may take long to read, and holds nobody up.
    inspect: 'begin isolation level repeatable read read only',
  } as const
}

export type PostgresAccessMode = keyof ReturnType<typeof beginningsOf>

function isWriting(access: PostgresAccessMode): boolean {
  return access === 'record' || access === 'write'
}

/** A transaction's connection. What is asked without waiting for the answer before goes out together. */
export interface TransactionSession {
  readonly db: Kysely<Tables>
  /** Fails where the transaction could not be begun; awaited before anything is written. */
  readonly begun: Promise<unknown>
  /** Sends at once: whatever is asked later is asked after it. */
  readonly send: <Row>(query: CompiledQuery<Row>) => Promise<QueryResult<Row>>
}

/** One database on a server, with the connections of this process to it. */
export class PostgresDatabase {
  readonly place: PostgresLocation
  /**
   * A condition that holds, and limits how long a transaction waits and stands still: in the statement that takes a lock it
   * costs next to nothing, where statements of their own cost a tenth of a short record. A row is locked after its conditions.
   */
  readonly limited: RawBuilder<boolean>
  readonly #begin: ReturnType<typeof beginningsOf>
  readonly #awayMs: number
  readonly #pool: Pool
  readonly #statements = new StatementNames()
  // Answers that are remembered by an adapter: what a transaction that was not committed had read must be forgotten.
  #adapters: Readonly<Record<'write' | 'read', PostgresAdapter>> = newAdapters()
  readonly #connections = new WeakMap<PoolClient, PostgresConnection>()
  /** The first and the last failure of a connection since something was answered, of `performance.now`. */
  #away: { readonly first: number; readonly last: number } | null = null

  constructor(place: PostgresLocation, times: PostgresTimes = usualTimes) {
    this.place = place
    this.#begin = beginningsOf(times)
    this.#awayMs = times.awayMs
    this.limited = sql.raw(
      `${limitsOf(times)
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
    // The pool drops a connection that ends while nobody uses it; one in use tells whoever asks it.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  /** All that `work` asks sees one state, and nothing of it is written. */
  read<Answer>(
    work: (db: Kysely<Tables>) => Promise<Answer>,
    access: PostgresAccessMode = 'read',
  ): Promise<Answer> {
    return this.patiently(() => this.transaction(access, ({ db }) => work(db)))
  }

  /** Fails with CommitLost where it is not known whether it was committed. Nothing is repeated. */
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
      this.#away = null
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

  /**
   * Repeats what the database refused because of others' writes, at most five times, and what failed with its
   * connection while the database is away for less than `awayMs`. A lock is waited for as long. `settle` is asked before a repetition
   * whether what was lost at its commit was committed after all.
   */
  async patiently<Answer>(
    work: () => Promise<Answer>,
    settle?: () => Promise<Answer | null>,
  ): Promise<Answer> {
    let conflicts = 0
    let waits = 0
    let failures = 0
    let lost: CommitOutcomeUnknown | null = null
    for (;;) {
      try {
        if (lost && settle) {
          const settled = await settle()
          if (settled !== null) return settled
        }
        lost = null
        return await work()
      } catch (error) {
        if (error instanceof CommitOutcomeUnknown) lost = error
        const verdict = errorReaction(error)
        // What is not known is said, whatever failed last.
        if (verdict === 'refused') throw lost ?? error
        if (verdict === 'locked') {
          waits += 1
          if (waits === maxWaits) throw lost ?? error
          continue
        }
        if (verdict === 'again') {
          conflicts += 1
          if (conflicts > maxConflicts) throw lost ?? error
          await sleep(Math.random() * 10 * 2 ** conflicts)
          continue
        }
        if (this.#isAway()) throw lost ?? error
        failures += 1
        await sleep(Math.random() * Math.min(200, 10 * 2 ** failures))
      }
    }
  }

  /**
   * Whether the database has answered nobody for longer than is waited. Who asks then tries once, so that those in a
   * queue do not wait one after the other.
   */
  #isAway(): boolean {
    const now = performance.now()
    if (this.#away === null || now - this.#away.last > this.#awayMs) this.#away = { first: now, last: now }
    else this.#away = { ...this.#away, last: now }
    return now - this.#away.first > this.#awayMs
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
    const known = this.#connections.get(client)
    if (known) return known
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

/** Which statements are sent under a name. One that is asked once is not worth it. */
class StatementNames {
  areKept = true
  readonly #seen = new Set<string>()
  readonly #names = new Map<string, string>()

  nameOf(sql: string): string | undefined {
    // Several statements in one text have no name.
    if (!this.areKept || sql.includes(';')) return undefined
    const known = this.#names.get(sql)
    if (known !== undefined || this.#names.size >= maxNames) return known
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

/** Asks one connection, without waiting for its turn: the server answers in the order of asking. */
class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient
  readonly #statements: StatementNames
  /** Whether its transaction may hold a project. */
  #isWriting = false
  /** Writes that were sent and not waited for. */
  #unanswered: Promise<unknown>[] = []
  #isHeld = false
  #asked: { readonly adapter: PostgresAdapter; readonly db: Kysely<Tables> } | null = null

  constructor(client: PoolClient, statements: StatementNames) {
    this.#client = client
    this.#statements = statements
  }

  db(
    access: PostgresAccessMode,
    adapters: Readonly<Record<'write' | 'read', PostgresAdapter>>,
  ): Kysely<Tables> {
    const adapter = isWriting(access) ? adapters.write : adapters.read
    if (this.#asked?.adapter !== adapter) this.#asked = { adapter, db: databaseOver(this, adapter) }
    return this.#asked.db
  }

  begin(isWriting: boolean): void {
    this.#isWriting = isWriting
    this.#unanswered = []
  }

  /** A write whose rows nobody asks for is not waited for: its failure is thrown by the next question or the commit. */
  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const answer = this.#ask<Row>(query)
    if (this.#isWriting && isWriteWithoutRows(query)) {
      answer.catch(() => undefined)
      this.#unanswered.push(answer)
      if (this.#unanswered.length >= maxUnanswered) await Promise.all(this.#unanswered.splice(0))
      return { rows: [] }
    }
    try {
      return await answer
    } catch (error) {
      // After one that failed, the database only says that something failed before.
      throw (await this.#failureOfWrites()) ?? error
    }
  }

  async #failureOfWrites(): Promise<unknown> {
    for (const settled of await Promise.allSettled(this.#unanswered))
      if (settled.status === 'rejected') return settled.reason
    return null
  }

  async #ask<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const name = this.#statements.nameOf(sql)
    const values = parameters.map(toStorable)
    this.#together()
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

  /** What is asked before this turn of the event loop ends goes out in one packet: sending costs more than asking. */
  #together(): void {
    const { stream } = (this.#client as unknown as { readonly connection: { readonly stream: Duplex } })
      .connection // the driver's own, which its types leave out
    if (this.#isHeld) return
    this.#isHeld = true
    stream.cork()
    process.nextTick(() => {
      this.#isHeld = false
      stream.uncork()
    })
  }

  send(statements: string): Promise<unknown> {
    this.#together()
    return this.#client.query(statements)
  }

  /** Behind what is not answered yet. What the database refused of that was not committed; of what was lost nobody knows. */
  async commit(): Promise<void> {
    this.#together()
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

/** SQLite takes a comparison with no values at all, which PostgreSQL cannot read. */
class EmptyListCompiler extends PostgresQueryCompiler {
  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    const { operator, rightOperand } = node
    const isEmpty = PrimitiveValueListNode.is(rightOperand) && rightOperand.values.length === 0
    if (isEmpty && OperatorNode.is(operator)) this.append(operator.operator === 'not in' ? 'true' : 'false')
    else super.visitBinaryOperation(node)
  }
}

/** Kysely over one connection; it would wait for each answer if it took connections or began transactions itself. */
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

import type { Database, Statement } from 'better-sqlite3'
import {
  type BinaryOperationNode,
  ColumnNode,
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type LimitNode,
  type OperationNode,
  OperatorNode,
  PrimitiveValueListNode,
  type QueryResult,
  type RawNode,
  ReferenceNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  ValueListNode,
  ValueNode,
} from 'kysely'
import { assertExactNumber } from '../exact-number.ts'
import { toStorable } from '../fingerprint.ts'
import { type SentStatement, statementChannel } from '../statement-channel.ts'
import type { Tables } from '../tables/tables.ts'
import { AsyncLimiter, processUptimeMs, retryWhileLocked } from './lock-retry.ts'

/** A raw connection to SQLite, and the same for Kysely. */
export interface OpenConnection {
  readonly raw: Database
  readonly db: Kysely<Tables>
  /** Closes it as soon as it is idle. */
  retire(): void
}

export function connectDriver(raw: Database, access: SqliteAccessMode): OpenConnection {
  const driver = new SqliteDriver(raw, access)
  const dialect: Dialect = {
    createDriver: () => driver,
    createQueryCompiler: () => new SteadyQueryCompiler(),
    createAdapter: () => new TurnTakingAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
  }
  return { raw, db: new Kysely<Tables>({ dialect }), retire: () => driver.retire() }
}

/** The driver serializes transactions instead of Kysely: it knows waiting times and retired connections. */
class TurnTakingAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
}

/** Columns with few values, some of which have an index of their own. */
const writtenOut: ReadonlySet<string> = new Set(['project_id', 'kind', 'status', 'readiness'])

/** Keeps SQLite from re-preparing a statement for each new value: limits and values of a few columns are inlined, others hidden behind a plus. */
class SteadyQueryCompiler extends SqliteQueryCompiler {
  #placeholder = '?'

  protected override getCurrentParameterPlaceholder(): string {
    return this.#placeholder
  }

  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit ')
    this.visitNode(inlineValues(limit))
  }

  protected override visitBinaryOperation(node: BinaryOperationNode): void {
    if (!isSteady(node)) {
      super.visitBinaryOperation(node)
      return
    }
    const { leftOperand, rightOperand } = node
    const right = writtenOut.has(columnOf(leftOperand) ?? '') ? inlineValues(rightOperand) : rightOperand
    this.#hiding(() => super.visitBinaryOperation({ ...node, rightOperand: right }))
  }

  protected override visitRaw({ sqlFragments, parameters }: RawNode): void {
    for (const [index, fragment] of sqlFragments.entries()) {
      this.append(fragment)
      const value = parameters[index]
      if (value === undefined) return
      if (/\blimit\s*$/i.test(fragment)) this.visitNode(inlineValues(value))
      else if (!ValueNode.is(value) || /\b(like|glob)\s*$/i.test(fragment)) this.visitNode(value)
      else this.#hiding(() => this.visitNode(value))
    }
  }

  #hiding(work: () => void): void {
    this.#placeholder = '+?'
    work()
    this.#placeholder = '?'
  }
}

const comparisons: ReadonlySet<string> = new Set(['=', '<>', '!=', '<', '<=', '>', '>=', 'in', 'not in'])

/** A comparison with given values. Other operators, such as `like`, choose an index by the value itself. */
function isSteady({ leftOperand, operator, rightOperand }: BinaryOperationNode): boolean {
  if (columnOf(leftOperand) === null) return false
  if (!OperatorNode.is(operator) || !comparisons.has(operator.operator)) return false
  return ValueNode.is(rightOperand) || PrimitiveValueListNode.is(rightOperand)
}

function columnOf(node: OperationNode): string | null {
  return ReferenceNode.is(node) && ColumnNode.is(node.column) ? node.column.column.name : null
}

function inlineValues(node: OperationNode): OperationNode {
  if (ValueNode.is(node) && isPlain(node.value)) return ValueNode.createImmediate(node.value)
  if (!PrimitiveValueListNode.is(node) || !node.values.every(isPlain)) return node
  return ValueListNode.create(node.values.map((value) => ValueNode.createImmediate(value)))
}

function isPlain(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^[\w-]*$/.test(value))
}

/** The statements that begin a transaction. The second of a reader fixes its snapshot. */
const begin = {
  write: ['begin immediate'],
  read: ['begin', 'select 1 from sqlite_schema limit 1'],
} as const

export type SqliteAccessMode = keyof typeof begin

/** The connection was retired before its transaction began: use a new one. */
export class ConnectionRetired extends Error {}

/** One connection, used by one transaction at a time. */
class SqliteDriver implements Driver {
  readonly #database: Database
  readonly #access: SqliteAccessMode
  readonly #connection: SqliteConnection
  readonly #turns = new AsyncLimiter()
  #isRetired = false
  #endTurn: (() => void) | null = null
  #requestedAt = 0

  constructor(database: Database, access: SqliteAccessMode) {
    this.#database = database
    this.#access = access
    this.#connection = new SqliteConnection(database, access === 'write')
  }

  /** Closes the connection as soon as it is idle. */
  retire(): void {
    this.#isRetired = true
    if (this.#endTurn === null) this.#database.close()
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const requestedAt = processUptimeMs()
    const endTurn = await this.#turns.take()
    if (this.#isRetired) {
      endTurn()
      throw new ConnectionRetired('the connection was retired')
    }
    this.#endTurn = endTurn
    this.#requestedAt = requestedAt
    return this.#connection
  }

  async beginTransaction(): Promise<void> {
    await retryWhileLocked(() => {
      if (this.#database.inTransaction) this.#database.exec('rollback')
      for (const statement of begin[this.#access]) this.#connection.run(statement)
    }, this.#requestedAt)
  }

  async commitTransaction(): Promise<void> {
    await retryWhileLocked(() => this.#connection.run('commit'))
  }

  async rollbackTransaction(): Promise<void> {
    // SQLite itself rolls back after a full disk or an I/O error.
    if (this.#database.inTransaction) this.#database.exec('rollback')
  }

  async releaseConnection(): Promise<void> {
    const endTurn = this.#endTurn
    this.#endTurn = null
    if (this.#isRetired) this.#database.close()
    endTurn?.()
  }

  async destroy(): Promise<void> {
    this.retire()
  }
}

const maxStatements = 300

interface PreparedStatement {
  readonly statement: Statement
  /** Computed columns: SQLite integers may exceed JavaScript's safe range. */
  readonly computed: readonly string[]
}

/** Runs queries on one SQLite connection and keeps their prepared statements. */
class SqliteConnection implements DatabaseConnection {
  readonly #database: Database
  readonly #isWriting: boolean
  readonly #statements = new Map<string, PreparedStatement>()

  constructor(database: Database, isWriting: boolean) {
    this.#database = database
    this.#isWriting = isWriting
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    const result = this.#execute<Row>(query)
    if (statementChannel.hasSubscribers)
      statementChannel.publish({
        sql: query.sql,
        values: query.parameters,
        isHeld: this.#isWriting,
        rows: result.rows.length,
      } satisfies SentStatement)
    return result
  }

  #execute<Row>({ sql, parameters }: CompiledQuery): QueryResult<Row> {
    const { statement, computed } = this.#prepare(sql)
    const values = parameters.map(toStorable)
    if (statement.reader) {
      const rows = statement.all(...values) as Record<string, unknown>[] // a driver's rows
      if (computed.length > 0) assertExactColumns(rows, computed)
      return { rows: rows as Row[] }
    }
    const { changes } = statement.run(...values)
    return { rows: [], numAffectedRows: BigInt(changes) }
  }

  /** Runs a statement without parameters and ignores its rows. */
  run(sql: string): void {
    const { statement } = this.#prepare(sql)
    if (statement.reader) statement.get()
    else statement.run()
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new Error('queries of the store are bounded: nothing is streamed')
  }

  #prepare(sql: string): PreparedStatement {
    const cached = this.#statements.get(sql)
    if (cached) return cached
    const statement = this.#database.prepare(sql)
    const columns = statement.reader ? statement.columns() : []
    const computed = columns.flatMap(({ name, column }) => (column === null ? [name] : []))
    const prepared = { statement, computed }
    const [oldest] = this.#statements.keys()
    if (this.#statements.size >= maxStatements && oldest !== undefined) this.#statements.delete(oldest)
    this.#statements.set(sql, prepared)
    return prepared
  }
}

function assertExactColumns(
  rows: readonly Readonly<Record<string, unknown>>[],
  columns: readonly string[],
): void {
  for (const row of rows) {
    for (const column of columns) {
      const value = row[column]
      if (typeof value === 'number') assertExactNumber(value)
    }
  }
}

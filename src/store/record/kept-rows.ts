import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { type Kysely, sql } from 'kysely'
import { Failure } from '../../kernel/failure.ts'
import { bytesOfColumn } from '../../remote/tables/machine.ts'
import { keptTables, type SideRow, type SideTable, type SideValue } from '../ports/record-rows.ts'
import type { Tables } from '../tables/tables.ts'
import { withoutClaimTokens } from './idempotency.ts'

/** Tables that belong to a project beside its log, with their keys; a replay does not create them. */
const keys = {
  idempotency_key: ['owner', 'run_id', 'key'],
  attempt_diff: ['attempt_id'],
  notice: ['id'],
  notice_cursor: ['project_id'],
  command_output: ['command_id'],
  review_draft: ['id'],
  review_viewed: ['owner_id', 'subject', 'place'],
  review_inspected: ['owner_id'],
  attempt_files: ['attempt_id'],
  file_content: ['id'],
} as const satisfies Record<SideTable, readonly string[]>

interface SideRowsRequest {
  readonly projectId: string
  readonly after: SideRow | null
  readonly limit: number
}

/** The next rows, table by table in key order. */
export async function keptRowsIn(db: Kysely<Tables>, request: SideRowsRequest): Promise<readonly SideRow[]> {
  const { after, limit } = request
  const tables = keptTables.slice(after === null ? 0 : keptTables.indexOf(after.table))
  const found: SideRow[] = []
  for (const table of tables) {
    const from = after?.table === table ? after : null
    found.push(...(await rowsOf(db, table, { ...request, after: from, limit: limit - found.length })))
    if (found.length >= limit) break
  }
  return found
}

async function rowsOf(
  db: Kysely<Tables>,
  table: SideTable,
  { projectId, after, limit }: SideRowsRequest,
): Promise<readonly SideRow[]> {
  const key = sql.join(keys[table].map((name) => sql.ref(name)))
  const afterCondition = after
    ? sql`and (${key}) > (${sql.join(keys[table].map((name) => sql`${after.values[name]}`))})`
    : sql``
  const { rows } = await sql<Record<string, unknown>>`
    select * from ${sql.table(table)} where project_id = ${projectId} ${afterCondition} order by ${key} limit ${sql.lit(limit)}`.execute(
    db,
  )
  return rows.map((row) => ({
    table,
    values: Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name, keptValueOf(exportedValue(table, name, value))]),
    ),
  }))
}

function exportedValue(table: SideTable, name: string, value: unknown): unknown {
  return table === 'idempotency_key' && name === 'answer' && typeof value === 'string'
    ? withoutClaimTokens(value)
    : value
}

/** Bytes are a buffer in SQLite, and hexadecimal text in PostgreSQL. */
function keptValueOf(value: unknown): SideValue {
  if (value === null || typeof value === 'number') return value
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  if (typeof value !== 'string') throw new Error(`a column of what is kept holds ${typeof value}`)
  const text = value
  return /^\\x(?:[0-9a-f]{2})*$/.test(text) ? { base64: bytesOfColumn(text).toString('base64') } : text
}

/** Inserts missing rows unchanged. Fails for content that does not match its hash. */
export async function keepRows(
  db: Kysely<Tables>,
  projectId: string,
  rows: AsyncIterable<SideRow>,
): Promise<void> {
  for await (const { table, values } of rows) {
    if (table === 'attempt_diff' || table === 'command_output') assertContentIntact(values)
    const own = { ...values, project_id: projectId }
    const names = Object.keys(own)
    const written = Object.values(own).map((value) =>
      isBytes(value) ? Buffer.from(value.base64, 'base64') : value,
    )
    await sql`insert into ${sql.table(table)} (${sql.join(names.map((name) => sql.ref(name)))})
      values (${sql.join(written.map((value) => sql`${value}`))}) on conflict do nothing`.execute(db)
  }
}

function isBytes(value: SideValue): value is { readonly base64: string } {
  return typeof value === 'object' && value !== null
}

function assertContentIntact({ attempt_id, command_id, sha256, content = null }: SideRow['values']): void {
  const bytes = isBytes(content) ? Buffer.from(content.base64, 'base64') : null
  // Expired content was removed.
  if (bytes?.length === 0) return
  if (bytes && createHash('sha256').update(unzipContent(bytes)).digest('hex') === sha256) return
  throw new Failure(
    'INVALID_INPUT',
    attempt_id === undefined
      ? `The output of command ${JSON.stringify(command_id)} does not match its hash.`
      : `The stored changes of attempt ${JSON.stringify(attempt_id)} do not match their hash.`,
    {
      reason: 'content_changed',
      hint: 'They were damaged at the source or in transfer. Try again; `waymark prune` removes old ones.',
    },
  )
}

function unzipContent(content: Uint8Array): Uint8Array {
  try {
    return gunzipSync(content)
  } catch {
    return content
  }
}

/** Before a record is continued by another one, which may have removed some rows. */
export async function deleteKeptRows(db: Kysely<Tables>, projectId: string): Promise<void> {
  for (const table of keptTables) await db.deleteFrom(table).where('project_id', '=', projectId).execute()
}

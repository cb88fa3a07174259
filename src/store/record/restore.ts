import type { Kysely } from 'kysely'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { beforeFirst, eventRows } from '../../events/log/event-log.ts'
import type { Actor } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { ProjectId } from '../../kernel/id.ts'
import { makeHeights } from '../../plan/tables/dependency.ts'
import { projectState } from '../../project/tables/project-end.ts'
import { releaseName } from '../../project/tables/project-name.ts'
import type { LogHead, LogSource } from '../ports/record-rows.ts'
import type { LogRestoreOptions, LogRestoreResult } from '../ports/store.ts'
import { createYielder } from '../sqlite/lock-retry.ts'
import { projectEventIntoTables } from '../tables/projections.ts'
import { insertRows } from '../tables/query.ts'
import type { ReadScope, Tables } from '../tables/tables.ts'
import { copyWhole } from './copy-database.ts'
import { deleteKeptRows, keepRows } from './kept-rows.ts'
import { markRootSeen, type ResolvedProject } from './project.ts'
import { maxIncrementalLinks } from './record.ts'

interface RestoreTarget {
  /** The database's name for messages. */
  readonly label: string
  readonly root: string
  /** The current project of the folder. */
  readonly found: ResolvedProject | null
  /** Builds a new record in a scratch file and copies it, which is faster on a server. */
  readonly copies?: boolean
}

export interface RestoredProject extends LogRestoreResult {
  readonly project: ResolvedProject
}

/** Log entries that are applied at once. */
const block = 256

/** Restores a project from its whole log, with the same ids, times and hashes, in one transaction. A repeat changes nothing. */
export async function restoreProject(
  db: Kysely<Tables>,
  log: LogSource,
  { label, root, found, copies = false, ...restoring }: RestoreTarget & Partial<LogRestoreOptions>,
): Promise<RestoredProject> {
  const id = await projectOf(log)
  const last = await log.eventAt(log.events)
  const { replace = false, actor, at = last?.recordedAt ?? 0 } = restoring
  const before = await projectState(db, id)
  if (!replace) {
    if (found) await assertRecordEmpty(db, found.id)
    if (before) throw existsFailure(id)
  }
  if (before) await assertContinues(db, { id, before, log })
  const aside = found && found.id !== id ? await setAside(db, found.id, { root, actor, at }) : null
  const start: LogHead = before ?? { seq: 0, hash: beforeFirst }
  const isNew = log.events > start.seq
  const apply = (to: Kysely<Tables>) => applyAll(to, { id, log, start })
  if (copies && !before) await copyWhole(db, apply)
  else await apply(db)
  if (isNew || !before) {
    await deleteKeptRows(db, id)
    await keepRows(db, id, log.readKept())
  }
  const after = await projectState(db, id)
  if (actor && after?.ended && after.seq === log.events) {
    await append(db, { id, after, at, actor, body: { kind: 'project.reopened', location: label } })
  }
  await markRootSeen({ db, projectId: id, at }, root)
  const added = Math.max(0, log.events - (before?.seq ?? 0))
  return { project: { id, rootKnown: true }, added, setAside: aside }
}

/** Closes a project for writing and frees its place. Returns its new name. */
async function setAside(
  db: Kysely<Tables>,
  id: string,
  { root, actor, at }: { readonly root: string; readonly actor: Actor | undefined; readonly at: number },
): Promise<string> {
  const after = await projectState(db, id)
  if (actor && after && !after.ended)
    await append(db, { id, after, at, actor, body: { kind: 'project.ended', to: null } })
  return releaseName(db, id, root)
}

async function applyAll(
  db: Kysely<Tables>,
  { id, log, start }: { readonly id: string; readonly log: LogSource; readonly start: LogHead },
): Promise<void> {
  let head = start
  let some: ProjectEvent[] = []
  // Heights are of the whole plan: they are computed once, at the end.
  const heightsLater = log.events - start.seq > maxIncrementalLinks
  const apply = async (events: readonly ProjectEvent[]) => {
    head = await applyEvents({ db, projectId: id, heightsLater }, events, head)
  }
  for await (const event of log.readEvents(start.seq)) {
    some.push(event)
    if (some.length < block) continue
    await apply(some)
    some = []
  }
  if (some.length > 0) await apply(some)
  if (heightsLater) await makeHeights({ db, projectId: id })
}

async function append(
  db: Kysely<Tables>,
  {
    id,
    after,
    body,
    ...author
  }: { readonly id: string; readonly after: LogHead; readonly at: number } & Pick<
    ProjectEvent,
    'actor' | 'body'
  >,
): Promise<void> {
  const rows = eventRows({ projectId: id, ...author }, [body], { seq: after.seq, head: after.hash })
  await projectEventIntoTables({ db, projectId: id, seq: after.seq + 1, ...author }, body)
  await db.insertInto('project_event').values(rows).execute()
  const [row] = rows
  if (row)
    await db.updateTable('project').set({ seq: row.seq, head: row.hash }).where('id', '=', id).execute()
}

/** Applies log entries and appends them unchanged. Fails where their hashes do not follow. */
async function applyEvents(
  { db, projectId, heightsLater }: ReadScope & { readonly heightsLater: boolean },
  events: readonly ProjectEvent[],
  after: LogHead,
): Promise<LogHead> {
  const pause = createYielder()
  let head = { seq: after.seq, head: after.hash }
  const rows = []
  for (const event of events) {
    const author = { at: event.recordedAt, actor: event.actor }
    const [row] = eventRows({ projectId, ...author }, [event.body], head)
    if (row === undefined || row.seq !== event.seq || row.hash !== event.hash)
      throw logChangedFailure(event.seq)
    await projectEventIntoTables({ db, projectId, seq: event.seq, ...author, heightsLater }, event.body)
    rows.push(row)
    head = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  await insertRows(db, 'project_event', rows)
  await db.updateTable('project').set(head).where('id', '=', projectId).execute()
  return { seq: head.seq, hash: head.head }
}

function logChangedFailure(seq: number): Failure {
  return new Failure(
    'INVALID_INPUT',
    `Log entry ${seq} does not follow from the one before: it was changed, or one is missing.`,
    { reason: 'export_damaged', hint: 'Export the log again from the project that it comes from.' },
  )
}

/** The existing record must be the start of the log, or contain it: no entry is discarded. */
async function assertContinues(
  db: Kysely<Tables>,
  { id, before, log }: { readonly id: string; readonly before: LogHead; readonly log: LogSource },
): Promise<void> {
  const last = await log.eventAt(log.events)
  const shared = (await log.eventAt(before.seq))?.hash === before.hash
  if (shared || last === null) return
  const row = await db
    .selectFrom('project_event')
    .select('hash')
    .where('project_id', '=', id)
    .where('seq', '=', last.seq)
    .executeTakeFirst()
  if (before.seq > last.seq && row?.hash === last.hash) return
  throw new DivergedRecordFailure(before.seq)
}

/** The existing record has entries that the log lacks. */
export class DivergedRecordFailure extends Failure {
  constructor(entries: number) {
    super(
      'CONFLICT',
      `The record here has ${entries} log entries, and the file lacks some of them. Nothing was changed.`,
      {
        reason: 'record_diverged',
        hint: 'Compare both with `waymark log`. To keep this record beside the imported one, import the file into another database: name it with WAYMARK_DATABASE.',
      },
    )
  }
}

export async function projectOf(log: LogSource): Promise<ProjectId> {
  const first = (await log.eventAt(1))?.body
  if (first?.kind === 'project.created') return first.id
  throw new Failure('INVALID_INPUT', 'The log does not begin with the entry that created its project.', {
    reason: 'export_incomplete',
    hint: 'Restore a whole log, as `waymark export` writes it.',
  })
}

async function assertRecordEmpty(db: Kysely<Tables>, id: string): Promise<void> {
  const { seq } = await db.selectFrom('project').select('seq').where('id', '=', id).executeTakeFirstOrThrow()
  throw new Failure('CONFLICT', `This project already has a record of ${seq} log entries.`, {
    reason: 'record_exists',
    hint: 'Replace this record, which is kept, with `waymark import --replace <file>`. Or import into another folder, or another database with WAYMARK_DATABASE.',
  })
}

function existsFailure(id: string): Failure {
  return new Failure('CONFLICT', `The database already holds project ${id} of this log.`, {
    reason: 'record_exists',
    hint: 'Run `waymark import --replace <file>` to continue it, or name another database with WAYMARK_DATABASE.',
  })
}

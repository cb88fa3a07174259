import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { CaptureSessionId, TurnId } from '../../kernel/id.ts'
import type { CaptureSideWrite } from '../../store/ports/store.ts'
import {
  cachedQuery,
  insertRows,
  nonEmptyValues,
  parseColumn,
  parseColumnOrNull,
  splitIntoBatches,
} from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { sumOfOwnLines } from '../../track/domain/changes.ts'
import { type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import type { HookCommandWindow, HookEdit, Turn, TurnChange, TurnEvidence } from '../domain/session.ts'
import type { LocatedHookEvent } from '../domain/turns-from-hook-events.ts'
import type { CaptureReads, TurnSummary } from '../ports/capture-reads.ts'

/** A turn of an agent, with what was measured at its end. */
export interface TurnTable {
  project_id: string
  id: string
  seq: number
  session_id: string
  number: number
  client_turn: string | null
  agent_id: string | null
  agent_type: string | null
  parent_id: string | null
  client: string
  model: string | null
  prompt: string | null
  top: string
  /** Its work tree among those of all machines. */
  tree_top: string
  snapshot: string | null
  baseline: string
  baseline_at: number
  status: string
  note: string | null
  error: string | null
  usage: string | null
  items: string | null
  coverage: string | null
  lost: number
  end_snapshot: string | null
  evidence: string | null
  measurement: string | null
  files_added: number | null
  files_modified: number | null
  files_deleted: number | null
  files_renamed: number | null
  added_lines: number | null
  deleted_lines: number | null
  opened_at: number
  closed_at: number | null
}

export interface TurnChangeTable {
  project_id: string
  turn_id: string
  /** 0 for the first, by path. */
  position: number
  path: string
  body: string
}

/** An edit that a tool reported. */
export interface EditReportTable {
  project_id: string
  turn_id: string
  position: number
  path: string
  created_at: number
  body: string
}

/** The time in which a command ran. */
export interface CommandWindowTable {
  project_id: string
  turn_id: string
  position: number
  started_at: number
  ended_at: number | null
  body: string
}

/** Hook events by their keys: with their content until the turn ends, then the key only. No log entry makes them. */
export interface HookEventTable {
  project_id: string
  key: string
  created_at: number
  session_id: string
  turn_id: string | null
  body: string | null
}

/** The redacted text of a prompt, kept only if a person chose so. No log entry makes it. */
export interface PromptTable {
  project_id: string
  turn_id: string
  content: string
}

function turnRow({ projectId, seq }: RowKey, turn: Turn): Insertable<TurnTable> {
  return {
    project_id: projectId,
    id: turn.id,
    seq,
    session_id: turn.sessionId,
    number: turn.number,
    client_turn: turn.clientTurn,
    agent_id: turn.agent?.id ?? null,
    agent_type: turn.agent?.type ?? null,
    parent_id: turn.parentId,
    client: turn.client,
    model: turn.model,
    prompt: textOf(turn.prompt),
    top: turn.top,
    tree_top: turn.snapshot === null ? turn.top : treeOf(turn.snapshot),
    snapshot: textOf(turn.snapshot),
    baseline: turn.baseline,
    baseline_at: turn.baselineAt,
    status: turn.status,
    note: null,
    error: null,
    usage: null,
    items: null,
    coverage: null,
    lost: 0,
    end_snapshot: textOf(turn.endSnapshot),
    evidence: null,
    measurement: null,
    files_added: null,
    files_modified: null,
    files_deleted: null,
    files_renamed: null,
    added_lines: null,
    deleted_lines: null,
    opened_at: turn.openedAt,
    closed_at: turn.closedAt,
  }
}

function textOf(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

function turnOf(row: Selectable<TurnTable>): Turn {
  return {
    id: row.id as TurnId, // a brand
    sessionId: row.session_id as CaptureSessionId, // a brand
    number: row.number,
    clientTurn: row.client_turn,
    agent: row.agent_id === null ? null : { id: row.agent_id, type: row.agent_type },
    parentId: row.parent_id as TurnId | null, // a brand
    client: row.client,
    model: row.model,
    prompt: parseColumnOrNull(row.prompt),
    top: row.top,
    snapshot: parseColumnOrNull(row.snapshot),
    baseline: row.baseline as Turn['baseline'], // as it was written
    baselineAt: row.baseline_at,
    status: row.status as Turn['status'], // as it was written
    endSnapshot: parseColumnOrNull(row.end_snapshot),
    openedAt: row.opened_at,
    closedAt: row.closed_at,
  }
}

function lineOf(row: Selectable<TurnTable>): TurnSummary {
  return {
    turn: turnOf(row),
    note: row.note,
    error: row.error,
    usage: parseColumnOrNull(row.usage),
    items: parseColumnOrNull(row.items),
    coverage: parseColumnOrNull(row.coverage),
    lost: row.lost,
    measurement: row.measurement as TurnSummary['measurement'], // as it was written
    counts:
      row.files_added === null
        ? null
        : {
            added: row.files_added,
            modified: row.files_modified ?? 0,
            deleted: row.files_deleted ?? 0,
            renamed: row.files_renamed ?? 0,
          },
    addedLines: row.added_lines,
    deletedLines: row.deleted_lines,
  }
}

export async function applyTurnOpened(
  projecting: ProjectionContext,
  { turn }: ProjectEventOf<'turn.opened'>,
): Promise<void> {
  await projecting.db.insertInto('turn').values(turnRow(projecting, turn)).execute()
}

export async function applyTurnClosed(
  { db, projectId }: ProjectionContext,
  closed: ProjectEventOf<'turn.closed'>,
): Promise<void> {
  const { changes, ...evidence } = closed.evidence // these have a table of their own
  const count = (kind: TurnChange['change']): number => changes.filter(({ change }) => change === kind).length
  const own = changes.filter(({ origin }) => origin !== 'imported')
  const isUnknown = evidence.measurement === 'unknown'
  const lines = sumOfOwnLines(own)
  await db
    .updateTable('turn')
    .set({
      status: closed.status,
      note: closed.how,
      error: closed.error,
      ...(closed.model !== null && { model: closed.model }),
      usage: textOf(closed.usage),
      items: textOf(closed.items),
      coverage: textOf(closed.coverage),
      lost: closed.lost,
      ...(evidence.snapshot !== null && { snapshot: textOf(evidence.snapshot) }),
      end_snapshot: textOf(evidence.endSnapshot),
      evidence: JSON.stringify(evidence),
      measurement: evidence.measurement,
      files_added: count('added'),
      files_modified: count('modified'),
      files_deleted: count('deleted'),
      files_renamed: count('renamed'),
      added_lines: isUnknown ? null : lines.addedLines,
      deleted_lines: isUnknown ? null : lines.deletedLines,
      closed_at: closed.closedAt,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', closed.turnId)
    .execute()
  const rows = changes.map((change, position) => ({
    project_id: projectId,
    turn_id: closed.turnId,
    position,
    path: change.path,
    body: JSON.stringify(change),
  }))
  await insertRows(db, 'turn_change', rows)
}

/** A turn's reports come in parts, in the order of their log entries. */
export async function applyEditsReported(
  { db, projectId, seq }: ProjectionContext,
  { turnId, edits }: ProjectEventOf<'edits.reported'>,
): Promise<void> {
  const rows = edits.map((edit, at) => ({
    project_id: projectId,
    turn_id: turnId,
    position: placeOf(seq, at),
    path: edit.path,
    created_at: edit.reportedAt,
    body: JSON.stringify(edit),
  }))
  await insertRows(db, 'edit_report', rows)
}

export async function applyCommandsSeen(
  { db, projectId, seq }: ProjectionContext,
  { turnId, commands }: ProjectEventOf<'commands.seen'>,
): Promise<void> {
  const rows = commands.map((command, at) => ({
    project_id: projectId,
    turn_id: turnId,
    position: placeOf(seq, at),
    started_at: command.from,
    ended_at: command.to,
    body: JSON.stringify(command),
  }))
  await insertRows(db, 'command_window', rows)
}

const perEvent = 1000

function placeOf(seq: number, at: number): number {
  return seq * perEvent + at
}

/** Writes hook events, and the prompts that are kept. */
export async function writeCapture({ db, projectId }: ReadScope, sideWrite: CaptureSideWrite): Promise<void> {
  if (sideWrite.kind === 'hook events ingested') {
    const rows = sideWrite.hookEvents.map(({ hookEvent, sessionId, turnId, isOpen }) => ({
      project_id: projectId,
      key: hookEvent.key,
      created_at: hookEvent.reportedAt,
      session_id: sessionId,
      turn_id: turnId,
      body: isOpen ? JSON.stringify(hookEvent) : null,
    }))
    await insertRows(db, 'hook_event', rows)
    return
  }
  if (sideWrite.kind === 'turns recorded') {
    for (const ids of splitIntoBatches(sideWrite.turnIds)) {
      await db
        .updateTable('hook_event')
        .set({ body: null })
        .where('project_id', '=', projectId)
        .where('turn_id', 'in', nonEmptyValues(ids))
        .execute()
    }
    return
  }
  if (sideWrite.kind === 'hook events forgotten') {
    await db
      .deleteFrom('hook_event')
      .where('project_id', '=', projectId)
      .where('created_at', '<', sideWrite.before)
      .where('body', 'is', null)
      .execute()
    return
  }
  if (sideWrite.kind === 'prompt kept') {
    const { turnId, text } = sideWrite
    await db
      .insertInto('kept_prompt')
      .values({ project_id: projectId, turn_id: turnId, content: text })
      .execute()
    return
  }
  await db
    .deleteFrom('kept_prompt')
    .where('project_id', '=', projectId)
    .where('turn_id', 'in', (eb) =>
      eb
        .selectFrom('turn')
        .select('id')
        .where('project_id', '=', projectId)
        .where('session_id', '=', sideWrite.sessionId),
    )
    .execute()
}

const maxHookEvents = 20_000
const maxInTree = 200
const maxBetween = 500
const maxSilentTurns = 500
const maxSilent = 20

type TurnReads = Omit<
  CaptureReads,
  'session' | 'latest' | 'byClientSession' | 'openSessions' | 'sessions' | 'idsLike' | 'linksOf' | 'linksIn'
>

export function turnReads({ db, projectId }: ReadScope): TurnReads {
  const turns = () => db.selectFrom('turn').selectAll().where('project_id', '=', projectId)
  return {
    async recordedKeys(keys) {
      const recordedKeys = new Set<string>()
      for (const some of splitIntoBatches(keys)) {
        const rows = await db
          .selectFrom('hook_event')
          .select('key')
          .where('project_id', '=', projectId)
          .where('key', 'in', nonEmptyValues(some))
          .execute()
        for (const { key } of rows) recordedKeys.add(key)
      }
      return recordedKeys
    },
    async turn(id) {
      const row = await turns().where('id', '=', id).executeTakeFirst()
      return row ? lineOf(row) : null
    },
    async turns(sessionId, { limit, offset }) {
      const rows = await turns()
        .where('session_id', '=', sessionId)
        .orderBy('number')
        .limit(limit)
        .offset(offset)
        .execute()
      return rows.map(lineOf)
    },
    async openTurns(sessionId) {
      const rows = await turns()
        .where('session_id', '=', sessionId)
        .where('status', '=', 'open')
        .orderBy('number')
        .limit(1000)
        .execute()
      return rows.map(turnOf)
    },
    async turnsBetween(from, to) {
      const rows = await turns()
        .where('opened_at', '<=', to)
        .where((eb) => eb.or([eb('closed_at', 'is', null), eb('closed_at', '>=', from)]))
        .where((eb) =>
          eb.or([
            eb('status', '=', 'open'),
            eb('status', '=', 'failed'),
            eb(
              sql<number>`coalesce(files_added, 0) + coalesce(files_modified, 0) + coalesce(files_deleted, 0) + coalesce(files_renamed, 0)`,
              '>',
              0,
            ),
          ]),
        )
        .orderBy('opened_at')
        .limit(maxBetween)
        .execute()
      return rows.map(lineOf)
    },
    async silentSessions() {
      const hasNoReport = (table: 'edit_report' | 'command_window') =>
        sql<boolean>`not exists (
          select 1 from ${sql.table(table)} as report
          join turn as reporter on reporter.project_id = report.project_id and reporter.id = report.turn_id
          where reporter.project_id = turn.project_id and reporter.session_id = turn.session_id
        )`
      const rows = await turns()
        .where('status', '!=', 'open')
        .where(hasNoReport('edit_report'))
        .where(hasNoReport('command_window'))
        .orderBy('opened_at', 'desc')
        .limit(maxSilentTurns)
        .execute()
      const silent = new Map<CaptureSessionId, string>()
      for (const row of rows) {
        const { counts, turn } = lineOf(row)
        const evidence =
          row.evidence === null ? null : parseColumn<Pick<TurnEvidence, 'outside'>>(row.evidence)
        const changed = counts === null ? 0 : counts.added + counts.modified + counts.deleted + counts.renamed
        if (changed + (evidence?.outside.length ?? 0) > 0) silent.set(turn.sessionId, turn.client)
      }
      return [...silent].slice(0, maxSilent).map(([id, client]) => ({ id, client }))
    },
    async lastNumber(sessionId) {
      const row = await db
        .selectFrom('turn')
        .select(({ fn }) => fn.max('number').as('last'))
        .where('project_id', '=', projectId)
        .where('session_id', '=', sessionId)
        .executeTakeFirst()
      return Number(row?.last ?? 0)
    },
    turnsInTree: cachedQuery(async (tree: string, since: number) => {
      const inTree = turns().where('tree_top', '=', tree)
      const rows = await inTree
        .where('status', '=', 'open')
        .unionAll(inTree.where('closed_at', '>=', since))
        .orderBy('seq')
        .limit(maxInTree)
        .execute()
      return rows.map(lineOf)
    }),
    async hookEvents(turnIds) {
      const rows = await db
        .selectFrom('hook_event')
        .select(['turn_id', 'body'])
        .where('project_id', '=', projectId)
        .where('turn_id', 'in', nonEmptyValues(turnIds))
        .where('body', 'is not', null)
        .orderBy('key')
        .limit(maxHookEvents)
        .execute()
      const byTurn = new Map<TurnId, LocatedHookEvent[]>(turnIds.map((id) => [id, []]))
      for (const { turn_id, body } of rows) {
        if (body !== null) byTurn.get(turn_id as TurnId)?.push(parseColumn<LocatedHookEvent>(body))
      }
      return byTurn
    },
    async edits(turnIds) {
      return bodies<HookEdit>({ db, projectId }, 'edit_report', turnIds)
    },
    async commands(turnIds) {
      return bodies<HookCommandWindow>({ db, projectId }, 'command_window', turnIds)
    },
    async evidence(turnId) {
      const row = await db
        .selectFrom('turn')
        .select('evidence')
        .where('project_id', '=', projectId)
        .where('id', '=', turnId)
        .executeTakeFirst()
      return parseColumnOrNull<Omit<TurnEvidence, 'changes'>>(row?.evidence ?? null)
    },
    async changes(turnId, { limit, offset }) {
      const rows = await db
        .selectFrom('turn_change')
        .select('body')
        .where('project_id', '=', projectId)
        .where('turn_id', '=', turnId)
        .where('position', '>=', offset)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map(({ body }) => parseColumn<TurnChange>(body))
    },
    async prompts(turnIds) {
      const rows = await db
        .selectFrom('kept_prompt')
        .select(['turn_id', 'content'])
        .where('project_id', '=', projectId)
        .where('turn_id', 'in', nonEmptyValues(turnIds))
        .limit(1000)
        .execute()
      return new Map(rows.map(({ turn_id, content }) => [turn_id as TurnId, content])) // a brand
    },
    async lastState(tree, before) {
      const ended = await turns()
        .where('tree_top', '=', tree)
        .where('end_snapshot', 'is not', null)
        .where('closed_at', '<=', before)
        .orderBy('closed_at', 'desc')
        .limit(1)
        .executeTakeFirst()
      if (ended?.end_snapshot == null || ended.closed_at === null) return null
      return { place: parseColumn<SnapshotLocation>(ended.end_snapshot), takenAt: ended.closed_at }
    },
  }
}

async function bodies<Body>(
  { db, projectId }: ReadScope,
  table: 'edit_report' | 'command_window',
  turnIds: readonly TurnId[],
): Promise<ReadonlyMap<TurnId, readonly Body[]>> {
  const byTurn = new Map<TurnId, Body[]>(turnIds.map((id) => [id, []]))
  for (const ids of splitIntoBatches(turnIds)) {
    const rows = await db
      .selectFrom(table)
      .select(['turn_id', 'body'])
      .where('project_id', '=', projectId)
      .where('turn_id', 'in', nonEmptyValues(ids))
      .orderBy('turn_id')
      .orderBy('position')
      .limit(maxHookEvents)
      .execute()
    for (const { turn_id, body } of rows) byTurn.get(turn_id as TurnId)?.push(parseColumn<Body>(body))
  }
  return byTurn
}

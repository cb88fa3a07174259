import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { AttemptId, CaptureSessionId, TurnId } from '../../kernel/id.ts'
import {
  idsByPrefix,
  nonEmptyValues,
  numberOrNull,
  pageOf,
  splitIntoBatches,
} from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { CapturedSession } from '../domain/session.ts'
import type { CaptureReads, SessionLine, TurnLink } from '../ports/capture-reads.ts'

/** A session of a client, as its hooks report it. Sessions of browsers are in the table `session`. */
export interface CaptureSessionTable {
  project_id: string
  id: string
  seq: number
  client: string
  version: string | null
  client_session: string
  top: string
  source: string
  parent_id: string | null
  model: string | null
  transcript: string | null
  status: string
  reason: string | null
  turns: number
  events: number
  lost: number
  opened_at: number
  closed_at: number | null
  forgotten_at: number | null
}

/** The session of an attempt, and how it was linked. */
export interface CaptureLinkTable {
  project_id: string
  attempt_id: string
  seq: number
  session_id: string
  turn_id: string | null
  agent_id: string | null
  link: string
}

/** Hook events that were lost. */
export interface CaptureLossTable {
  project_id: string
  seq: number
  session_id: string
  turn_id: string | null
  from_at: number
  to_at: number
  count: number
  why: string
}

function sessionRow({ projectId, seq }: RowKey, session: CapturedSession): Insertable<CaptureSessionTable> {
  return {
    project_id: projectId,
    id: session.id,
    seq,
    client: session.client,
    version: session.version,
    client_session: session.clientSession,
    top: session.top,
    source: session.source,
    parent_id: session.parentId,
    model: session.model,
    transcript: session.transcript,
    status: session.status,
    reason: null,
    turns: 0,
    events: 0,
    lost: 0,
    opened_at: session.openedAt,
    closed_at: null,
    forgotten_at: null,
  }
}

function sessionOf(row: Selectable<CaptureSessionTable>): CapturedSession {
  return {
    id: row.id as CaptureSessionId, // a brand
    client: row.client,
    version: row.version,
    clientSession: row.client_session,
    top: row.top,
    source: row.source as CapturedSession['source'], // as it was written
    parentId: row.parent_id as CaptureSessionId | null, // a brand
    model: row.model,
    transcript: row.transcript,
    status: row.status as CapturedSession['status'], // as it was written
    openedAt: row.opened_at,
  }
}

export async function applySessionOpened(
  projecting: ProjectionContext,
  { session }: ProjectEventOf<'session.opened'>,
): Promise<void> {
  await projecting.db.insertInto('capture_session').values(sessionRow(projecting, session)).execute()
}

export async function applySessionContinued(
  { db, projectId }: ProjectionContext,
  { sessionId, source }: ProjectEventOf<'session.continued'>,
): Promise<void> {
  await db
    .updateTable('capture_session')
    .set({ status: 'open', source, reason: null, closed_at: null })
    .where('project_id', '=', projectId)
    .where('id', '=', sessionId)
    .execute()
}

export async function applySessionClosed(
  { db, projectId, at }: ProjectionContext,
  { sessionId, reason, turns, events, lost, reportedAt: closedAt = at }: ProjectEventOf<'session.closed'>,
): Promise<void> {
  await db
    .updateTable('capture_session')
    .set({ status: 'closed', reason, turns, events, lost, closed_at: Math.min(closedAt, at) })
    .where('project_id', '=', projectId)
    .where('id', '=', sessionId)
    .execute()
}

export async function applySessionForgotten(
  { db, projectId, at: forgottenAt }: ProjectionContext,
  { sessionId }: ProjectEventOf<'session.forgotten'>,
): Promise<void> {
  await db
    .updateTable('capture_session')
    .set({ forgotten_at: forgottenAt, transcript: null })
    .where('project_id', '=', projectId)
    .where('id', '=', sessionId)
    .execute()
}

export async function applyAttemptLinked(
  { db, projectId, seq }: ProjectionContext,
  { attemptId, sessionId, turnId, agentId, link }: ProjectEventOf<'attempt.linked'>,
): Promise<void> {
  const row = { seq, session_id: sessionId, turn_id: turnId, agent_id: agentId, link }
  await db
    .insertInto('capture_link')
    .values({ project_id: projectId, attempt_id: attemptId, ...row })
    .onConflict((conflict) => conflict.columns(['project_id', 'attempt_id']).doUpdateSet(row))
    .execute()
}

export async function applyCaptureLost(
  { db, projectId, seq }: ProjectionContext,
  { sessionId, turnId, from, to, count, why }: ProjectEventOf<'capture.lost'>,
): Promise<void> {
  await db
    .insertInto('capture_loss')
    .values({
      project_id: projectId,
      seq,
      session_id: sessionId,
      turn_id: turnId,
      from_at: from,
      to_at: to,
      count,
      why,
    })
    .execute()
}

const maxOpen = 200

type SessionReads = Pick<
  CaptureReads,
  'session' | 'latest' | 'byClientSession' | 'openSessions' | 'sessions' | 'idsLike' | 'linksOf' | 'linksIn'
>

export function captureSessionReads({ db, projectId }: ReadScope): SessionReads {
  const sessions = () => db.selectFrom('capture_session').where('project_id', '=', projectId)
  const links = () => db.selectFrom('capture_link').selectAll().where('project_id', '=', projectId)
  return {
    async session(id) {
      const row = await sessions().selectAll().where('id', '=', id).executeTakeFirst()
      const [line] = row ? await linesOf({ db, projectId }, [row]) : []
      return line ?? null
    },
    async latest(client, clientSession) {
      const row = await sessions()
        .selectAll()
        .where('client_session', '=', clientSession)
        .where('client', '=', client)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? sessionOf(row) : null
    },
    async byClientSession(clientSession) {
      const row = await sessions()
        .selectAll()
        .where('client_session', '=', clientSession)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? sessionOf(row) : null
    },
    async openSessions() {
      const rows = await sessions()
        .selectAll()
        .where('status', '=', 'open')
        .orderBy('seq')
        .limit(maxOpen)
        .execute()
      const heard = await db
        .selectFrom('hook_event')
        .select(({ fn }) => ['session_id', fn.max('created_at').as('last')])
        .where('project_id', '=', projectId)
        .where('session_id', 'in', nonEmptyValues(rows.map(({ id }) => id)))
        .groupBy('session_id')
        .execute()
      const last = new Map(heard.map((row) => [row.session_id, Number(row.last)]))
      return rows.map((row) => ({ session: sessionOf(row), lastAt: last.get(row.id) ?? row.opened_at }))
    },
    async sessions({ client, since }, request) {
      const matching = sessions()
        .$if(client !== undefined, (query) => query.where('client', '=', client ?? ''))
        .$if(since !== undefined, (query) => query.where('opened_at', '>=', since ?? 0))
      const page = await pageOf(matching, request, (row) => row)
      const lines = await linesOf(
        { db, projectId },
        page.items.map(({ item }) => item),
      )
      return {
        total: page.total,
        items: page.items.flatMap(({ seq }, at) => {
          const item = lines[at]
          return item ? [{ seq, item }] : []
        }),
      }
    },
    idsLike: (prefix, limit) => idsByPrefix({ db, projectId }, 'capture_session', { prefix, limit }),
    async linksOf(attemptIds) {
      const turnLinks: TurnLink[] = []
      for (const ids of splitIntoBatches(attemptIds)) {
        const rows = await links().where('attempt_id', 'in', nonEmptyValues(ids)).execute()
        turnLinks.push(...rows.map(linkOf))
      }
      return turnLinks
    },
    async linksIn(sessionIds) {
      const rows = await links()
        .where('session_id', 'in', nonEmptyValues(sessionIds))
        .orderBy('seq')
        .limit(10_000)
        .execute()
      return rows.map(linkOf)
    },
  }
}

function linkOf(row: Selectable<CaptureLinkTable>): TurnLink {
  return {
    attemptId: row.attempt_id as AttemptId, // a brand
    sessionId: row.session_id as CaptureSessionId, // a brand
    turnId: row.turn_id as TurnId | null, // a brand
    agentId: row.agent_id,
    link: row.link as TurnLink['link'], // as it was written
  }
}

/** Sessions with the totals of their turns: three queries for all of them. */
async function linesOf(
  { db, projectId }: ReadScope,
  rows: readonly Selectable<CaptureSessionTable>[],
): Promise<readonly SessionLine[]> {
  if (rows.length === 0) return []
  const ids = nonEmptyValues(rows.map(({ id }) => id))
  const sums = await db
    .selectFrom('turn')
    // The turn already contains a subagent's changes in the same tree.
    .leftJoin('turn as above', (join) =>
      join
        .onRef('above.project_id', '=', 'turn.project_id')
        .onRef('above.id', '=', 'turn.parent_id')
        .onRef('above.tree_top', '=', 'turn.tree_top'),
    )
    .select(({ fn }) => [
      'turn.session_id',
      fn.countAll<number>().as('turns'),
      fn.sum<number>(sql`case when turn.status = 'open' then 1 else 0 end`).as('open'),
      fn.sum<number | null>(sql`case when above.id is null then turn.added_lines end`).as('added'),
      fn.sum<number | null>(sql`case when above.id is null then turn.deleted_lines end`).as('deleted'),
      fn.sum<number>('turn.lost').as('lost'),
    ])
    .where('turn.project_id', '=', projectId)
    .where('turn.session_id', 'in', ids)
    .groupBy('turn.session_id')
    .execute()
  const changed = await db
    .selectFrom('turn')
    .innerJoin('turn_change', (join) =>
      join
        .onRef('turn_change.project_id', '=', 'turn.project_id')
        .onRef('turn_change.turn_id', '=', 'turn.id'),
    )
    .select(({ fn }) => ['turn.session_id', fn.count<number>('turn_change.path').distinct().as('files')])
    .where('turn.project_id', '=', projectId)
    .where('turn.session_id', 'in', ids)
    .groupBy('turn.session_id')
    .execute()
  const eventCounts = await db
    .selectFrom('hook_event')
    .select(({ fn }) => ['session_id', fn.countAll<number>().as('events')])
    .where('project_id', '=', projectId)
    .where('session_id', 'in', ids)
    .groupBy('session_id')
    .execute()
  const sumOf = new Map(sums.map((row) => [row.session_id, row]))
  const filesOf = new Map(changed.map((row) => [row.session_id, Number(row.files)]))
  const eventsOf = new Map(eventCounts.map((row) => [row.session_id, Number(row.events)]))
  return rows.map((row) => {
    const sum = sumOf.get(row.id)
    return {
      session: sessionOf(row),
      reason: row.reason,
      closedAt: row.closed_at,
      forgottenAt: row.forgotten_at,
      turns: Number(sum?.turns ?? 0),
      events: Math.max(row.events, eventsOf.get(row.id) ?? 0),
      lost: Math.max(row.lost, Number(sum?.lost ?? 0)),
      files: filesOf.get(row.id) ?? 0,
      addedLines: numberOrNull(sum?.added),
      deletedLines: numberOrNull(sum?.deleted),
      openTurns: Number(sum?.open ?? 0),
    }
  })
}

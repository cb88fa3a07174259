import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { NotificationId } from '../../kernel/id.ts'
import type { NotificationSideWrite } from '../../store/ports/store.ts'
import { nonEmptyValues, parseColumn } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Notice } from '../domain/notice.ts'
import type { NoticeState, Notification, NotificationForm } from '../domain/notification.ts'
import type { NoticeDelivery, NotificationReads } from '../ports/notification-reads.ts'

export interface NotificationTable {
  project_id: string
  id: string
  seq: number
  name: string
  form: string
  origin: string | null
  machine: string | null
  kinds: string
  reaches_private: number
  owner_id: string
  owner_name: string
  created_at: number
}

/** Beside the log entries. */
export interface NotificationAddressTable {
  project_id: string
  id: string
  url: string
  secret: string | null
}

/** Beside the log: the notices and their deliveries. */
export interface NoticeTable {
  project_id: string
  /** The same id for the receiver at each try. */
  id: string
  notification_id: string
  /** The log entry that it is about. */
  seq: number
  about: string
  created_at: number
  state: string
  /** As it is sent, from the first try on. */
  body: string | null
  tries: number
  due_at: number
  leased_until: number
  ended_at: number | null
  last_error: string | null
}

/** Beside the log entries: how far the log was read for notices. */
export interface NoticeCursorTable {
  project_id: string
  seq: number
}

function notificationRow(
  { projectId, seq }: RowKey,
  { id, name, form, origin, machine, kinds, reachesPrivate, owner, createdAt }: Notification,
): Insertable<NotificationTable> {
  return {
    project_id: projectId,
    id,
    seq,
    name,
    form,
    origin,
    machine,
    kinds: JSON.stringify(kinds),
    reaches_private: reachesPrivate ? 1 : 0,
    owner_id: owner.id,
    owner_name: owner.name,
    created_at: createdAt,
  }
}

function notificationOf(row: Selectable<NotificationTable>): Notification {
  return {
    id: row.id as NotificationId, // a brand
    name: row.name,
    form: row.form as NotificationForm, // as it was written
    origin: row.origin,
    machine: row.machine,
    kinds: parseColumn(row.kinds),
    reachesPrivate: row.reaches_private === 1,
    owner: { id: row.owner_id, name: row.owner_name },
    createdAt: row.created_at,
  }
}

export async function applyNotificationAdded(
  projecting: ProjectionContext,
  { notification }: ProjectEventOf<'notification.added'>,
): Promise<void> {
  await projecting.db.insertInto('notification').values(notificationRow(projecting, notification)).execute()
}

export async function applyNotificationEdited(
  { db, projectId }: ProjectionContext,
  { notificationId, edited }: ProjectEventOf<'notification.edited'>,
): Promise<void> {
  const { name, origin, kinds, reachesPrivate } = edited
  await db
    .updateTable('notification')
    .set({ name, origin, kinds: JSON.stringify(kinds), reaches_private: reachesPrivate ? 1 : 0 })
    .where('project_id', '=', projectId)
    .where('id', '=', notificationId)
    .execute()
}

export async function applyNotificationRemoved(
  { db, projectId }: ProjectionContext,
  { notificationId }: ProjectEventOf<'notification.removed'>,
): Promise<void> {
  await db
    .deleteFrom('notification')
    .where('project_id', '=', projectId)
    .where('id', '=', notificationId)
    .execute()
}

/** Writes data that no log entry contains. */
export async function writeNotification(
  { db, projectId }: ReadScope,
  sideWrite: NotificationSideWrite,
): Promise<void> {
  if (sideWrite.kind === 'address kept') {
    const { of: id, url, secret } = sideWrite
    await db
      .insertInto('notification_address')
      .values({ project_id: projectId, id, url, secret })
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doUpdateSet({ url, secret }))
      .execute()
    return
  }
  if (sideWrite.kind === 'address ended') {
    const of = (table: 'notification_address' | 'notice', column: 'id' | 'notification_id') =>
      db.deleteFrom(table).where('project_id', '=', projectId).where(column, '=', sideWrite.of).execute()
    await of('notification_address', 'id')
    await of('notice', 'notification_id')
    return
  }
  const { notices, cursor, before } = sideWrite
  for (const notice of notices) {
    const row = noticeRow(notice)
    await db
      .insertInto('notice')
      .values({ project_id: projectId, ...row })
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doUpdateSet(row))
      .execute()
  }
  if (cursor !== null) {
    await db
      .insertInto('notice_cursor')
      .values({ project_id: projectId, seq: cursor })
      .onConflict((conflict) => conflict.column('project_id').doUpdateSet({ seq: cursor }))
      .execute()
  }
  if (before !== null) {
    await db
      .deleteFrom('notice')
      .where('project_id', '=', projectId)
      .where('created_at', '<', before)
      .execute()
  }
}

function noticeRow(notice: NoticeDelivery): Omit<Insertable<NoticeTable>, 'project_id'> {
  return {
    id: notice.id,
    notification_id: notice.notificationId,
    seq: notice.seq,
    about: JSON.stringify(notice.about),
    created_at: notice.createdAt,
    state: notice.state,
    body: notice.body,
    tries: notice.tries,
    due_at: notice.dueAt,
    leased_until: notice.leasedUntil,
    ended_at: notice.endedAt,
    last_error: notice.error,
  }
}

function noticeOf(row: Selectable<NoticeTable>): NoticeDelivery {
  return {
    id: row.id,
    notificationId: row.notification_id,
    seq: row.seq,
    about: parseColumn<Notice>(row.about),
    createdAt: row.created_at,
    state: row.state as NoticeState, // as it was written
    body: row.body,
    tries: row.tries,
    dueAt: row.due_at,
    leasedUntil: row.leased_until,
    endedAt: row.ended_at,
    error: row.last_error,
  }
}

const most = 200
const maxOfOne = 100

export function notificationReads({ db, projectId }: ReadScope): NotificationReads {
  const notices = () => db.selectFrom('notice').selectAll().where('project_id', '=', projectId)
  return {
    async all() {
      const rows = await db
        .selectFrom('notification')
        .selectAll()
        .where('project_id', '=', projectId)
        .orderBy('seq')
        .limit(most)
        .execute()
      return rows.map((row) => ({ seq: row.seq, item: notificationOf(row) }))
    },
    async address(id) {
      const row = await db
        .selectFrom('notification_address')
        .select(['url', 'secret'])
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ?? null
    },
    async cursor() {
      const row = await db
        .selectFrom('notice_cursor')
        .select('seq')
        .where('project_id', '=', projectId)
        .executeTakeFirst()
      return row?.seq ?? null
    },
    async waiting() {
      // Only the first of each, so that a waiting notification, such as a closed desktop, blocks no other.
      const rows = await db
        .selectFrom(
          notices()
            .select(
              sql<number>`row_number() over (partition by notification_id order by seq, id)`.as('place'),
            )
            .where('state', '=', 'waiting')
            .as('waiting'),
        )
        .selectAll()
        .where('place', '<=', maxOfOne)
        .orderBy('notification_id')
        .orderBy('seq')
        .limit(most * maxOfOne)
        .execute()
      return rows.map(noticeOf)
    },
    async notice(id) {
      const row = await notices().where('id', '=', id).executeTakeFirst()
      return row ? noticeOf(row) : null
    },
    async last(id, state) {
      const row = await notices()
        .where('notification_id', '=', id)
        .where('state', '=', state)
        .orderBy('ended_at', 'desc')
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? noticeOf(row) : null
    },
    async openAmong(items) {
      if (items.length === 0) return new Set()
      const rows = await db
        .selectFrom('inbox_item')
        .select('id')
        .where('project_id', '=', projectId)
        .where('id', 'in', nonEmptyValues(items))
        .where('status', '=', 'open')
        .execute()
      return new Set(rows.map(({ id }) => id))
    },
  }
}

import type { SequencedItem } from '../../kernel/page.ts'
import type { Notice } from '../domain/notice.ts'
import type { NoticeState, Notification } from '../domain/notification.ts'

export interface NotificationReads {
  /** In the order in which they were added, with the log entries that did; at most 200. */
  all(): Promise<readonly SequencedItem<Notification>[]>
  /** Null after an import without secrets, and for a desktop. */
  address(id: string): Promise<{ readonly url: string; readonly secret: string | null } | null>
  /** The last log entry that was read for notices; null if none was. */
  cursor(): Promise<number | null>
  /** The notices to be sent, in order: the first 100 of each notification. */
  waiting(): Promise<readonly NoticeDelivery[]>
  notice(id: string): Promise<NoticeDelivery | null>
  /** The last one of a notification that ended so. */
  last(id: string, state: NoticeState): Promise<NoticeDelivery | null>
  /** The open ones of these inbox items. */
  openAmong(items: readonly string[]): Promise<ReadonlySet<string>>
}

/** A notice of a notification, with its delivery. Times are milliseconds since the epoch. */
export interface NoticeDelivery {
  readonly id: string
  readonly notificationId: string
  readonly seq: number
  readonly about: Notice
  readonly createdAt: number
  readonly state: NoticeState
  /** As it is sent, from the first try on; null before. */
  readonly body: string | null
  readonly tries: number
  readonly dueAt: number
  /** Somebody tries it until then. */
  readonly leasedUntil: number
  readonly endedAt: number | null
  readonly error: string | null
}

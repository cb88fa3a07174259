import type { NotificationId } from '../../kernel/id.ts'
import { itemKinds } from '../../track/domain/records.ts'

/** What people are told: each kind of card in the inbox, and two ends that ask for nothing. */
export const noticeKinds = [...itemKinds, 'attempt_failed', 'mission_ended'] as const
export type NoticeKind = (typeof noticeKinds)[number]

export const notificationForms = ['desktop', 'webhook', 'slack'] as const
export type NotificationForm = (typeof notificationForms)[number]

/** A way by which a person wants to be told. Its address and its secret are in no log entry: they are kept beside it. */
export interface Notification {
  readonly id: NotificationId
  readonly name: string
  readonly form: NotificationForm
  /** The origin of a webhook, without the rest of its address, which may be a secret; null for a desktop. */
  readonly origin: string | null
  /** The machine whose desktop it is; null for a webhook. */
  readonly machine: string | null
  readonly kinds: readonly NoticeKind[]
  /** It may be sent to an address on a private network. */
  readonly reachesPrivate: boolean
  readonly owner: NotificationOwner
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** Who is told: a person of the server by their id, else the user of a machine. */
export interface NotificationOwner {
  readonly id: string
  readonly name: string
}

export type NotificationLogEvent =
  | { readonly kind: 'notification.added'; readonly notification: Notification }
  | {
      readonly kind: 'notification.edited'
      readonly notificationId: NotificationId
      /** What it was called until then. */
      readonly name: string
      /** Its address may be another one of the same origin, and its secret a new one. */
      readonly edited: Pick<Notification, 'name' | 'origin' | 'kinds' | 'reachesPrivate'>
    }
  | { readonly kind: 'notification.removed'; readonly notificationId: NotificationId; readonly name: string }

/** The state of a notice: it waits to be sent, was sent, could not be sent, or needs no sending because it was answered before. */
const noticeStates = ['waiting', 'sent', 'failed', 'answered'] as const
export type NoticeState = (typeof noticeStates)[number]

import { itemKinds } from '../../inbox/domain/inbox-item.ts'
import type { NotificationId } from '../../kernel/id.ts'

/** The kinds of notices: each kind of inbox item, and two ends that need no answer. */
export const noticeKinds = [...itemKinds, 'attempt_failed', 'mission_ended'] as const
export type NoticeKind = (typeof noticeKinds)[number]

export const notificationForms = ['desktop', 'webhook', 'slack'] as const
export type NotificationForm = (typeof notificationForms)[number]

/** A notification of a person. Its address and secret are stored beside the log, never in it. */
export interface Notification {
  readonly id: NotificationId
  readonly name: string
  readonly form: NotificationForm
  /** The origin of a webhook, since the rest of the address may be a secret; null for a desktop. */
  readonly origin: string | null
  /** The machine of the desktop; null for a webhook. */
  readonly machine: string | null
  readonly kinds: readonly NoticeKind[]
  /** It may be sent to an address on a private network. */
  readonly reachesPrivate: boolean
  readonly owner: NotificationOwner
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

/** The recipient: a person of the server by id, else the user of a machine. */
export interface NotificationOwner {
  readonly id: string
  readonly name: string
}

export type NotificationLogEvent =
  | { readonly kind: 'notification.added'; readonly notification: Notification }
  | {
      readonly kind: 'notification.edited'
      readonly notificationId: NotificationId
      /** The name before the edit. */
      readonly name: string
      /** The address may change within the same origin, and the secret may be new. */
      readonly edited: Pick<Notification, 'name' | 'origin' | 'kinds' | 'reachesPrivate'>
    }
  | { readonly kind: 'notification.removed'; readonly notificationId: NotificationId; readonly name: string }

/** The states of a notice; `answered`: its item was answered before the notice was sent. */
const noticeStates = ['waiting', 'sent', 'failed', 'answered'] as const
export type NoticeState = (typeof noticeStates)[number]

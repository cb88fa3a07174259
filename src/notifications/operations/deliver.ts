import { Failure } from '../../kernel/failure.ts'
import { isLeaseRunning } from '../../kernel/lease.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { SequencedItem } from '../../kernel/page.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  type NamedNotice,
  type Notice,
  noticeMessage,
  noticeOf,
  slackBody,
  webhookBody,
} from '../domain/notice.ts'
import type { Notification } from '../domain/notification.ts'
import { nextTry } from '../domain/retry-delays.ts'
import type { Delivery, WebhookMessage } from '../ports/messenger.ts'
import type { NoticeDelivery } from '../ports/notification-reads.ts'

/** The sender of notices, with the project's name and links for them. */
export interface NoticeSender extends Pick<Context, 'store' | 'clock' | 'ids' | 'actor' | 'messenger'> {
  /** The project's name. */
  readonly project: () => string
  /** The address of an item, task or mission in the dashboard; null if unknown. */
  readonly link: (of: Pick<Notice, 'itemId' | 'taskId' | 'missionId'>) => string | null
}

/** A notice that only this sender may send, until its lease ends. */
export interface LeasedNotice {
  readonly notice: NoticeDelivery
  readonly notification: Notification
  readonly body: string
  readonly address: { readonly url: string; readonly secret: string | null } | null
}

export interface DueNotices {
  readonly leasedNotices: readonly LeasedNotice[]
  /** Whether there are any notifications. */
  readonly hasNotifications: boolean
  /** The last log entry that was read. */
  readonly position: number
}

const eventsAtOnce = 500
/** Longer than the timeout of a request, so that no one else sends it meanwhile. */
const lease = 60_000
/** How many notices of a notification are sent per round. */
const maxAtOnce = 10
const keptFor = 30 * 24 * 60 * 60_000

/**
 * Reads the log from a position, creates notices, and leases those that are due. The database lock makes sure that each
 * notice is created once and sent by one sender at a time. Without work it costs one view.
 */
export async function leaseDueNotices(sender: NoticeSender, position: number): Promise<DueNotices> {
  const { store, clock, actor } = sender
  const due = await store.view((reads) => findDueNotices(reads, sender, position))
  if (due.changed.length === 0) return due
  const time = clock.now()
  return store.record({
    actor,
    at: time,
    decide: async (reads) => {
      const now = await findDueNotices(reads, sender, position)
      const notices = [...now.changed]
      const sideWrite = {
        kind: 'notices kept',
        notices,
        cursor: now.position,
        before: time - keptFor,
      } as const
      return { events: [], sideWrites: notices.length === 0 ? [] : [sideWrite], answer: now }
    },
  })
}

interface DueNoticesWithChanges extends DueNotices {
  readonly changed: readonly NoticeDelivery[]
}

async function findDueNotices(
  reads: Reads,
  sender: NoticeSender,
  from: number,
): Promise<DueNoticesWithChanges> {
  const { notifications } = reads
  const subscriptions = await notifications.all()
  if (subscriptions.length === 0)
    return { leasedNotices: [], changed: [], hasNotifications: false, position: from }
  const now = sender.clock.now()
  const start = Math.max(from, (await notifications.cursor()) ?? 0, subscriptions[0]?.seq ?? 0)
  const { notices, position } = await newNotices(reads, { subscriptions, start, now })
  const waiting = [...(await notifications.waiting()), ...notices]
  const leasedNotices: LeasedNotice[] = []
  const changed = new Map(notices.map((notice) => [notice.id, notice]))
  for (const { item: notification } of subscriptions) {
    if (notification.form === 'desktop' && notification.machine !== sender.messenger.machine) continue
    const ownNotices = waiting.filter(({ notificationId }) => notificationId === notification.id)
    const due = ownNotices.filter((notice) => isDue(notice, now)).slice(0, maxAtOnce)
    const unsent = due.filter(({ body }) => body === null)
    const retries = due.filter(({ body }) => body !== null)
    const composed = unsent.length === 0 ? [] : await compose(reads, { sender, notification, now }, unsent)
    const address = await notifications.address(notification.id)
    for (const notice of [...retries, ...composed]) {
      if (notice.state !== 'waiting' || notice.body === null) {
        changed.set(notice.id, notice)
        continue
      }
      const leased = { ...notice, tries: notice.tries + 1, leasedUntil: now + lease }
      changed.set(notice.id, leased)
      leasedNotices.push({ notice: leased, notification, body: notice.body, address })
    }
  }
  return { leasedNotices, changed: [...changed.values()], hasNotifications: true, position }
}

function isDue({ dueAt, leasedUntil, tries }: NoticeDelivery, now: number): boolean {
  const isResting = isLeaseRunning(dueAt, { now, length: nextTry(tries, Number.POSITIVE_INFINITY) ?? 0 })
  return !isResting && !isLeaseRunning(leasedUntil, { now, length: lease })
}

interface NoticeScan {
  readonly subscriptions: readonly SequencedItem<Notification>[]
  readonly start: number
  readonly now: number
}

/** Creates notices of new log entries, for each notification that is older than the entry. */
async function newNotices(reads: Reads, { subscriptions: listed, start, now }: NoticeScan) {
  const notices: NoticeDelivery[] = []
  let position = start
  const mayRead = await activeOwners(reads, listed)
  for (;;) {
    const events = await reads.eventLog.since(position, eventsAtOnce)
    for (const event of events) {
      const about = noticeOf(event)
      if (about === null) continue
      for (const { seq, item } of listed) {
        if (seq >= event.seq || !item.kinds.includes(about.kind) || !mayRead.has(item.owner.id)) continue
        notices.push(newNotice(item, about, now))
      }
    }
    position = events.at(-1)?.seq ?? position
    if (events.length < eventsAtOnce || notices.length > 0) return { notices, position }
  }
}

/** The owners who still have access; the user of a machine always has. */
async function activeOwners(
  { identities }: Reads,
  subscriptions: readonly SequencedItem<Notification>[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(subscriptions.map(({ item }) => item.owner.id))]
  const active = new Set<string>()
  for (const id of ids) {
    if (!id.startsWith('u-')) {
      active.add(id)
      continue
    }
    const person = await identities.person(id)
    if (!person || person.disabledAt !== null) continue
    if (person.admin || (await identities.member(id)) !== null) active.add(id)
  }
  return active
}

function newNotice({ id }: Notification, about: Notice, now: number): NoticeDelivery {
  return {
    id: `${id}.${about.seq}`,
    notificationId: id,
    seq: about.seq,
    about,
    createdAt: now,
    state: 'waiting',
    body: null,
    tries: 0,
    dueAt: now,
    leasedUntil: 0,
    endedAt: null,
    error: null,
  }
}

interface MessageContext {
  readonly sender: NoticeSender
  readonly notification: Notification
  readonly now: number
}

/** Writes the bodies of new notices, and ends those whose item was answered meanwhile. */
async function compose(
  reads: Reads,
  { sender, notification, now }: MessageContext,
  first: readonly NoticeDelivery[],
): Promise<readonly NoticeDelivery[]> {
  const open = await reads.notifications.openAmong(first.flatMap(({ about }) => about.itemId ?? []))
  const isAnswered = ({ about }: NoticeDelivery) => about.itemId !== null && !open.has(about.itemId)
  const unanswered = first.filter((notice) => !isAnswered(notice))
  const namedNotices = await namesOf(reads, sender, unanswered)
  return [
    ...first.filter(isAnswered).map((notice) => ({ ...notice, state: 'answered' as const, endedAt: now })),
    ...unanswered.map((notice, index) => ({ ...notice, body: bodyOf(notification, namedNotices[index]) })),
  ]
}

async function namesOf(
  { tasks, missions }: Reads,
  { project, link }: NoticeSender,
  notices: readonly NoticeDelivery[],
): Promise<readonly NamedNotice[]> {
  const taskNames = await tasks.names(notices.flatMap(({ about }) => about.taskId ?? []))
  const missionNames = await missions.names(notices.flatMap(({ about }) => about.missionId ?? []))
  return notices.map(({ about }) => ({
    ...about,
    project: project(),
    taskName: about.taskId === null ? null : (taskNames.get(about.taskId) ?? null),
    missionName: about.missionId === null ? null : (missionNames.get(about.missionId) ?? null),
    link: link(about),
  }))
}

function bodyOf({ form }: Notification, notice: NamedNotice | undefined): string {
  if (!notice) throw new Error('each notice has its names')
  if (form === 'webhook') return JSON.stringify(webhookBody(notice))
  const message = noticeMessage(notice)
  return JSON.stringify(form === 'slack' ? slackBody(message) : message)
}

/** Sends a notice once, and stores the result. */
export async function deliverNotice(
  sender: NoticeSender,
  leased: LeasedNotice,
  signal: AbortSignal,
): Promise<void> {
  const delivery = await sendMessage(sender, leased, signal)
  const { store, actor, clock } = sender
  const now = clock.now()
  await store.record({
    actor,
    at: now,
    decide: async ({ notifications }) => {
      const current = await notifications.notice(leased.notice.id)
      // Another sender has it by now, or the notification was removed.
      const isStillOurs = current?.state === 'waiting' && current.tries === leased.notice.tries
      if (!isStillOurs) return { events: [], answer: null }
      const notices = [noticeAfterDelivery(current, delivery, now)]
      return {
        events: [],
        sideWrites: [{ kind: 'notices kept', notices, cursor: null, before: null }],
        answer: null,
      }
    },
  })
}

function noticeAfterDelivery(notice: NoticeDelivery, delivery: Delivery, endedAt: number): NoticeDelivery {
  if (delivery.isDelivered) return { ...notice, state: 'sent', endedAt, leasedUntil: 0, error: null }
  const { error, isFinal, after } = delivery
  const delay = isFinal ? null : nextTry(notice.tries, after)
  if (delay === null) return { ...notice, state: 'failed', endedAt, leasedUntil: 0, error }
  return { ...notice, dueAt: endedAt + delay, leasedUntil: 0, error }
}

function sendMessage(
  { messenger }: NoticeSender,
  { notice: { id }, notification, body, address }: LeasedNotice,
  signal: AbortSignal,
): Promise<Delivery> {
  if (notification.form === 'desktop') return messenger.show(JSON.parse(body), signal)
  if (address === null) return Promise.resolve(addressLost)
  return messenger.post(letterOf(notification, { id, body, ...address }), signal)
}

/** A webhook message for a notification. */
function letterOf(
  { reachesPrivate }: Notification,
  letter: Omit<WebhookMessage, 'reachesPrivate'>,
): WebhookMessage {
  return { ...letter, reachesPrivate }
}

const addressLost: Delivery = {
  isDelivered: false,
  error: 'Its address was not imported. Remove the notification and add it again.',
  isFinal: true,
  after: null,
}

/** Sends a message by a notification now, without a retry. */
export async function sendTestMessage(
  { messenger, store }: Pick<NoticeSender, 'messenger' | 'store'>,
  notification: Notification,
  message: { readonly id: string; readonly body: string },
): Promise<Delivery> {
  const signal = AbortSignal.timeout(15_000)
  if (notification.form === 'desktop') {
    if (notification.machine !== messenger.machine) {
      throw new Failure('REFUSED', `"${notification.name}" is for the desktop of ${notification.machine}.`, {
        reason: 'desktop_of_other_machine',
        hint: `Test it there; this is ${messenger.machine}.`,
      })
    }
    return messenger.show(JSON.parse(message.body), signal)
  }
  const address = await store.view(({ notifications }) => notifications.address(notification.id))
  if (address === null) return addressLost
  return messenger.post(letterOf(notification, { ...message, ...address }), signal)
}

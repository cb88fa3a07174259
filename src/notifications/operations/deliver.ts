import { Failure } from '../../kernel/failure.ts'
import { isLeaseRunning } from '../../kernel/lease.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { SequencedItem } from '../../kernel/page.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  messageOf,
  type NamedNotice,
  type Notice,
  noticeOf,
  slackBody,
  webhookBody,
} from '../domain/notice.ts'
import type { Notification } from '../domain/notification.ts'
import { nextTry } from '../domain/retry.ts'
import type { Delivery, WebhookMessage } from '../ports/messenger.ts'
import type { NoticeDelivery } from '../ports/notification-reads.ts'

/** Where notices are sent from, and what they say of it. */
export interface NoticeSender extends Pick<Context, 'store' | 'clock' | 'ids' | 'actor' | 'messenger'> {
  /** What the project is called. */
  readonly project: () => string
  /** The address of a card, of a task or of a mission in the dashboard; null where none is known. */
  readonly link: (of: Pick<Notice, 'itemId' | 'taskId' | 'missionId'>) => string | null
}

/** A notice that this sender alone tries, until its lease ends. */
export interface LeasedNotice {
  readonly notice: NoticeDelivery
  readonly notification: Notification
  readonly body: string
  readonly address: { readonly url: string; readonly secret: string | null } | null
}

export interface DueNotices {
  readonly taken: readonly LeasedNotice[]
  /** Whether anybody is to be told anything. */
  readonly isAsked: boolean
  /** How far the log was read. */
  readonly position: number
}

const eventsAtOnce = 500
/** A body that hangs takes ten seconds; nobody else tries it meanwhile. */
const lease = 60_000
/** How many notices one notification sends at once; the rest follow at the next round. */
const maxAtOnce = 10
const keptFor = 30 * 24 * 60 * 60_000

/**
 * Reads the log on from a position, makes notices of it for whom it concerns, and takes what is due. Several senders
 * of one database are settled by its lock: each notice is made once, and tried by one at a time. Costs a look where
 * there is nothing to do.
 */
export async function leaseDueNotices(sender: NoticeSender, position: number): Promise<DueNotices> {
  const { store, clock, actor } = sender
  const before = await store.view((reads) => findDueNotices(reads, sender, position))
  if (before.changed.length === 0) return before
  const at = clock.now()
  return store.record({
    actor,
    at,
    decide: async (reads) => {
      const now = await findDueNotices(reads, sender, position)
      const notices = [...now.changed]
      const beside = { kind: 'notices kept', notices, cursor: now.position, before: at - keptFor } as const
      return { events: [], beside: notices.length === 0 ? [] : [beside], answer: now }
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
  const listed = await notifications.all()
  if (listed.length === 0) return { taken: [], changed: [], isAsked: false, position: from }
  const now = sender.clock.now()
  const known = Math.max(from, (await notifications.cursor()) ?? 0, listed[0]?.seq ?? 0)
  const { made, position } = await newNotices(reads, { listed, known, now })
  const waiting = [...(await notifications.waiting()), ...made]
  const taken: LeasedNotice[] = []
  const changed = new Map(made.map((notice) => [notice.id, notice]))
  for (const { item: notification } of listed) {
    if (notification.form === 'desktop' && notification.machine !== sender.messenger.machine) continue
    const own = waiting.filter(({ notificationId }) => notificationId === notification.id)
    const due = own.filter((notice) => isDue(notice, now)).slice(0, maxAtOnce)
    const first = due.filter(({ body }) => body === null)
    const again = due.filter(({ body }) => body !== null)
    const composed = first.length === 0 ? [] : await compose(reads, { sender, notification, now }, first)
    const address = await notifications.address(notification.id)
    for (const notice of [...again, ...composed]) {
      if (notice.state !== 'waiting' || notice.body === null) {
        changed.set(notice.id, notice)
        continue
      }
      const leased = { ...notice, tries: notice.tries + 1, leasedUntil: now + lease }
      changed.set(notice.id, leased)
      taken.push({ notice: leased, notification, body: notice.body, address })
    }
  }
  return { taken, changed: [...changed.values()], isAsked: true, position }
}

function isDue({ dueAt, leasedUntil, tries }: NoticeDelivery, now: number): boolean {
  const isResting = isLeaseRunning(dueAt, { now, length: nextTry(tries, Number.POSITIVE_INFINITY) ?? 0 })
  return !isResting && !isLeaseRunning(leasedUntil, { now, length: lease })
}

interface NoticeScan {
  readonly listed: readonly SequencedItem<Notification>[]
  readonly known: number
  readonly now: number
}

/** What the log entries since are to be told of, to each who asked for it before they happened. */
async function newNotices(reads: Reads, { listed, known, now }: NoticeScan) {
  const made: NoticeDelivery[] = []
  let position = known
  const mayRead = await readers(reads, listed)
  for (;;) {
    const events = await reads.eventLog.since(position, eventsAtOnce)
    for (const event of events) {
      const about = noticeOf(event)
      if (about === null) continue
      for (const { seq, item } of listed) {
        if (seq >= event.seq || !item.kinds.includes(about.kind) || !mayRead.has(item.owner.id)) continue
        made.push(newNotice(item, about, now))
      }
    }
    position = events.at(-1)?.seq ?? position
    if (events.length < eventsAtOnce || made.length > 0) return { made, position }
  }
}

/** Who is no member any more is told nothing. The user of a machine is asked nothing. */
async function readers(
  { identities }: Reads,
  listed: readonly SequencedItem<Notification>[],
): Promise<ReadonlySet<string>> {
  const ids = [...new Set(listed.map(({ item }) => item.owner.id))]
  const may = new Set<string>()
  for (const id of ids) {
    if (!id.startsWith('u-')) {
      may.add(id)
      continue
    }
    const person = await identities.person(id)
    if (!person || person.disabledAt !== null) continue
    if (person.admin || (await identities.member(id)) !== null) may.add(id)
  }
  return may
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

/** Writes the bodies of what is sent for the first time, and ends what was answered before it could be sent. */
async function compose(
  reads: Reads,
  { sender, notification, now }: MessageContext,
  first: readonly NoticeDelivery[],
): Promise<readonly NoticeDelivery[]> {
  const open = await reads.notifications.openAmong(first.flatMap(({ about }) => about.itemId ?? []))
  const isAnswered = ({ about }: NoticeDelivery) => about.itemId !== null && !open.has(about.itemId)
  const left = first.filter((notice) => !isAnswered(notice))
  const named = await namesOf(reads, sender, left)
  return [
    ...first.filter(isAnswered).map((notice) => ({ ...notice, state: 'answered' as const, endedAt: now })),
    ...left.map((notice, at) => ({ ...notice, body: bodyOf(notification, named[at]) })),
  ]
}

async function namesOf(
  { tasks, missions }: Reads,
  { project, link }: NoticeSender,
  notices: readonly NoticeDelivery[],
): Promise<readonly NamedNotice[]> {
  const taskNames = await tasks.named(notices.flatMap(({ about }) => about.taskId ?? []))
  const missionNames = await missions.named(notices.flatMap(({ about }) => about.missionId ?? []))
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
  const message = messageOf(notice)
  return JSON.stringify(form === 'slack' ? slackBody(message) : message)
}

/** Tries one, and keeps how that went. */
export async function deliverNotice(
  sender: NoticeSender,
  taken: LeasedNotice,
  signal: AbortSignal,
): Promise<void> {
  const delivery = await sendMessage(sender, taken, signal)
  const { store, actor, clock } = sender
  const at = clock.now()
  await store.record({
    actor,
    at,
    decide: async ({ notifications }) => {
      const kept = await notifications.notice(taken.notice.id)
      // Another one tries it by now, or the notification is gone.
      const isOurs = kept?.state === 'waiting' && kept.tries === taken.notice.tries
      if (!isOurs) return { events: [], answer: null }
      const notices = [noticeAfterDelivery(kept, delivery, at)]
      return {
        events: [],
        beside: [{ kind: 'notices kept', notices, cursor: null, before: null }],
        answer: null,
      }
    },
  })
}

function noticeAfterDelivery(notice: NoticeDelivery, delivery: Delivery, endedAt: number): NoticeDelivery {
  if (delivery.isDelivered) return { ...notice, state: 'sent', endedAt, leasedUntil: 0, error: null }
  const { error, isFinal, after } = delivery
  const wait = isFinal ? null : nextTry(notice.tries, after)
  if (wait === null) return { ...notice, state: 'failed', endedAt, leasedUntil: 0, error }
  return { ...notice, dueAt: endedAt + wait, leasedUntil: 0, error }
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

/** A letter to where a notification goes. */
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

/** A message by a notification, at once and once. */
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

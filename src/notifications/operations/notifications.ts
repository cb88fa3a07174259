import { z } from 'zod'
import { identityOf } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { choice, identifier, name } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { type CommandContext, type Context, defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import type { SequencedItem } from '../../kernel/page.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { hasAccess } from '../../people/domain/access.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Message, slackBody } from '../domain/notice.ts'
import {
  type NoticeKind,
  type Notification,
  type NotificationForm,
  type NotificationOwner,
  noticeKinds,
  notificationForms,
} from '../domain/notification.ts'
import type { NoticeDelivery } from '../ports/notification-reads.ts'
import { sendTestMessage } from './deliver.ts'

const NotificationEntry = z.object({
  id: z.string(),
  name: z.string(),
  form: z.enum(notificationForms),
  /** The origin of its address, or the machine of its desktop. */
  to: z.string(),
  kinds: strings,
  owner: z.string(),
  own: z.boolean(),
  private_network: z.boolean(),
  created_at: z.string(),
  /** The number of notices to be sent or retried. */
  waiting: z.int(),
  last_sent_at: z.string().nullable(),
  /** Why the last try failed, while nothing was sent since; null where all is well. */
  last_error: z.string().nullable(),
  /** The time of the next retry; null if there is none. */
  next_try_at: z.string().nullable(),
})

export const notifyList = defineOperation({
  name: 'notify_list',
  command: 'notify list',
  toolset: 'track',
  audience: 'person',
  title: 'List notifications',
  description:
    'List your notifications, with failed deliveries and their reasons. A running `waymark serve`, or `waymark watch --notify`, sends them.',
  kind: 'query',
  input: z.strictObject({
    all: z.boolean().describe('Also those of other people').optional(),
    ...pageFields(1000, 'How many'),
  }),
  output: z.object({ notifications: list(NotificationEntry), ...page }),
}).handler(async (context, input) =>
  context.store.view(async (reads) => {
    const owner = ownerOf(context)
    const all = await reads.notifications.all()
    const visible = all.filter(({ item }) => input.all === true || item.owner.id === owner.id)
    const paging = new Paging('notify_list', input, context.actor, 1000)
    const { entries, ...rest } = paging.slice(visible, ({ item }) => item.id)
    const waiting = await reads.notifications.waiting()
    const notifications = []
    for (const { item } of entries) notifications.push(await entryOf(reads, item, { owner, waiting }))
    return { notifications, ...rest }
  }),
)

async function entryOf(
  { notifications }: Reads,
  notification: Notification,
  { owner, waiting }: { readonly owner: NotificationOwner; readonly waiting: readonly NoticeDelivery[] },
): Promise<z.output<typeof NotificationEntry>> {
  const { id, name, form, origin, machine, kinds, reachesPrivate, createdAt } = notification
  const ownNotices = waiting.filter(({ notificationId }) => notificationId === id)
  const tried = ownNotices.filter(({ error }) => error !== null)
  const sent = await notifications.last(id, 'sent')
  const failed = await notifications.last(id, 'failed')
  const isOver = (failed?.endedAt ?? 0) <= (sent?.endedAt ?? 0)
  return {
    id,
    name,
    form,
    to: origin ?? machine ?? '',
    kinds,
    owner: notification.owner.name,
    own: notification.owner.id === owner.id,
    private_network: reachesPrivate,
    created_at: instant(createdAt),
    waiting: ownNotices.length,
    last_sent_at: instantOrNull(sent?.endedAt ?? null),
    last_error: tried.at(-1)?.error ?? (isOver ? null : (failed?.error ?? null)),
    next_try_at: tried.length === 0 ? null : instant(Math.min(...tried.map(({ dueAt }) => dueAt))),
  }
}

/** The owner of a new notification: its creator. */
function ownerOf({ actor, permissions }: Pick<Context, 'actor' | 'permissions'>): NotificationOwner {
  if (permissions && permissions.user === undefined)
    return { id: permissions.personId, name: permissions.personName }
  return { id: identityOf(actor), name: actor.name }
}

const maxEach = 20

const privateField = z
  .boolean()
  .describe('Allow an address on a private network; on a team server: admins only')
  .optional()

const MadeEntry = NotificationEntry.extend({
  /** The new signing secret of a webhook, if any. No other answer contains it. */
  secret: z.string().nullable(),
})

export const notifyAdd = defineOperation({
  name: 'notify_add',
  command: 'notify add',
  toolset: 'track',
  audience: 'person',
  // Everyone decides about their own notifications.
  access: 'viewer',
  title: 'Add a notification (desktop, webhook, Slack)',
  description:
    'Send a message when something needs you: on this desktop, by a webhook, or to Slack. A webhook is signed with a secret that is shown once.',
  kind: 'command',
  positional: ['form', 'url'],
  input: z.strictObject({
    form: choice(notificationForms, 'desktop, webhook, or slack for {text, blocks}'),
    url: z.string().min(1).max(2000).describe('Address of the webhook: http or https').optional(),
    name: name('Its name; default: its form').optional(),
    kinds: z.array(choice(noticeKinds)).max(20).describe('Kinds of inbox items; default: all').optional(),
    private: privateField,
  }),
  output: MadeEntry,
}).handler(async (handling, input) => {
  const { messenger } = handling
  const { form } = input
  const url = addressOf(form, input.url)
  if (input.private) assertMayReachPrivate(handling)
  if (form === 'desktop') assertDesktop(handling)
  const secret = form === 'webhook' ? messenger.newSecret() : null
  const owner = ownerOf(handling)
  // Under no idempotency key: the stored answer would hold the secret.
  const entry = await handling.recordAside(async (reads, { at: createdAt, ids }) => {
    const listed = await reads.notifications.all()
    const notification: Notification = {
      id: ids.next('notification'),
      name: input.name ?? form,
      form,
      origin: url?.origin ?? null,
      machine: form === 'desktop' ? messenger.machine : null,
      kinds: kindsOf(input.kinds ?? []),
      reachesPrivate: input.private ?? false,
      owner,
      createdAt,
    }
    assertNotificationNameFree(listed, notification)
    assertBelowLimit(listed, notification)
    return {
      events: [{ kind: 'notification.added', notification }],
      sideWrites: url ? [{ kind: 'address kept', of: notification.id, url: url.href, secret }] : [],
      answerFrom: (after) => entryOf(after, notification, { owner, waiting: [] }),
    }
  })
  return { ...entry, secret }
})

/** The address of a webhook. Fails with INVALID_INPUT, without repeating a text that may be a secret. */
function addressOf(form: NotificationForm, address: string | undefined): URL | null {
  if (form === 'desktop') {
    if (address === undefined) return null
    throw new Failure('INVALID_INPUT', 'A desktop has no address.', {
      reason: 'desktop_takes_no_address',
      hint: 'waymark notify add desktop',
    })
  }
  const hint = `waymark notify add ${form} https://…`
  if (address === undefined)
    throw new Failure('INVALID_INPUT', `A ${form} notification needs an address.`, {
      reason: 'address_missing',
      hint,
    })
  const url = URL.parse(address)
  if (url === null)
    throw new Failure('INVALID_INPUT', 'That is not the address of a webhook.', {
      reason: 'address_invalid',
      hint,
    })
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Failure('INVALID_INPUT', `A webhook uses http or https, not ${url.protocol.slice(0, 20)}`, {
      reason: 'address_protocol',
      hint,
    })
  }
  if (url.username !== '' || url.password !== '') {
    throw new Failure('INVALID_INPUT', 'The address must not contain a user or a password.', {
      reason: 'address_has_credentials',
      hint: 'The receiver checks the header webhook-signature instead.',
    })
  }
  url.hash = ''
  return url
}

function assertMayReachPrivate({ permissions }: CommandContext): void {
  if (!permissions || hasAccess(permissions, 'admin')) return
  throw new Failure(
    'FORBIDDEN',
    `Only an admin can allow an address on a private network. ${permissions.personName} is not an admin.`,
    {
      reason: 'private_network_needs_admin',
      hint: 'Use a public address, or ask an admin.',
    },
  )
}

/** A server has no desktop of this person. */
function assertDesktop({ machine, permissions }: CommandContext): void {
  if (!machine && (!permissions || permissions.user !== undefined)) return
  throw new Failure('REFUSED', 'The record is on a server, which cannot reach your desktop.', {
    reason: 'desktop_at_server',
    hint: 'Run waymark watch --notify on your machine, or add a webhook.',
  })
}

function kindsOf(kinds: readonly NoticeKind[]): readonly NoticeKind[] {
  return kinds.length === 0 ? noticeKinds : [...new Set(kinds)]
}

function assertNotificationNameFree(
  listed: readonly SequencedItem<Notification>[],
  { id, name, owner }: Notification,
): void {
  const isTaken = listed.some(
    ({ item }) => item.owner.id === owner.id && item.name === name && item.id !== id,
  )
  if (!isTaken) return
  throw new Failure('CONFLICT', `You already have a notification "${name}".`, {
    reason: 'notification_exists',
    hint: `Choose another name, or change that one: ${shellCommand`waymark notify edit ${name}`}`,
  })
}

function assertBelowLimit(listed: readonly SequencedItem<Notification>[], { owner }: Notification): void {
  const own = listed.filter(({ item }) => item.owner.id === owner.id)
  if (own.length < maxEach) return
  throw new Failure('CONFLICT', `You have ${own.length} notifications, the maximum.`, {
    reason: 'too_many_notifications',
    hint: 'Remove one: waymark notify list, waymark notify remove <name>.',
  })
}

const nameField = identifier('Its name, or its id (nt-…)')

export const notifyEdit = defineOperation({
  name: 'notify_edit',
  command: 'notify edit',
  toolset: 'track',
  audience: 'person',
  access: 'viewer',
  title: 'Change a notification',
  description:
    'Change one of your notifications; fields you leave out stay. Pending messages go to the new address.',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({
    name: nameField,
    new_name: name('New name').optional(),
    url: z.string().min(1).max(2000).describe('New address').optional(),
    kinds: z
      .array(choice(noticeKinds))
      .max(20)
      .describe('New kinds of inbox items; an empty list: all')
      .optional(),
    private: privateField,
    new_secret: z.boolean().describe('Sign a webhook with a new secret, which is shown once').optional(),
  }),
  output: MadeEntry,
}).handler(async (handling, input) => {
  const { messenger, store } = handling
  const present = await store.view((reads) => findOwnNotification(reads, handling, input.name))
  const { form } = present
  const url = input.url === undefined ? null : addressOf(form, input.url)
  if (input.new_secret && form !== 'webhook') {
    throw new Failure(
      'INVALID_INPUT',
      `"${present.name}" has no secret: it is ${formWords[form]}, and only webhooks are signed.`,
      { reason: 'secret_not_applicable', hint: 'Omit new_secret.' },
    )
  }
  // A new address needs the permission of the current caller.
  const reaches = input.private ?? present.reachesPrivate
  if (reaches && (input.private === true || url !== null)) assertMayReachPrivate(handling)
  const fresh = input.new_secret ? messenger.newSecret() : null
  const owner = ownerOf(handling)
  const entry = await handling.recordAside(async (reads) => {
    const before = await findOwnNotification(reads, handling, present.id)
    const stored = await reads.notifications.address(before.id)
    const edited = {
      name: input.new_name ?? before.name,
      origin: url?.origin ?? before.origin,
      kinds: input.kinds === undefined ? before.kinds : kindsOf(input.kinds),
      reachesPrivate: reaches,
    }
    assertNotificationNameFree(await reads.notifications.all(), { ...before, ...edited })
    const address = {
      url: url?.href ?? stored?.url ?? null,
      secret: fresh ?? stored?.secret ?? null,
    }
    const isMoved = address.url !== (stored?.url ?? null) || address.secret !== (stored?.secret ?? null)
    const { name, origin, kinds, reachesPrivate } = before
    const isSame =
      !isMoved && JSON.stringify(edited) === JSON.stringify({ name, origin, kinds, reachesPrivate })
    return {
      events: isSame ? [] : [{ kind: 'notification.edited', notificationId: before.id, name, edited }],
      sideWrites:
        isMoved && address.url !== null
          ? [{ kind: 'address kept', of: before.id, url: address.url, secret: address.secret }]
          : [],
      answerFrom: async (after) => {
        const waiting = await after.notifications.waiting()
        return entryOf(after, { ...before, ...edited }, { owner, waiting })
      },
    }
  })
  return { ...entry, secret: fresh }
})

const formWords = {
  desktop: 'a desktop',
  webhook: 'a webhook',
  slack: 'for Slack',
} satisfies Record<NotificationForm, string>

export const notifyRemove = defineOperation({
  name: 'notify_remove',
  command: 'notify remove',
  toolset: 'track',
  audience: 'person',
  access: 'viewer',
  title: 'Remove a notification',
  description: 'Remove a notification with its address and secret. Pending messages are not sent.',
  kind: 'command',
  destructive: true,
  positional: ['name'],
  input: z.strictObject({ name: nameField }),
  output: z.object({ id: z.string(), name: z.string(), not_sent: z.int() }),
}).handler((handling, input) =>
  handling.record(async (reads) => {
    const { id, name } = await find(reads, handling, input.name)
    const waiting = await reads.notifications.waiting()
    return {
      events: [{ kind: 'notification.removed', notificationId: id, name }],
      sideWrites: [{ kind: 'address ended', of: id }],
      answer: { id, name, not_sent: waiting.filter(({ notificationId }) => notificationId === id).length },
    }
  }),
)

/** One's own; an owner of the project and an admin may name those of others by id. */
async function find(reads: Reads, handling: CommandContext, words: string): Promise<Notification> {
  const { permissions } = handling
  const mayAll = !permissions || permissions.admin || hasAccess(permissions, 'owner')
  const listed = mayAll ? (await reads.notifications.all()).map(({ item }) => item) : []
  return listed.find(({ id }) => id === words) ?? (await findOwnNotification(reads, handling, words))
}

/** People choose their own notifications. */
async function findOwnNotification(
  { notifications }: Reads,
  handling: CommandContext,
  words: string,
): Promise<Notification> {
  const owner = ownerOf(handling)
  const ownNotifications = (await notifications.all()).flatMap(({ item }) =>
    item.owner.id === owner.id ? [item] : [],
  )
  const match =
    ownNotifications.find((item) => item.name === words) ?? ownNotifications.find(({ id }) => id === words)
  if (match) return match
  const names = ownNotifications.map((item) => item.name)
  throw new Failure('NOT_FOUND', `You have no notification "${words}".${didYouMean(words, names)}`, {
    reason: 'notification_not_found',
    hint: 'waymark notify list shows them.',
  })
}

export const notifyTest = defineOperation({
  name: 'notify_test',
  command: 'notify test',
  toolset: 'track',
  audience: 'person',
  access: 'viewer',
  title: 'Send a test notification',
  description: 'Send a test message now, and report whether it arrived.',
  kind: 'command',
  positional: ['name'],
  input: z.strictObject({ name: nameField }),
  output: z.object({ id: z.string(), name: z.string(), success: z.boolean(), says: z.string() }),
}).handler(async (handling, input) => {
  const { store, clock, ids } = handling
  const notification = await store.view((reads) => find(reads, handling, input.name))
  const { id, name, form, origin, machine } = notification
  const now = clock.now()
  const message: Message = {
    title: 'Waymark',
    lines: [`"${name}" works: you get a message here when something needs you.`],
    link: null,
  }
  const body =
    form === 'webhook'
      ? { type: 'notice.test', timestamp: instant(now), data: { text: message.lines[0] } }
      : form === 'slack'
        ? slackBody(message)
        : message
  // A new id for each test message.
  const delivery = await sendTestMessage(handling, notification, {
    id: `${id}.test.${ids.next('notification')}`,
    body: JSON.stringify(body),
  })
  const to = origin ?? machine
  return {
    id,
    name,
    success: delivery.isDelivered,
    says: delivery.isDelivered ? `It arrived at ${to}.` : delivery.error,
  }
})

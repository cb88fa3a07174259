import { describeProjectEvent } from '../../../events/domain/event-kinds.ts'
import { happenedAt, type ProjectEvent } from '../../../events/domain/project-event.ts'
import { itemOutcome } from '../../../inbox/domain/inbox-item.ts'
import { displayName } from '../../../kernel/actor.ts'
import { instant } from '../../../kernel/instant.ts'
import type { OutputOf } from '../../../kernel/operations/catalog.ts'
import { formatCount, plainLine } from '../../../kernel/text.ts'
import {
  commandOf,
  type Notice,
  noticeHeading,
  noticeOf,
  reasonOf,
} from '../../../notifications/domain/notice.ts'
import { clockTime } from '../render/text.ts'
import { type Ink, printableJson, type Terminal } from '../terminal.ts'

/** The watched project, local or at a server. */
export interface WatchTarget {
  readonly inbox: (input: { readonly limit: number; readonly cursor?: string }) => Promise<OutputOf<'inbox'>>
  /** The titles of tasks and missions that these log entries name, by id. */
  readonly titles: (projectEvents: readonly ProjectEvent[]) => Promise<ReadonlyMap<string, string>>
  /** The last position of the log. */
  readonly head: () => Promise<number>
  /** Passes on log entries after a position until the signal aborts. */
  readonly follow: (
    after: number,
    signal: AbortSignal,
    hear: (projectEvents: readonly ProjectEvent[]) => Promise<void>,
  ) => Promise<void>
}

export interface WatchOptions {
  /** Prints a line of JSON for each, for programs. */
  readonly json: boolean
  /** Also prints log entries that need nobody. */
  readonly all: boolean
  /** Called with each new inbox item. */
  readonly notify?: (card: InboxNoticeCard) => void
}

/** An inbox item or an end, in one line. */
export interface InboxNoticeCard {
  readonly notice: Notice
  readonly taskName: string | null
  readonly missionName: string | null
}

type WatchInboxRow = OutputOf<'inbox'>['items'][number]

/** Milliseconds between two checks for stale attempts. */
const staleEvery = 60_000
const atOnce = 200

/** Prints open inbox items, then new ones, until the signal aborts. */
export async function watch(
  watched: WatchTarget,
  { json, all, notify }: WatchOptions,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
): Promise<void> {
  const line = json ? jsonLine : textLine
  const say = (event: WatchEvent) => terminal.write(line(event, terminal.ink))
  const head = await watched.head()
  const waiting = await allOpenItems(watched)
  const printed = new Set(waiting.map(({ item_id }) => item_id))
  for (const item of waiting) say({ kind: 'waits', card: cardOf(item), happenedAt: item.opened_at })
  if (!json) terminal.writeError(`${greeting(waiting.length)}\n`)
  const timer = setInterval(() => {
    // Each read detects stale attempts, and logs them.
    watched.inbox({ limit: 1 }).catch(() => undefined)
  }, staleEvery)
  try {
    await watched.follow(head, signal, async (projectEvents) => {
      const opened = projectEvents.some(({ body }) => body.kind === 'inbox.opened')
      const items = new Map(
        opened ? (await allOpenItems(watched)).map((item) => [item.item_id, item] as const) : [],
      )
      const titles = await watched.titles(projectEvents)
      for (const projectEvent of projectEvents) {
        const event = eventOf(projectEvent, { items, printed, all, titles })
        if (event === null) continue
        say(event)
        if (event.kind === 'waits') notify?.(event.card)
      }
    })
  } finally {
    clearInterval(timer)
  }
}

function greeting(count: number): string {
  const waits =
    count === 0 ? 'Nothing needs you' : `${formatCount(count, 'item')} ${count === 1 ? 'needs' : 'need'} you`
  return `${waits}. Watching; press Ctrl-C to stop.`
}

async function allOpenItems(watched: WatchTarget): Promise<readonly WatchInboxRow[]> {
  const items: WatchInboxRow[] = []
  let cursor: string | null = null
  do {
    const page: OutputOf<'inbox'> = await watched.inbox({ limit: atOnce, ...(cursor !== null && { cursor }) })
    items.push(...page.items)
    cursor = page.next_cursor
  } while (cursor !== null)
  return items
}

type WatchEvent =
  | { readonly kind: 'waits' | 'ended'; readonly happenedAt: string; readonly card: InboxNoticeCard }
  | {
      readonly kind: 'answered'
      readonly happenedAt: string
      readonly itemId: string
      /** The title of its task or mission. */
      readonly about: string | null
      readonly outcome: string
      readonly who: string
      readonly answer: string | null
    }
  | {
      readonly kind: 'event'
      readonly happenedAt: string
      readonly event: ProjectEvent
      readonly says: string
    }

interface WatchState {
  readonly items: ReadonlyMap<string, WatchInboxRow>
  /** The ids of printed inbox items. */
  readonly printed: Set<string>
  readonly all: boolean
  readonly titles: ReadonlyMap<string, string>
}

/** The output for a log entry; null if it needs nobody. */
function eventOf(projectEvent: ProjectEvent, { items, printed, all, titles }: WatchState): WatchEvent | null {
  const { body } = projectEvent
  const at = instant(happenedAt(projectEvent))
  if (body.kind === 'inbox.closed') {
    const { itemId, answer, taskId, missionId } = body
    const about = titles.get(taskId ?? missionId ?? '') ?? null
    return {
      kind: 'answered',
      happenedAt: at,
      itemId,
      about,
      outcome: itemOutcome(body),
      who: displayName(projectEvent),
      answer,
    }
  }
  const notice = noticeOf(projectEvent)
  if (notice === null) {
    return all
      ? { kind: 'event', happenedAt: at, event: projectEvent, says: describeProjectEvent(body, titles) }
      : null
  }
  const { itemId, taskId, missionId } = notice
  const bare = {
    notice,
    taskName: titles.get(taskId ?? '') ?? null,
    missionName: titles.get(missionId ?? '') ?? null,
  }
  if (itemId === null) return { kind: 'ended', happenedAt: at, card: bare }
  if (printed.has(itemId)) return null
  printed.add(itemId)
  const item = items.get(itemId)
  return { kind: 'waits', happenedAt: at, card: item ? cardOf(item) : bare }
}

function cardOf(item: WatchInboxRow): InboxNoticeCard {
  const { kind, reason, opened_by, item_id, mission_id, task_id, opened_at } = item
  const notice = {
    kind,
    seq: 0,
    recordedAt: Date.parse(opened_at),
    why: reason,
    who: opened_by,
    itemId: item_id,
    missionId: mission_id,
    taskId: task_id,
  } as Notice // for the branded ids
  return { notice, taskName: item.task_name, missionName: item.mission_name }
}

function textLine(event: WatchEvent, ink: Ink): string {
  const at = ink('dim', clockTime(event.happenedAt).slice(11))
  if (event.kind === 'event') {
    return `${at}  ${plainLine(`${displayName(event.event)} ${event.says}`, 300)}\n`
  }
  if (event.kind === 'answered') {
    const answer = event.answer === null ? '' : `: ${event.answer}`
    return `${at}  ${ink('green', event.outcome)}  ${plainLine(`${event.about === null ? '' : `"${event.about}" `}${event.itemId} by ${event.who}${answer}`, 300)}\n`
  }
  const { notice, taskName, missionName } = event.card
  const about = [taskName ?? notice.taskId, missionName].filter((name) => name !== null).join(' · ')
  const what = `${noticeHeading(notice)}${about === '' ? '' : ` (${about})`}`
  const command = commandOf(notice)
  return [
    `${at}  ${ink(event.kind === 'waits' ? 'yellow' : 'cyan', plainLine(what, 200))}`,
    `  ${plainLine(reasonOf(notice), 300)}`,
    command === null ? '' : `  → ${command}`,
    '\n',
  ].join('')
}

function jsonLine(event: WatchEvent): string {
  return `${printableJson(JSON.stringify(entryOf(event)))}\n`
}

function entryOf(event: WatchEvent): object {
  const { kind, happenedAt: happened_at } = event
  if (event.kind === 'event') {
    const { seq, body } = event.event
    return {
      event: kind,
      happened_at,
      seq,
      who: displayName(event.event),
      kind: body.kind,
      says: event.says,
    }
  }
  if (event.kind === 'answered') {
    const { itemId, outcome, who, answer } = event
    return { event: kind, happened_at, item_id: itemId, outcome, who, answer }
  }
  const { notice, taskName, missionName } = event.card
  return {
    event: kind,
    happened_at,
    kind: notice.kind,
    what: noticeHeading(notice),
    who: notice.who,
    why: notice.why,
    item_id: notice.itemId,
    task_id: notice.taskId,
    task_name: taskName,
    mission_id: notice.missionId,
    mission_name: missionName,
    command: commandOf(notice),
  }
}

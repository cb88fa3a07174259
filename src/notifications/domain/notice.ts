import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { answerCommands } from '../../inbox/domain/answers.ts'
import { displayName } from '../../kernel/actor.ts'
import type { InboxItemId, MissionId, TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { plainLine } from '../../kernel/text.ts'
import type { NoticeKind } from './notification.ts'

/** A notice about a log entry, with the facts of that time. */
export interface Notice {
  readonly kind: NoticeKind
  /** The log entry that it is about. */
  readonly seq: number
  readonly recordedAt: number
  /** Why it waits, or how it ended; usually an agent's text. */
  readonly why: string
  readonly who: string
  readonly itemId: InboxItemId | null
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
}

/** The notice about a log entry; null for most. */
export function noticeOf({ seq, recordedAt, actor, body }: ProjectEvent): Notice | null {
  if (body.kind === 'inbox.opened') {
    const { id: itemId, kind, reason: why, openedBy, missionId, taskId } = body.item
    return { kind, seq, recordedAt, why, who: openedBy, itemId, missionId, taskId }
  }
  if (body.kind === 'attempt.closed' && body.status === 'failed') {
    const { missionId, taskId, outcome } = body
    const of = { itemId: null, missionId, taskId }
    return {
      kind: 'attempt_failed',
      seq,
      recordedAt,
      why: outcome.summary,
      who: displayName({ actor }),
      ...of,
    }
  }
  if (body.kind === 'mission.ended') {
    const { missionId, status, summary } = body
    const of = { itemId: null, missionId, taskId: null }
    return {
      kind: 'mission_ended',
      seq,
      recordedAt,
      why: summary ?? `It was ${status}.`,
      who: displayName({ actor }),
      ...of,
    }
  }
  return null
}

/** The heading of each kind of notice. */
const noticeWords = {
  blocker: 'An agent has a question',
  review: 'An agent asks for a review',
  verdict: 'A completed task needs a person',
  scope: 'Files were changed out of scope',
  approval: 'A run needs an approval',
  command: 'A command needs an approval',
  stale_attempt: 'An attempt is stale',
  loss: 'Uncommitted files were lost',
  attempt_failed: 'A task failed',
  mission_ended: 'A mission ended',
} as const satisfies Record<NoticeKind, string>

/** The heading of a notice; an agent asks only for an item that it opened itself. */
export function noticeHeading({ kind, who }: Pick<Notice, 'kind' | 'who'>): string {
  return kind === 'review' && who === 'waymark' ? 'Work needs a review' : noticeWords[kind]
}

/** A notice with the names of its project, task and mission. */
export interface NamedNotice extends Notice {
  readonly project: string
  readonly taskName: string | null
  readonly missionName: string | null
  /** The address in the dashboard; null if unknown. */
  readonly link: string | null
}

/** A message in plain text, without control characters. */
export interface Message {
  readonly title: string
  readonly lines: readonly string[]
  readonly link: string | null
}

export function noticeMessage(notice: NamedNotice): Message {
  const { project, link } = notice
  return {
    title: plainLine(`${project}: ${noticeHeading(notice)}`, 120),
    lines: [subjectOf(notice), plainLine(reasonOf(notice), 400), commandOf(notice) ?? ''].filter(Boolean),
    link,
  }
}

/** `codex: The tests fail.`; Waymark itself needs no name. */
export function reasonOf({ who, why }: Pick<Notice, 'who' | 'why'>): string {
  return who === 'waymark' ? why : `${who}: ${why}`
}

function subjectOf({ taskName, missionName }: NamedNotice): string {
  return plainLine([taskName, missionName].filter((name) => name !== null).join(' · '), 160)
}

/** The command that shows it or answers it. */
export function commandOf({ kind, itemId, taskId, missionId }: Notice): string | null {
  if (itemId === null) return `waymark show ${taskId ?? missionId ?? ''}`.trim()
  if (kind === 'attempt_failed' || kind === 'mission_ended') return null
  const [first, second] = answerCommands(kind, itemId)
  // A question has one answer in words; everything else is approved or rejected.
  return kind === 'blocker' || kind === 'review' ? (first ?? null) : [first, second].join(' · ')
}

/** The body of a webhook, for a program. */
export function webhookBody(notice: NamedNotice): object {
  return { type: `notice.${notice.kind}`, timestamp: instant(notice.recordedAt), data: noticeData(notice) }
}

function noticeData(notice: NamedNotice) {
  const { kind, seq, recordedAt, who, why, project, itemId, taskId, taskName, missionId, missionName, link } =
    notice
  return {
    kind,
    seq,
    recorded_at: instant(recordedAt),
    project,
    what: noticeHeading(notice),
    who: plainLine(who, 100),
    why: plainLine(why, 1000),
    item_id: itemId,
    task: taskId === null ? null : { id: taskId, name: plainLine(taskName ?? taskId, 160) },
    mission: missionId === null ? null : { id: missionId, name: plainLine(missionName ?? missionId, 160) },
    command: commandOf(notice),
    link,
  }
}

/** The body for Slack and compatible services. Untrusted text is in plain-text blocks, without markup. */
export function slackBody({ title, lines, link }: Message): object {
  const text = lines.join('\n')
  return {
    text: escapedForSlack(`${title}\n${text}`),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
      {
        type: 'section',
        text: { type: 'plain_text', text: text.slice(0, 2900).toWellFormed(), emoji: false },
      },
      ...(link === null
        ? []
        : [
            { type: 'section', text: { type: 'mrkdwn', text: `<${slackLink(link)}|Open in the dashboard>` } },
          ]),
    ],
  }
}

function slackLink(link: string): string {
  return link.replace(/[<>|\s]/g, encodeURIComponent).replace(/&/g, '&amp;')
}

/** Escapes mentions of channels and users, and links. */
function escapedForSlack(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}

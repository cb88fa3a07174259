import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import type { NameBehind } from '../../people/operations/people-behind.ts'
import { holdAnswers, holdKinds, type InboxItem } from '../../track/domain/records.ts'
import { issueWords } from '../../track/operations/record-answer.ts'
import { commandFor, verbsFor } from '../domain/answers.ts'
import type { InboxItemLine } from '../ports/item-reads.ts'

/** What waits for a person: whole, as a blocker of a mission, and in one line beside a task. */

const holdKind = z.enum(holdKinds)
const holdStatus = z.enum(['open', 'resolved', 'dismissed'])

/** The hash of what is shown: an answer names it, so that nothing else is decided. Null where words alone answer. */
export const content = z.string().nullable()

/** What a person is asked to decide about a run, or to allow it to run. */
const HoldRequestEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('decision'),
    state: z.string(),
    revision: z.int(),
    events: strings,
    approvals: list(z.object({ role: z.string(), of: z.string().nullable() })),
  }),
  z.object({
    kind: z.literal('command'),
    run: z.string(),
    folder: z.string(),
    pinned: strings,
    hash: z.string(),
    edge: z.string().optional(),
    files: list(z.object({ path: z.string(), sha256: z.string().nullable() })).optional(),
    before: z
      .object({
        hash: z.string(),
        by: z.string(),
        at: z.int(),
        changed: strings.nullable(),
        diff: z.string(),
      })
      .nullable()
      .optional(),
  }),
])

export const InboxItemEntry = z.object({
  hold_id: z.string(),
  kind: holdKind,
  status: holdStatus,
  reason: z.string(),
  mission_id: z.string().nullable(),
  task_id: z.string().nullable(),
  attempt_id: z.string().nullable(),
  issue_id: z.string().nullable(),
  run_id: z.string().nullable(),
  request: HoldRequestEntry.nullable(),
  /** What the agent did meanwhile, in its words. */
  workaround: z.string().nullable(),
  /** The first of the paths that it is about, and how many there are. */
  paths: strings,
  paths_total: z.int(),
  opened_by: z.string(),
  /** The person behind the agent that opened it, where a server knows its people. */
  opened_by_person: z.string().nullable(),
  opened_at: z.string(),
  /** How it can be ended, while it is open. */
  answers: list(z.object({ verb: z.string(), command: z.string() })),
  answer: z.string().nullable(),
  said: z.enum(holdAnswers).nullable(),
  closed_by: z.string().nullable(),
  closed_at: z.string().nullable(),
})
export type InboxItemEntry = z.output<typeof InboxItemEntry>

export function inboxItemEntry({ hold, issue, opener }: InboxItemLine, personOf: NameBehind): InboxItemEntry {
  return {
    hold_id: hold.id,
    kind: hold.kind,
    status: hold.status,
    reason: excerpt(hold.reason, 1000),
    mission_id: hold.missionId,
    task_id: hold.taskId,
    attempt_id: hold.attemptId,
    issue_id: hold.issueId,
    run_id: hold.runId,
    request: hold.request,
    workaround: issue ? excerpt(issue.resolution, 1000) || null : null,
    paths: hold.paths.slice(0, 50),
    paths_total: hold.paths.length,
    opened_by: hold.openedBy,
    // What Waymark opens by itself is nobody's, whoever acted then.
    opened_by_person:
      opener !== null && displayName({ actor: opener }) === hold.openedBy ? personOf(opener) : null,
    opened_at: instant(hold.openedAt),
    answers: hold.status === 'open' ? possibleAnswers(hold) : [],
    answer: hold.answer,
    said: hold.said,
    closed_by: hold.closedBy,
    closed_at: instantOrNull(hold.closedAt),
  }
}

/** What a person can do with an item. Work on a task is looked at first. */
function possibleAnswers({ id, kind, taskId }: InboxItem): InboxItemEntry['answers'] {
  const look = { verb: 'Look at the work, approve it or send it back', command: `waymark review ${taskId}` }
  const verbs = verbsFor(kind).map((verb) => ({ verb: verbWords[verb], command: commandFor(verb, id) }))
  return kind === 'review' && taskId !== null ? [look, ...verbs] : verbs
}

const verbWords = { answer: 'Answer', approve: 'Approve', reject: 'Reject', dismiss: 'Dismiss' } as const

export const BlockerEntry = z.object({
  id: z.string(),
  hold_id: z.string(),
  task_id: z.string().nullable(),
  type: z.enum([...Object.values(issueWords), 'REVIEW']),
  description: z.string(),
  resolution: z.string().nullable(),
  created_at: z.string(),
  resolved: z
    .object({
      by: z.string().nullable(),
      at: z.string().nullable(),
      answer: z.string().nullable(),
      status: holdStatus,
      /** The same in plain words, where it is known: a yes and a sending back both end a review. */
      said: z.enum(holdAnswers).optional(),
    })
    .optional(),
})
export type BlockerEntry = z.output<typeof BlockerEntry>

/** A blocker: an issue that asks for a person, or a review that a completion asked for. */
export function blockerEntry({ hold, issue }: Pick<InboxItemLine, 'hold' | 'issue'>): BlockerEntry {
  return {
    id: issue?.id ?? hold.id,
    hold_id: hold.id,
    task_id: hold.taskId,
    type: issue ? issueWords[issue.type] : 'REVIEW',
    description: excerpt(issue?.description ?? hold.reason),
    resolution: issue ? excerpt(issue.resolution) || null : null,
    created_at: instant(hold.openedAt),
    ...(hold.status !== 'open' && {
      resolved: {
        by: hold.closedBy,
        at: instantOrNull(hold.closedAt),
        answer: hold.answer === null ? null : excerpt(hold.answer, 1000),
        status: hold.status,
        ...(hold.said !== null && { said: hold.said }),
      },
    }),
  }
}

/** What waits for a person, as the agent that waits reads it. */
export const WaitingEntry = z.object({ hold_id: z.string(), kind: holdKind, question: z.string() })
export type WaitingEntry = z.output<typeof WaitingEntry>

export function openItemEntry({ id, kind, reason }: InboxItem): WaitingEntry {
  return { hold_id: id, kind, question: excerpt(reason, 300) }
}

import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { fitSections } from '../../kernel/budget.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import type { CallerPermissions } from '../../people/domain/access.ts'
import type { NameBehind } from '../../people/operations/agent-owners.ts'
import type { Reads } from '../../store/ports/store.ts'
import { issueWords } from '../../track/operations/record-answer.ts'
import { answerDenial, commandFor, restoreCommand, verbsFor } from '../domain/answers.ts'
import {
  type InboxItem,
  type InboxItemRequest,
  itemAnswers,
  itemKinds,
  itemKindsClosedByReview,
} from '../domain/inbox-item.ts'
import type { InboxItemLine } from '../ports/item-reads.ts'

/** An open item in an answer: complete, as a blocker of a mission, or in one line beside a task. */

const itemKind = z.enum(itemKinds)
const itemStatus = z.enum(['open', 'resolved', 'dismissed'])

/** The hash of the content: an answer names it, so that nothing else is decided. Null if words alone are the answer. */
export const content = z.string().nullable()

/** The request of an item: a decision about a run, or the approval of a command. */
const ItemRequestEntry = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('decision'),
    state: z.string(),
    revision: z.int(),
    events: strings,
    approvals: list(z.object({ role: z.string(), artifact: z.string().nullable() })),
  }),
  z.object({
    kind: z.literal('changes'),
    state: z.string(),
    revision: z.int(),
    event: z.string(),
    guards: list(z.object({ name: z.string(), guard: z.string(), reason: z.string(), content: z.string() })),
    content: z.string(),
    files: list(z.object({ path: z.string(), disk: z.string().nullable(), git: z.string().nullable() })),
    machine: z.string().optional(),
  }),
  z.object({
    kind: z.literal('command'),
    run: z.string(),
    folder: z.string(),
    pinned: strings,
    hash: z.string(),
    machine: z.string().optional(),
    files: list(
      z.object({ path: z.string(), sha256: z.string().nullable(), text: z.string().optional() }),
    ).optional(),
    before: z
      .object({
        hash: z.string(),
        author: z.string(),
        created_at: z.string(),
        changed: strings.nullable(),
        diff: z.string(),
      })
      .nullable()
      .optional(),
  }),
])

export const InboxItemEntry = z.object({
  item_id: z.string(),
  kind: itemKind,
  status: itemStatus,
  reason: z.string(),
  mission_id: z.string().nullable(),
  task_id: z.string().nullable(),
  attempt_id: z.string().nullable(),
  issue_id: z.string().nullable(),
  run_id: z.string().nullable(),
  request: ItemRequestEntry.nullable(),
  /** The agent's own account of its work meanwhile. */
  workaround: z.string().nullable(),
  /** The first of its paths, and their number. */
  paths: strings,
  paths_total: z.int(),
  opened_by: z.string(),
  /** The person behind the agent that opened it, on a server with people. */
  opened_by_person: z.string().nullable(),
  opened_at: z.string(),
  /** The possible answers, while it is open. */
  answers: list(z.object({ verb: z.string(), command: z.string() })),
  answer: z.string().nullable(),
  action: z.enum(itemAnswers).nullable(),
  closed_by: z.string().nullable(),
  closed_at: z.string().nullable(),
})
export type InboxItemEntry = z.output<typeof InboxItemEntry>

function requestEntry(request: InboxItemRequest): z.output<typeof ItemRequestEntry> {
  if (request.kind !== 'command') return request
  const { before, ...rest } = request
  if (!before) return { ...rest, ...(before === null && { before }) }
  const { createdAt, ...approved } = before
  return { ...rest, before: { ...approved, created_at: instant(createdAt) } }
}

export function inboxItemEntry({ item, issue, opener }: InboxItemLine, personOf: NameBehind): InboxItemEntry {
  return {
    item_id: item.id,
    kind: item.kind,
    status: item.status,
    reason: excerpt(item.reason, 1000),
    mission_id: item.missionId,
    task_id: item.taskId,
    attempt_id: item.attemptId,
    issue_id: item.issueId,
    run_id: item.runId,
    request: item.request && requestEntry(item.request),
    workaround: issue ? excerpt(issue.resolution, 1000) || null : null,
    paths: item.paths.slice(0, 50),
    paths_total: item.paths.length,
    opened_by: item.openedBy,
    // Items opened by Waymark have no opener, whoever acted then.
    opened_by_person:
      opener !== null && displayName({ actor: opener }) === item.openedBy ? personOf(opener) : null,
    opened_at: instant(item.openedAt),
    answers: item.status === 'open' ? possibleAnswers(item) : [],
    answer: item.answer,
    action: item.action,
    closed_by: item.closedBy,
    closed_at: instantOrNull(item.closedAt),
  }
}

/** An item with the reason why the caller cannot approve it. */
export const PermittedItemEntry = InboxItemEntry.extend({ cannot_approve: z.string().nullable() })

/** An item with the answers that the caller's access allows. A process decides about its own items. */
export function permittedItemEntry(
  line: InboxItemLine,
  personOf: NameBehind,
  permissions: CallerPermissions | undefined,
): z.output<typeof PermittedItemEntry> {
  const entry = inboxItemEntry(line, personOf)
  const { kind, status, request } = line.item
  const isUnlimited = answerDenial(null, permissions) === null
  if (isUnlimited || status !== 'open' || request?.kind === 'decision')
    return { ...entry, cannot_approve: null }
  const denial = answerDenial(kind === 'blocker' ? line.opener : null, permissions)
  return {
    ...entry,
    answers: denial === null ? entry.answers.filter(({ verb }) => verb === 'Answer') : [],
    cannot_approve: denial,
  }
}

/** The possible answers to an item. Work on a task is reviewed first, and lost files are restored. */
function possibleAnswers({ id, kind, taskId }: InboxItem): InboxItemEntry['answers'] {
  const reviewCommand = {
    verb: 'Review the work',
    command: `waymark review ${taskId}`,
  }
  const isReviewed = kind === 'review' || kind === 'verdict'
  const isWork = isReviewed || kind === 'scope'
  const verbs = verbsFor(kind).map((verb) => ({
    verb: isWork && verb === 'reject' ? 'Send back' : verbWords[verb],
    command: commandFor(verb, id),
  }))
  if (kind === 'loss') return [{ verb: 'Restore', command: restoreCommand(id) }, ...verbs]
  return isReviewed && taskId !== null ? [reviewCommand, ...verbs] : verbs
}

const verbWords = { answer: 'Answer', approve: 'Approve', reject: 'Reject', dismiss: 'Dismiss' } as const

export const BlockerEntry = z.object({
  id: z.string(),
  item_id: z.string(),
  task_id: z.string().nullable(),
  type: z.enum([...Object.values(issueWords), 'REVIEW']),
  description: z.string(),
  resolution: z.string().nullable(),
  created_at: z.string(),
  resolved: z
    .object({
      closed_by: z.string().nullable(),
      closed_at: z.string().nullable(),
      answer: z.string().nullable(),
      status: itemStatus,
      /** The action in plain words, if known: an approval and a rejection both end a review. */
      action: z.enum(itemAnswers).optional(),
    })
    .optional(),
})
export type BlockerEntry = z.output<typeof BlockerEntry>

/** A blocker: an issue for a person, or a review requested by a completion. */
export function blockerEntry({ item, issue }: Pick<InboxItemLine, 'item' | 'issue'>): BlockerEntry {
  return {
    id: issue?.id ?? item.id,
    item_id: item.id,
    task_id: item.taskId,
    type: issue ? issueWords[issue.type] : 'REVIEW',
    description: excerpt(issue?.description ?? item.reason),
    resolution: issue ? excerpt(issue.resolution) || null : null,
    created_at: instant(item.openedAt),
    ...(item.status !== 'open' && {
      resolved: {
        closed_by: item.closedBy,
        closed_at: instantOrNull(item.closedAt),
        answer: item.answer === null ? null : excerpt(item.answer, 1000),
        // To be sent back or rejected is an answer, too.
        status: item.action === null || item.action === 'dismissed' ? item.status : 'resolved',
        ...(item.action !== null && { action: item.action }),
      },
    }),
  }
}

const answeredBudget = 2_000

/** Items that a person answered, newest first, as the agent reads them that waited. */
export function answeredEntries(items: readonly InboxItemLine[]): readonly BlockerEntry[] {
  const entries = items.map(blockerEntry)
  return entries.slice(0, fitSections([{ name: 'answered', entries }], answeredBudget).get('answered'))
}

/** An open item as the waiting agent reads it. */
export const WaitingEntry = z.object({ item_id: z.string(), kind: itemKind, question: z.string() })
export type WaitingEntry = z.output<typeof WaitingEntry>

export function openItemEntry({ id, kind, reason }: InboxItem): WaitingEntry {
  return { item_id: id, kind, question: excerpt(reason, 300) }
}

const maxToReview = 500

/** The tasks that wait for a person's review, as on the board. */
export async function tasksToReview(
  { inboxItems }: Reads,
  missionId?: MissionId,
): Promise<ReadonlySet<TaskId>> {
  const { items } = await inboxItems.list(
    { status: 'open', kinds: itemKindsClosedByReview, ...(missionId !== undefined && { missionId }) },
    { limit: maxToReview },
  )
  return new Set(items.flatMap(({ item: { item } }) => item.taskId ?? []))
}

import type { InboxItem } from '../../../inbox/domain/inbox-item.ts'
import { instant } from '../../../kernel/instant.ts'
import { isJsonObject, type JsonObject } from '../../../kernel/json.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { RunEvent, RunRecord } from '../../domain/run.ts'

/** A person's comment on a run, given with a decision. */
export interface RunRemark {
  readonly author: string
  /** The decision: an event, `approved plan`, `dismissed command`. */
  readonly did: string
  readonly words: string
  readonly created_at: string
  /** The state that the decision moved the run to; null if it did not move. */
  readonly to: string | null
}

const notApproved = 'did not approve'
const maxRemarks = 3
const maxSources = 10
const maxWordsLength = 1000

/** The latest remarks of people about a run, newest first: from events, approvals and closed items. */
export async function runRemarks(
  { runs, inboxItems }: Pick<Reads, 'runs' | 'inboxItems'>,
  { id }: Pick<RunRecord, 'id'>,
): Promise<readonly RunRemark[]> {
  const [history, given, answered] = await Promise.all([
    runs.history(id, { limit: maxSources }),
    runs.approvals(id),
    inboxItems.answeredOfRun(id, maxSources),
  ])
  const events = history.items.flatMap(({ item }) => eventRemarks(item))
  const approvals = given.flatMap(({ author, artifact, reason, createdAt }) =>
    reason === null
      ? []
      : [{ author, did: `approved ${artifact ?? 'the state'}`, words: reason, at: createdAt, to: null }],
  )
  const closed = answered.flatMap(({ closedBy, kind, status, answer, closedAt }) =>
    !isAnswered({ kind, status }) || answer === null || closedAt === null
      ? []
      : [
          {
            author: closedBy ?? '',
            did: itemOutcome({ kind, status }),
            words: answer,
            at: closedAt,
            to: null,
          },
        ],
  )
  return [...events, ...approvals, ...closed]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, maxRemarks)
    .map(({ words, at, ...remark }) => ({
      ...remark,
      words: excerpt(words, maxWordsLength),
      created_at: instant(at),
    }))
}

/** Whether a person answered an item: a run resolves its own items when it moves on. */
function isAnswered({ kind, status }: Pick<InboxItem, 'kind' | 'status'>): boolean {
  return kind === 'command' || ((kind === 'approval' || kind === 'scope') && status === 'dismissed')
}

function itemOutcome({ kind, status }: Pick<InboxItem, 'kind' | 'status'>): string {
  if (kind === 'scope') return 'did not accept the changes'
  return kind === 'approval' ? notApproved : `${status} ${kind}`
}

/** The remarks with that of an event first. */
export function remarksWithEvent(event: RunEvent, before: readonly RunRemark[]): readonly RunRemark[] {
  const now = eventRemarks(event).map(({ words, at, ...remark }) => {
    return { ...remark, words: excerpt(words, maxWordsLength), created_at: instant(at) }
  })
  return [...now, ...before]
}

function eventRemarks({
  kind,
  event,
  payload,
  identity: author,
  author: name,
  to,
  createdAt,
  stateChanged,
}: RunEvent) {
  if (author?.startsWith('person ') !== true) return []
  const words = kind === 'event' ? wordsIn(payload) : null
  return words === null
    ? []
    : [{ author: name, did: event, words, at: createdAt, to: stateChanged ? to : null }]
}

/** Payload fields that may hold a reason, in order of preference. */
export const reasonFields = ['reason', 'comment', 'message', 'feedback', 'note'] as const

/** The reason in a payload. */
export function wordsIn(payload: JsonObject): string | null {
  if (!isJsonObject(payload)) return null
  const words = reasonFields.map((name) => payload[name]).find((value) => typeof value === 'string')
  return typeof words === 'string' && words.trim() !== '' ? words : null
}

/** A state's prompt with the remark of the person who moved the run there. */
export function promptWithWords(
  prompt: string | null,
  state: string,
  remarks: readonly RunRemark[],
): string | null {
  const moveIndex = remarks.findIndex(({ to }) => to !== null)
  const lastMove = remarks[moveIndex]
  const rejections = remarks
    .slice(0, moveIndex === -1 ? remarks.length : moveIndex)
    .filter(({ did }) => did === notApproved)
  const lines = [...rejections.slice(0, 1), ...(lastMove?.to === state ? [lastMove] : [])].map(formatRemark)
  return lines.length === 0
    ? prompt
    : [...(prompt === null ? [] : [prompt.trimEnd(), '']), ...lines].join('\n')
}

export function formatRemark({ author, did, words }: RunRemark): string {
  return `${author} (${did}) says: ${words}`
}

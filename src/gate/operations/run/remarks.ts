import { instant } from '../../../kernel/instant.ts'
import { isJsonObject, type JsonObject } from '../../../kernel/json.ts'
import { excerpt } from '../../../kernel/text.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { InboxItem } from '../../../track/domain/records.ts'
import type { RunEvent, RunRecord } from '../../domain/run.ts'

/** What a person said about a run when they decided something about it, newest first. */
export interface RunRemark {
  readonly author: string
  /** What they did: an event, `approved plan`, `dismissed command`. */
  readonly did: string
  readonly words: string
  readonly created_at: string
  /** The state that it brought the run to; null where it moved nothing. */
  readonly to: string | null
}

const notApproved = 'did not approve'
const maxSaid = 3
const lookedAt = 10
const longest = 1000

/** The last words of people about a run: of their events, of approvals, and of questions that they closed. */
export async function runRemarks(
  { runs, inboxItems }: Pick<Reads, 'runs' | 'inboxItems'>,
  { id }: Pick<RunRecord, 'id'>,
): Promise<readonly RunRemark[]> {
  const [history, given, answered] = await Promise.all([
    runs.history(id, { limit: lookedAt }),
    runs.approvals(id),
    inboxItems.answeredOfRun(id, lookedAt),
  ])
  const events = history.items.flatMap(({ item }) => eventRemarks(item))
  const approvals = given.flatMap(({ author, of, reason, createdAt }) =>
    reason === null
      ? []
      : [{ author, did: `approved ${of ?? 'the state'}`, words: reason, at: createdAt, to: null }],
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
    .slice(0, maxSaid)
    .map(({ words, at, ...said }) => ({ ...said, words: excerpt(words, longest), created_at: instant(at) }))
}

/** What is waited for in a state ends by itself as resolved; dismissed it was by a person, in words. */
function isAnswered({ kind, status }: Pick<InboxItem, 'kind' | 'status'>): boolean {
  return kind === 'command' || ((kind === 'approval' || kind === 'scope') && status === 'dismissed')
}

function itemOutcome({ kind, status }: Pick<InboxItem, 'kind' | 'status'>): string {
  if (kind === 'scope') return 'did not accept the changes'
  return kind === 'approval' ? notApproved : `${status} ${kind}`
}

/** What was said before an event, and with it. */
export function remarksWithEvent(event: RunEvent, before: readonly RunRemark[]): readonly RunRemark[] {
  const now = eventRemarks(event).map(({ words, at, ...said }) => {
    return { ...said, words: excerpt(words, longest), created_at: instant(at) }
  })
  return [...now, ...before]
}

function eventRemarks({
  kind,
  event,
  payload,
  identity: author,
  author: by,
  to,
  createdAt,
  stateChanged,
}: RunEvent) {
  if (author?.startsWith('person ') !== true) return []
  const words = kind === 'event' ? wordsIn(payload) : null
  return words === null
    ? []
    : [{ author: by, did: event, words, at: createdAt, to: stateChanged ? to : null }]
}

/** Where a reason is kept in a payload, in the order in which they are looked for. */
export const wordsForReason = ['reason', 'comment', 'message', 'feedback', 'note'] as const

function wordsIn(payload: JsonObject): string | null {
  if (!isJsonObject(payload)) return null
  const words = wordsForReason.map((name) => payload[name]).find((value) => typeof value === 'string')
  return typeof words === 'string' && words.trim() !== '' ? words : null
}

/** A state's prompt with what the person said who brought the run there. */
export function promptWithWords(
  prompt: string | null,
  state: string,
  said: readonly RunRemark[],
): string | null {
  const moved = said.findIndex(({ to }) => to !== null)
  const last = said[moved]
  const noes = said.slice(0, moved === -1 ? said.length : moved).filter(({ did }) => did === notApproved)
  const lines = [...noes.slice(0, 1), ...(last?.to === state ? [last] : [])].map(formatRemark)
  return lines.length === 0
    ? prompt
    : [...(prompt === null ? [] : [prompt.trimEnd(), '']), ...lines].join('\n')
}

export function formatRemark({ author, did, words }: RunRemark): string {
  return `${author} (${did}) says: ${words}`
}

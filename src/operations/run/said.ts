import { excerpt } from '../../domain/budget.ts'
import { isJsonObject, type JsonObject } from '../../domain/gate/json.ts'
import type { RunEvent, RunRecord } from '../../domain/gate/run-record.ts'
import { instant } from '../../domain/instant.ts'
import type { Reads } from '../../ports/store.ts'

/** What a person said about a run when they decided something about it, newest first. */
export interface Said {
  readonly by: string
  /** What they did: an event, `approved plan`, `dismissed command`. */
  readonly did: string
  readonly words: string
  readonly at: string
  /** The state that it brought the run to; null where it moved nothing. */
  readonly to: string | null
}

const mostSaid = 3
const lookedAt = 10
const longest = 1000

/** The last words of people about a run: of their events, of approvals, and of questions that they closed. */
export async function saidOf(
  { runs, holds }: Pick<Reads, 'runs' | 'holds'>,
  { id }: Pick<RunRecord, 'id'>,
): Promise<readonly Said[]> {
  const history = await runs.history(id, { limit: lookedAt })
  const events = history.items.flatMap(({ item }) => saidByEvent(item))
  const approvals = (await runs.approvals(id)).flatMap(({ by, of, reason, at }) =>
    reason === null ? [] : [{ by, did: `approved ${of ?? 'the state'}`, words: reason, at, to: null }],
  )
  const closed = (await holds.answeredOfRun(id, lookedAt)).flatMap(
    ({ closedBy, kind, status, answer, closedAt }) =>
      kind !== 'command' || answer === null || closedAt === null
        ? []
        : [{ by: closedBy ?? '', did: `${status} ${kind}`, words: answer, at: closedAt, to: null }],
  )
  return [...events, ...approvals, ...closed]
    .toSorted((a, b) => b.at - a.at)
    .slice(0, mostSaid)
    .map(({ words, at, ...said }) => ({ ...said, words: excerpt(words, longest), at: instant(at) }))
}

function saidByEvent({ kind, event, payload, author, by, to, at, stateChanged }: RunEvent) {
  if (author?.startsWith('person ') !== true) return []
  const words = kind === 'event' ? wordsIn(payload) : null
  return words === null ? [] : [{ by, did: event, words, at, to: stateChanged ? to : null }]
}

/** Where a reason is kept in a payload, in the order in which they are looked for. */
export const wordsForReason = ['reason', 'comment', 'message', 'feedback', 'note'] as const

function wordsIn(payload: JsonObject): string | null {
  if (!isJsonObject(payload)) return null
  const words = wordsForReason.map((name) => payload[name]).find((value) => typeof value === 'string')
  return typeof words === 'string' && words.trim() !== '' ? words : null
}

/** A state's prompt with what the person said who brought the run there. */
export function promptWithWords(prompt: string | null, state: string, said: readonly Said[]): string | null {
  const last = said.find(({ to }) => to !== null)
  if (!last || last.to !== state) return prompt
  return [...(prompt === null ? [] : [prompt.trimEnd(), '']), saidLine(last)].join('\n')
}

export function saidLine({ by, did, words }: Said): string {
  return `${by} (${did}) says: ${words}`
}

import { setNewest } from '../../kernel/limited-map.ts'
import type { ReadEvent } from './read-event.ts'

/** Events that were read lately, by the key that makes two of them the same. */
export type RecentEvents = Map<string, { readonly key: string; readonly at: number }>

const sameCall = 10 * 60_000
const samePayload = 2000
const most = 2000

/**
 * Whether an event repeats another one: a client that finds the hook in two files runs it twice. A call of a session
 * has one beginning and one end. Without an id of the call, equal payloads within two seconds are the same.
 */
export function isDuplicateEvent({ key, at, event }: ReadEvent, seen: RecentEvents): boolean {
  if (isDoubleEdit({ key, at, event }, seen)) return true
  const call = event.call ?? event.pair
  const agent = event.agent?.id ?? ''
  const sign = `${event.session} ${agent} ${event.kind} ${call ?? event.hash}`
  const before = seen.get(sign)
  const within = event.call === null ? samePayload : sameCall
  const isSame = before !== undefined && before.key !== key && Math.abs(at - before.at) <= within
  if (isSame) return true
  setNewest(seen, most, sign, { key, at })
  // After the end of a call without an id, the same call may happen again.
  if (event.pair !== null) seen.delete(`${event.session} ${agent} ${otherEnd(event.kind)} ${event.pair}`)
  return false
}

/** Cursor reports an edit by its file and by its call. The event with less detail is left out. */
function isDoubleEdit({ key, at, event }: ReadEvent, seen: RecentEvents): boolean {
  const signs = event.edits.map(({ path }) => `${event.session} edit of ${path}`)
  if (event.kind === 'edit_began') for (const sign of signs) seen.set(sign, { key, at })
  if (event.kind !== 'edit_ended' || event.tool !== null) return false
  return signs.some((sign) => at - (seen.get(sign)?.at ?? Number.NEGATIVE_INFINITY) <= sameCall)
}

function otherEnd(kind: string): string {
  return kind.endsWith('_began') ? kind.replace('_began', '_ended') : kind.replace('_ended', '_began')
}

import { type IdKind, type IdSource, idPrefixes } from '../../kernel/id.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const length = 12

/** Ids that are the same each time that a call is prepared: a brief may name them. */
export function callIds({
  fingerprint,
  callKey = '',
  ids,
}: Pick<RecordContext, 'fingerprint' | 'callKey' | 'ids'>): IdSource {
  const counted = new Map<IdKind, number>()
  return {
    hash: (secret) => ids.hash(secret),
    next: (kind: IdKind) => {
      const number = counted.get(kind) ?? 0
      counted.set(kind, number + 1)
      const hash = fingerprint([callKey, kind, number])
      const characters = Array.from(
        { length },
        (_, at) => alphabet[Number.parseInt(hash.slice(2 * at, 2 * at + 2), 16) % alphabet.length],
      )
      return `${idPrefixes[kind]}-${characters.join('')}` as never // the kind names the brand
    },
  }
}

import type { DocumentTask } from '../domain/plan/document/plan-document.ts'

type Standing = Pick<DocumentTask, 'status' | 'resolution'>

/** What a word of another program means here. */
export interface ForeignStatus extends Standing {
  /** The word says more than our status does, so it is kept in the description. */
  readonly keepWord?: true
}

export const toDo: ForeignStatus = { status: 'to_do', resolution: null }
export const inProgress: ForeignStatus = { status: 'in_progress', resolution: null }
export const done: ForeignStatus = { status: 'done', resolution: null }
export const dropped: ForeignStatus = { status: 'done', resolution: 'dropped' }

/** Words in lower case without spaces, `-` and `_`. */
export type StatusWords = Readonly<Record<string, ForeignStatus>>

/** Null for a word that is not in the table. */
export function foreignStatus(words: StatusWords, word: string): ForeignStatus | null {
  const plain = word.toLowerCase().replace(/[\s_-]+/g, '')
  return Object.hasOwn(words, plain) ? (words[plain] ?? null) : null
}

export function unknownStatus(place: string, word: string): string {
  return `${place}: the status "${word}" is unknown; the task counts as to do.`
}

import { type Hold, type HoldKind, holdKinds } from './records.ts'

/** What of the open holds about a task holds up what depends on it, by the word that the project set. */
const holding = {
  blockers: ['blocker', 'review'],
  all: holdKinds,
  none: [],
} as const satisfies Record<string, readonly HoldKind[]>

export type HoldsGate = keyof typeof holding

/** The default where nothing is set, or a word of a later version. */
export function holdsGateOf(setting: string | undefined): HoldsGate {
  return setting === 'all' || setting === 'none' ? setting : 'blockers'
}

export function holdingKinds(setting: string | undefined): readonly HoldKind[] {
  return holding[holdsGateOf(setting)]
}

/** What waits for a person, as an agent reads it. */
export interface Waiting {
  readonly hold_id: string
  readonly kind: HoldKind
  readonly question: string
}

const longestQuestion = 300

export function waitingOf({ id, kind, reason }: Pick<Hold, 'id' | 'kind' | 'reason'>): Waiting {
  const question = reason.length <= longestQuestion ? reason : `${reason.slice(0, longestQuestion - 1)}…`
  return { hold_id: id, kind, question }
}

import type { NewFact } from '../fact.ts'
import { Failure } from '../failure.ts'
import { instant } from '../instant.ts'
import { excerpt } from '../text.ts'
import { type Hold, type HoldKind, holdKinds } from './records.ts'
import type { Attempt } from './task.ts'

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
  const question = excerpt(reason, longestQuestion)
  return { hold_id: id, kind, question }
}

/** One way to end a hold: a word for it, and the command that does it. */
export interface HoldAnswer {
  readonly verb: string
  readonly command: string
}

/** What a person can say to a hold. What asks is answered in words; a yes alone is for what asks for one. */
export function answersTo({ id, kind }: Pick<Hold, 'id' | 'kind'>): readonly HoldAnswer[] {
  const answer = { verb: 'Answer', command: `waymark resolve ${id} "<answer>"` }
  const dismiss = (verb: string) => ({ verb, command: `waymark resolve ${id} --dismiss` })
  const approve = { verb: 'Approve', command: `waymark approve ${id}` }
  switch (kind) {
    case 'blocker':
      return [answer, dismiss('Dismiss')]
    case 'review':
      return [answer, approve, dismiss('Dismiss')]
    case 'scope':
      return [
        { verb: 'Accept the files', command: `waymark resolve ${id}` },
        dismiss('Leave them out of scope'),
      ]
    case 'approval':
    case 'command':
      return [approve, { verb: 'Reject', command: `waymark reject ${id} "<reason>"` }]
    case 'stale_attempt':
      return [{ verb: 'Give it up', command: `waymark resolve ${id}` }, dismiss('Let it go on')]
  }
}

/** A person ends a hold. Resolving a stale attempt's hold abandons the attempt; dismissing it lets the attempt go on. */
export function resolveHold(
  hold: Hold,
  ending: { readonly status: 'resolved' | 'dismissed'; readonly answer: string | null },
  attempt: Attempt | null,
): readonly NewFact[] {
  if (hold.status !== 'open') {
    const when = hold.closedAt === null ? '' : ` at ${instant(hold.closedAt)}`
    throw new Failure('CONFLICT', `Hold ${hold.id} was already ${hold.status} by ${hold.closedBy}${when}.`, {
      hint: 'waymark inbox lists the holds that are open.',
    })
  }
  const closed: NewFact = {
    kind: 'hold.closed',
    holdId: hold.id,
    missionId: hold.missionId,
    taskId: hold.taskId,
    ...ending,
  }
  if (hold.kind !== 'stale_attempt' || attempt?.status !== 'open') return [closed]
  const about = { attemptId: attempt.id, taskId: attempt.taskId, missionId: attempt.missionId }
  if (ending.status === 'dismissed') return [closed, { kind: 'attempt.continued', ...about }]
  // Who has spoken since is not silent: giving the attempt up now would take it from somebody at work.
  if (attempt.lastCallAt > hold.openedAt) return [closed]
  const reason = ending.answer ?? 'A person gave up a stale attempt.'
  return [closed, { kind: 'attempt.abandoned', ...about, reason }]
}

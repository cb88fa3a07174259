import { candidates } from './candidates.ts'
import { eventNamed, type NamedGuard, type ProcessDefinition, stateNamed } from './definition.ts'
import { guardNames } from './expression.ts'
import { eventFor } from './plain-answer.ts'
import { reachable } from './reach.ts'

/** One event that a person may decide for, and what it means to decide so. */
export interface DecisionChoice {
  readonly event: string
  readonly description: string | null
  /** `yes` and `no` are what a plain word means; `other` has a name of its own. */
  readonly answer: 'yes' | 'no' | 'other'
  /** It leads back, or to a failed end: whoever worked is told why. */
  readonly sendsBack: boolean
  /** A guard of it asks for an approval: to send it is to approve. */
  readonly approves: boolean
  /** What its payload must hold beside a reason. */
  readonly asksFor: readonly string[]
}

/** What each event means that a run in this state waits for, in the order given. */
export function decisionChoices(
  definition: ProcessDefinition,
  state: string,
  events: readonly string[],
): readonly DecisionChoice[] {
  const [yes, no] = [eventFor('approve', events), eventFor('reject', events)]
  return events.map((event) => {
    const ways = candidates(definition, state, event)
    const guards = ways.flatMap(({ guard }) => guardNames(guard))
    const required = requiredOf(eventNamed(definition, event)?.payloadSchema?.['required'])
    return {
      event,
      description: eventNamed(definition, event)?.description ?? null,
      answer: event === yes ? 'yes' : event === no ? 'no' : 'other',
      sendsBack:
        event !== yes &&
        (event === no ||
          required.includes('reason') ||
          ways.every(({ to }) => isBack(definition, state, to))),
      approves: guards.some((name) => definition.guards.some((guard) => isApproval(guard, name))),
      asksFor: required.filter((name) => name !== 'reason'),
    }
  })
}

/** Nearer to the beginning than where it is, the same again, or a failed end. */
function isBack(definition: ProcessDefinition, state: string, to: string): boolean {
  if (stateNamed(definition, to)?.outcome === 'failed') return true
  const steps = reachable(definition, definition.initialState)
  return (steps.get(to) ?? Infinity) <= (steps.get(state) ?? 0) && !stateNamed(definition, to)?.isFinal
}

function isApproval({ name, guard }: NamedGuard, wanted: string): boolean {
  return name === wanted && guard.type === 'approval'
}

function requiredOf(required: unknown): readonly string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : []
}

import type { NewFact } from '../../events/domain/fact.ts'
import type { Beside } from '../../store/ports/store.ts'
import type { StepPlace } from '../domain/step.ts'

const mostInFact = 2_000

/** The facts that hashes are forgotten with, and what is removed from older facts beside them. */
export function forgetting(
  of: string,
  steps: readonly StepPlace[],
): { readonly facts: readonly NewFact[]; readonly beside: readonly Beside[] } {
  if (steps.length === 0) return { facts: [], beside: [] }
  const facts: NewFact[] = []
  for (let at = 0; at < steps.length; at += mostInFact) {
    facts.push({ kind: 'lines.forgotten', of, steps: steps.slice(at, at + mostInFact) })
  }
  return { facts, beside: [{ kind: 'line hashes forgotten', steps }] }
}

import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { SideWrite } from '../../store/ports/store.ts'
import type { StepPosition } from '../domain/step.ts'

const mostInFact = 2_000

/** The facts that hashes are forgotten with, and what is removed from older facts beside them. */
export function hashRemoval(
  of: string,
  steps: readonly StepPosition[],
): { readonly facts: readonly NewProjectEvent[]; readonly beside: readonly SideWrite[] } {
  if (steps.length === 0) return { facts: [], beside: [] }
  const facts: NewProjectEvent[] = []
  for (let at = 0; at < steps.length; at += mostInFact) {
    facts.push({ kind: 'lines.forgotten', of, steps: steps.slice(at, at + mostInFact) })
  }
  return { facts, beside: [{ kind: 'line hashes forgotten', steps }] }
}

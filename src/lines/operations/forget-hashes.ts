import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { SideWrite } from '../../store/ports/store.ts'
import type { StepPosition } from '../domain/line-hashes.ts'

const maxInEvent = 2_000

/** The log entries that delete hashes, and the parts to remove from older log entries. */
export function hashRemoval(
  subject: string,
  steps: readonly StepPosition[],
): { readonly events: readonly NewProjectEvent[]; readonly sideWrites: readonly SideWrite[] } {
  if (steps.length === 0) return { events: [], sideWrites: [] }
  const events: NewProjectEvent[] = []
  for (let at = 0; at < steps.length; at += maxInEvent) {
    events.push({ kind: 'lines.forgotten', subject, steps: steps.slice(at, at + maxInEvent) })
  }
  return { events, sideWrites: [{ kind: 'line hashes forgotten', steps }] }
}

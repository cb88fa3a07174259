import { excerpt } from '../../domain/budget.ts'
import { secondsBetween } from '../../domain/instant.ts'
import type { Mission, Phase } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'

const mostPhases = 16

/** The phases that matter now, where a mission has too many to list: the current one and those around it. */
export function phasesAround(current: number, phases: readonly Phase[]): readonly Phase[] {
  const at = phases.findIndex(({ number }) => number === current)
  const last = phases.length - mostPhases
  const first = Math.min(at === -1 ? last : at - mostPhases / 2, last)
  return phases.slice(Math.max(first, 0)).slice(0, mostPhases)
}

/** One line per phase, in phase order. A running phase's duration counts to its last completion. */
export async function phaseSummary(reads: Reads, mission: Mission, phases: readonly Phase[]) {
  const tallies = new Map((await reads.missions.tallies(mission.id)).map((tally) => [tally.phaseId, tally]))
  return phases.map((phase) => {
    const tally = tallies.get(phase.id)
    const { firstStart, lastEnd } = tally ?? { firstStart: null, lastEnd: null }
    return {
      phase_number: phase.number,
      phase_id: phase.id,
      name: excerpt(phase.name, 60),
      status: phase.status.toUpperCase(),
      tasks_count: tally?.tasks ?? 0,
      duration_seconds: firstStart === null || lastEnd === null ? 0 : secondsBetween(firstStart, lastEnd),
    }
  })
}

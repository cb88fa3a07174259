import { secondsBetween } from '../../domain/instant.ts'
import type { Mission, Phase } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'

const mostPhases = 40

/** One line per phase, in phase order. A running phase's duration counts to its last completion. */
export async function phaseSummary(reads: Reads, mission: Mission, phases: readonly Phase[]) {
  const tallies = new Map((await reads.missions.tallies(mission.id)).map((tally) => [tally.phaseId, tally]))
  return phases.slice(-mostPhases).map((phase) => {
    const tally = tallies.get(phase.id)
    const { firstStart, lastEnd } = tally ?? { firstStart: null, lastEnd: null }
    return {
      phase_number: phase.number,
      name: phase.name,
      status: phase.status.toUpperCase(),
      tasks_count: tally?.tasks ?? 0,
      duration_seconds: firstStart === null || lastEnd === null ? 0 : secondsBetween(firstStart, lastEnd),
    }
  })
}

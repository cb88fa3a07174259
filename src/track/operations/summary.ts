import { runEndWords } from '../../gate/domain/gating-run.ts'
import { runRemarks } from '../../gate/operations/run/remarks.ts'
import { secondsBetween } from '../../kernel/instant.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Mission, Phase } from '../domain/mission.ts'
import { type PhaseSummary, phaseWords } from './mission-answer.ts'

const maxRuns = 5

/** The runs that gate a mission, newest first, and the failed runs of a completed one. */
export async function missionRuns(
  { runs, inboxItems }: Pick<Reads, 'runs' | 'inboxItems'>,
  { id, status }: Pick<Mission, 'id' | 'status'>,
) {
  const page = await runs.list({ missionId: id }, { limit: maxRuns })
  const remarks = await Promise.all(page.items.map(({ item }) => runRemarks({ runs, inboxItems }, item)))
  const lostRuns = status === 'completed' ? await runs.lostRuns({ missionId: id }) : []
  return {
    runs: page.items.map(({ item }, place) => ({
      run_id: item.id,
      process_id: item.process.id,
      process_name: excerpt(item.process.name, 80),
      status: item.status,
      current_state: item.state,
      ...((remarks[place]?.length ?? 0) > 0 && { messages: remarks[place] }),
    })),
    runs_total: page.total,
    completed_despite: lostRuns.slice(0, maxRuns).map(runEndWords),
  }
}

const maxPhases = 16

/** The phases around the current one, where a mission has too many to list. */
export function phasesAround(current: number, phases: readonly Phase[]): readonly Phase[] {
  const at = phases.findIndex(({ number }) => number === current)
  const last = phases.length - maxPhases
  const first = Math.min(at === -1 ? last : at - maxPhases / 2, last)
  return phases.slice(Math.max(first, 0)).slice(0, maxPhases)
}

/** One line per phase, in phase order. A running phase's duration counts to its last completion. */
export async function phaseSummary(
  reads: Reads,
  mission: Mission,
  phases: readonly Phase[],
): Promise<readonly PhaseSummary[]> {
  const tallies = new Map((await reads.missions.tallies(mission.id)).map((tally) => [tally.phaseId, tally]))
  return phases.map((phase) => {
    const tally = tallies.get(phase.id)
    const { firstStart, lastEnd } = tally ?? { firstStart: null, lastEnd: null }
    return {
      phase_number: phase.number,
      phase_id: phase.id,
      name: excerpt(phase.name, 60),
      status: phaseWords[phase.status],
      tasks_count: tally?.tasks ?? 0,
      duration_seconds: firstStart === null || lastEnd === null ? 0 : secondsBetween(firstStart, lastEnd),
    }
  })
}

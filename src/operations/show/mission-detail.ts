import { instant, instantOrNull } from '../../domain/instant.ts'
import { currentPhase, type Mission, shownStatus, totalPhases } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { holdEntry } from '../hold/inbox.ts'
import { decisionEntry, taskEntry } from '../mission/context-entries.ts'
import { missionRuns } from '../mission/mission-runs.ts'
import { phaseSummary } from '../mission/phase-summary.ts'

/** One mission: what it is for, where it stands, its last tasks and decisions, what blocks it. */
export async function missionDetail(reads: Reads, mission: Mission) {
  const { missions, tasks, records, holds } = reads
  const filter = { missionId: mission.id }
  const phases = await missions.phases(mission.id)
  const now = await missions.now(mission.id)
  const totals = await missions.totals(mission.id)
  const lastTasks = await tasks.list(filter, { limit: 20 })
  const decisions = await records.decisions(filter, { limit: 10 })
  const open = await holds.list({ ...filter, status: 'open' }, { limit: 10 })
  return {
    kind: mission.kind,
    id: mission.id,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    profile: mission.profile?.toUpperCase() ?? null,
    scope: mission.scope,
    constraints: mission.constraints,
    status: shownStatus(mission, now),
    current_phase: currentPhase(mission, phases),
    total_phases: totalPhases(mission, phases),
    files_changed: totals.distinctFilesChanged,
    phase_summary: await phaseSummary(reads, mission, phases),
    tasks: lastTasks.items.map(({ item }) => taskEntry(item)),
    tasks_total: lastTasks.total,
    decisions: decisions.items.map(({ item }) => decisionEntry(item)),
    decisions_total: decisions.total,
    holds: open.items.map(({ item }) => holdEntry(item)),
    holds_total: open.total,
    ...(await missionRuns(reads, mission)),
    summary: mission.summary,
    achievements: mission.achievements,
    limitations: mission.limitations,
    created_at: instant(mission.createdAt),
    completed_at: instantOrNull(mission.completedAt),
  }
}

import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import { currentPhase, type Mission, type Phase } from './mission.ts'
import type { TaskRequest, TaskSituation } from './task-request.ts'

export interface PhasePlacement {
  readonly phase: Phase | null
  readonly created: boolean
  readonly happenings: readonly Happening[]
  readonly notes: readonly string[]
}

const nowhere: PhasePlacement = { phase: null, created: false, happenings: [], notes: [] }

/** Finds or makes the phase that an attempt is worked on in. A workflow has phases only when they are named. */
export function placeInPhase(
  request: Pick<TaskRequest, 'phase' | 'phaseName'>,
  situation: TaskSituation,
  setting: Setting,
): PhasePlacement {
  const { mission, phases } = situation
  if (!mission) return request.phase === null ? nowhere : { ...nowhere, notes: [phaseWithoutMission] }
  const number = phaseNumber(request, situation)
  if (number === null) return nowhere
  const existing = phases.find((phase) => phase.number === number)
  if (existing) return intoExisting(existing, mission, request.phaseName)
  const phase: Phase = {
    id: setting.ids.next('phase'),
    missionId: mission.id,
    number,
    name: request.phaseName ?? `Phase ${number}`,
    status: 'pending',
    sortOrder: null,
    createdAt: setting.at,
    completedAt: null,
  }
  const longer = extended(mission, number)
  return {
    phase,
    created: true,
    happenings: [{ kind: 'phase.created', phase }, ...longer.happenings],
    notes: longer.notes,
  }
}

const phaseWithoutMission = 'A phase belongs to a mission: without mission_id the phase number was not used.'

/** The number asked for, else the phase of that name, the parent's or planned task's home, or the current phase. */
function phaseNumber(
  request: Pick<TaskRequest, 'phase' | 'phaseName'>,
  { mission, phases, parent, parentAttempt, planned }: TaskSituation,
): number | null {
  if (!mission) return null
  if (request.phase !== null) return request.phase
  const named = phases.find((phase) => phase.name.toLowerCase() === request.phaseName?.toLowerCase())
  if (named) return named.number
  const homes = [planned?.task.phaseId, parentAttempt?.phaseId, parent?.phaseId]
  const home = homes.map((id) => phases.find((phase) => phase.id === id)).find(Boolean)
  if (home) return home.number
  if (mission.kind === 'workflow') return null
  return currentPhase(mission, phases)
}

function intoExisting(phase: Phase, mission: Mission, askedName: string | null): PhasePlacement {
  const notes =
    askedName !== null && askedName !== phase.name
      ? [`Phase ${phase.number} is already named "${phase.name}"; "${askedName}" was not used.`]
      : []
  if (phase.status !== 'completed') return { phase, created: false, happenings: [], notes }
  return {
    phase: { ...phase, status: 'in_progress', completedAt: null },
    created: false,
    happenings: [{ kind: 'phase.reopened', phaseId: phase.id, missionId: mission.id }],
    notes: [...notes, `Phase ${phase.number} "${phase.name}" was completed; it is open again.`],
  }
}

function extended(mission: Mission, number: number): Pick<PhasePlacement, 'happenings' | 'notes'> {
  if (number <= mission.totalPhases) return { happenings: [], notes: [] }
  const before = mission.totalPhases
  const notes =
    mission.kind === 'workflow' && before === 0
      ? []
      : [`Phase ${number} is more than the ${before} announced; the mission now has ${number} phases.`]
  return {
    happenings: [{ kind: 'mission.extended', missionId: mission.id, totalPhases: number, before }],
    notes,
  }
}

import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import { type Mission, nextNumber, type Phase, phaseUnderWay } from './mission.ts'
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
  const { mission, phases, home } = situation
  // A planned task is worked on in its own phase, unless it is taken into another mission.
  if (home && home.missionId === (mission?.id ?? null)) return atHome(home, request)
  if (!mission) return request.phase === null ? nowhere : { ...nowhere, notes: [phaseWithoutMission] }
  const existing = existingPhase(request, situation)
  if (existing) return intoExisting(existing, request.phaseName)
  if (mission.kind === 'workflow' && request.phase === null && request.phaseName === null) return nowhere
  const number = request.phase ?? nextNumber(phases)
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

function atHome(home: Phase, request: Pick<TaskRequest, 'phase' | 'phaseName'>): PhasePlacement {
  const placed = intoExisting(home, null)
  const names = request.phaseName !== null && !isNamed(home, request.phaseName)
  const asked = request.phase !== null && request.phase !== home.number ? request.phase : null
  if (asked === null && !names) return placed
  const said = asked === null ? `"${request.phaseName}"` : `phase ${asked}`
  return {
    ...placed,
    notes: [...placed.notes, `The task is planned in ${labelOf(home)}: ${said} was not used.`],
  }
}

/** The phase of the number asked for, else of that name, else the parent's, else the current one. */
function existingPhase(
  request: Pick<TaskRequest, 'phase' | 'phaseName'>,
  { mission, phases, parent, parentAttempt }: TaskSituation,
): Phase | null {
  const { phase: number, phaseName } = request
  if (number !== null) return phases.find((phase) => phase.number === number) ?? null
  if (phaseName !== null) return phases.find((phase) => isNamed(phase, phaseName)) ?? null
  const homes = [parentAttempt?.phaseId, parent?.phaseId]
  const home = homes.map((id) => phases.find((phase) => phase.id === id)).find(Boolean)
  if (home) return home
  return mission?.kind === 'workflow' ? null : phaseUnderWay(phases)
}

function isNamed({ name }: Phase, asked: string): boolean {
  return name.toLowerCase() === asked.toLowerCase()
}

function labelOf({ id, number, name }: Phase): string {
  return `phase ${number ?? id} "${name}"`
}

function intoExisting(phase: Phase, askedName: string | null): PhasePlacement {
  const notes =
    askedName !== null && !isNamed(phase, askedName)
      ? [`Phase ${phase.number} is already named "${phase.name}"; "${askedName}" was not used.`]
      : []
  if (phase.status !== 'completed') return { phase, created: false, happenings: [], notes }
  return {
    phase: { ...phase, status: 'in_progress', completedAt: null },
    created: false,
    happenings: [{ kind: 'phase.reopened', phaseId: phase.id, missionId: phase.missionId }],
    notes: [...notes, `Phase ${phase.number ?? phase.id} "${phase.name}" was completed; it is open again.`],
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

import type { Setting } from '../id.ts'
import { type Mission, type Profile, phasesOfProfile } from './mission.ts'

export interface MissionRequest {
  readonly name: string
  readonly objective: string
  readonly description?: string | undefined
  readonly profile?: Profile | undefined
  readonly total_phases?: number | undefined
  readonly scope?: string | undefined
  readonly constraints?: string | undefined
}

export function startMission(request: MissionRequest, setting: Setting): Mission {
  const profile = request.profile ?? 'standard'
  return {
    id: setting.ids.next('mission'),
    kind: 'mission',
    name: request.name,
    objective: request.objective,
    description: request.description ?? null,
    profile,
    totalPhases: request.total_phases ?? phasesOfProfile[profile],
    scope: request.scope ?? null,
    constraints: request.constraints ?? null,
    status: 'pending',
    summary: null,
    achievements: [],
    limitations: [],
    createdAt: setting.at,
    completedAt: null,
  }
}

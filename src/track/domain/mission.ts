import type { MissionId, PhaseId } from '../../kernel/id.ts'
import { formatCount } from '../../kernel/text.ts'
import type { DoneWhen } from '../../plan/domain/done-when.ts'

export const profiles = ['simple', 'standard', 'complex'] as const
export type Profile = (typeof profiles)[number]

/** How many phases an agent expects when nobody announced a number. */
const phasesOfProfile = { simple: 2, standard: 3, complex: 4 } as const satisfies Record<Profile, number>

/** The stored statuses. BLOCKED is derived. */
export type MissionStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'partial'
export const missionEndings = ['completed', 'failed', 'partial'] as const
export type MissionEnding = (typeof missionEndings)[number]

/** A mission, or a v1 workflow: a mission without an objective. */
export interface Mission {
  readonly id: MissionId
  readonly kind: 'mission' | 'workflow'
  readonly name: string
  readonly objective: string | null
  readonly description: string | null
  readonly profile: Profile | null
  /** As announced; 0 if nobody announced a number. */
  readonly totalPhases: number
  readonly scope: string | null
  readonly constraints: string | null
  /** What each of its tasks promises; absent for nothing. */
  readonly doneWhen?: DoneWhen
  readonly status: MissionStatus
  readonly summary: string | null
  readonly achievements: readonly string[]
  readonly limitations: readonly string[]
  readonly createdAt: number
  readonly completedAt: number | null
}

export const phaseStatuses = ['pending', 'in_progress', 'completed', 'failed'] as const
export type PhaseStatus = (typeof phaseStatuses)[number]

/** A phase of a mission (numbered) or of the project's own plan (named by people, outside any mission). */
export interface Phase {
  readonly id: PhaseId
  readonly missionId: MissionId | null
  readonly number: number | null
  readonly name: string
  readonly status: PhaseStatus
  /** The position that people gave it; phases without one follow by number, then creation. */
  readonly sortOrder: number | null
  readonly createdAt: number
  readonly completedAt: number | null
}

export function isEnded(mission: Mission): boolean {
  return mission.status === 'completed' || mission.status === 'failed' || mission.status === 'partial'
}

/** The work that an ended mission left. */
export interface LeftWork {
  readonly not_done: number
  /** Those that are not done any more: a person sent them back or took them up again. */
  readonly to_do_again: number
  /** Done tasks that are contradicted, and that nobody accepted. */
  readonly contradicted: number
}

export function leftWorkText({ not_done, to_do_again, contradicted }: LeftWork): string {
  const again = to_do_again === 0 ? '' : ` (${to_do_again} to do again)`
  return [
    ...(not_done === 0 ? [] : [`${formatCount(not_done, 'task')} not done${again}`]),
    ...(contradicted === 0 ? [] : [`${formatCount(contradicted, 'task')} contradicted`]),
  ].join(', ')
}

/** BLOCKED is a mission in progress that has an open blocker and no attempt running. */
export function shownStatus(
  mission: Mission,
  now: { readonly openBlockers: number; readonly openAttempts: number },
): Uppercase<MissionStatus> | 'BLOCKED' {
  if (mission.status === 'in_progress' && now.openBlockers > 0 && now.openAttempts === 0) return 'BLOCKED'
  return mission.status.toUpperCase() as Uppercase<MissionStatus> // toUpperCase loses the literal type
}

/** A phase of a mission, and whether it has tasks. */
export interface PhaseWithWork extends Phase {
  readonly hasWork: boolean
}

/** The first open phase with work, else the first open phase, else none. */
export function currentPhaseOf(phases: readonly PhaseWithWork[]): PhaseWithWork | null {
  const open = phases.filter(({ status }) => status !== 'completed' && status !== 'failed')
  return open.find(({ hasWork }) => hasWork) ?? open[0] ?? null
}

/** The number that a new phase gets: the lowest that is free. */
export function nextNumber(phases: readonly Pick<Phase, 'number'>[]): number {
  const used = new Set(phases.map(({ number }) => number))
  let number = 1
  while (used.has(number)) number += 1
  return number
}

/** The number of the current phase; the next one where all are completed, at most the total. */
export function currentPhase(mission: Mission, phases: readonly PhaseWithWork[]): number {
  if (mission.status === 'completed') return Math.max(1, ...phases.map(({ number }) => number ?? 1))
  const current = currentPhaseOf(phases)
  return current?.number ?? Math.min(nextNumber(phases), Math.max(expectedPhases(mission, phases), 1))
}

/** The announced total, or what the profile expects, or the number of phases if that is higher. */
export function expectedPhases(mission: Mission, phases: readonly Phase[]): number {
  const { profile, totalPhases: announced } = mission
  const expected = announced === 0 && profile !== null ? phasesOfProfile[profile] : announced
  return Math.max(expected, countPhases(phases))
}

/**
 * The phases that there are, or the announced total if that is higher. The current one may be one more: all are completed,
 * and the profile expects another.
 */
export function phaseProgress(
  mission: Mission,
  phases: readonly PhaseWithWork[],
): { readonly current_phase: number; readonly total_phases: number } {
  return {
    current_phase: currentPhase(mission, phases),
    total_phases: Math.max(mission.totalPhases, countPhases(phases)),
  }
}

/** A phase may have a higher number than there are phases. */
function countPhases(phases: readonly Phase[]): number {
  return Math.max(phases.length, ...phases.map(({ number }) => number ?? 0))
}

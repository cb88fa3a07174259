import { Failure } from '../../domain/failure.ts'
import type { Milestone, PlannedTask, PlanOwner, PlanSpan } from '../../domain/plan/plan.ts'
import type { Phase } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { findMission } from '../find/entities.ts'

/** Each finds what a plan names, or fails with taskman's words and the call that lists what there is. */
export async function findPhase(reads: Reads, id: string): Promise<Phase> {
  const phase = await reads.plan.phase(id)
  if (phase) return phase
  throw new Failure('NOT_FOUND', `phase not found: ${id}`, {
    hint: 'taskman_phase_list lists the phases; taskman_phase_add makes one.',
  })
}

export async function findMilestone(reads: Reads, id: string): Promise<Milestone> {
  const milestone = await reads.plan.milestone(id)
  if (milestone) return milestone
  throw new Failure('NOT_FOUND', `milestone not found: ${id}`, {
    hint: 'taskman_milestone_list lists the milestones; taskman_milestone_add makes one.',
  })
}

export async function findPlanned(reads: Reads, id: string): Promise<PlannedTask> {
  const planned = await reads.plan.task(id)
  if (planned) return planned
  throw new Failure('NOT_FOUND', `task not found: ${id}`, {
    hint: 'taskman_task_list lists the tasks; taskman_task_add makes one.',
  })
}

/** What a reader looks at: without a mission every open plan, with "none" the project's own. */
export async function spanOf(reads: Reads, mission: string | undefined): Promise<PlanSpan> {
  if (mission === undefined) return 'open'
  return mission === 'none' ? null : ownerOf(reads, mission)
}

/** The mission whose plan is meant, or null for the project's own. */
export async function ownerOf(reads: Reads, mission: string | undefined): Promise<PlanOwner> {
  return mission === undefined ? null : (await findMission(reads, mission)).id
}

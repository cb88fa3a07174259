import type { MilestoneId, NoteId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import type { Claim, Milestone, Note } from '../../src/plan/domain/plan.ts'
import type { Phase } from '../../src/track/domain/mission.ts'
import type { Task } from '../../src/track/domain/task.ts'
import { aPhase, aTask } from '../support/entities.ts'

export const t = (number: number): TaskId => `t-${number}` as TaskId
export const p = (number: number): PhaseId => `P${number}` as PhaseId

/** A phase of the project's own plan. */
export function planPhase(number: number, changes: Partial<Phase> = {}): Phase {
  return aPhase(number, {
    id: p(number),
    missionId: null,
    number: null,
    name: `Phase ${number}`,
    status: 'pending',
    ...changes,
  })
}

/** A task to do of the project's own plan. */
export function planTask(number: number, changes: Partial<Task> = {}): Task {
  return aTask({ id: t(number), missionId: null, name: `Task ${number}`, status: 'to_do', ...changes })
}

export function aMilestone(number: number, changes: Partial<Milestone> = {}): Milestone {
  return {
    id: `M${number}` as MilestoneId,
    phaseId: p(1),
    name: `Milestone ${number}`,
    criterion: null,
    reached: false,
    createdAt: 1,
    ...changes,
  }
}

export function aClaim(changes: Partial<Claim> = {}): Claim {
  return { agent: 'builder', actor: 'claude', tokenHash: 'h-1', claimedAt: 10, expiresAt: 1000, ...changes }
}

export function aNote(number: number, changes: Partial<Note> = {}): Note {
  return {
    id: `n-${number}` as NoteId,
    taskId: t(1),
    content: `Note ${number}`,
    kind: null,
    role: null,
    author: 'claude',
    createdAt: number,
    ...changes,
  }
}

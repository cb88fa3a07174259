import type { InboxItem } from '../../src/inbox/domain/inbox-item.ts'
import type { Actor } from '../../src/kernel/actor.ts'
import type { AttemptId, InboxItemId, MissionId, PhaseId, TaskId } from '../../src/kernel/id.ts'
import type { Mission, PhaseWithWork } from '../../src/track/domain/mission.ts'
import type { Attempt, Task } from '../../src/track/domain/task.ts'

/** Entities for tests of pure decisions: complete, and dull unless a test says otherwise. */
export const agent: Actor = { name: 'claude', kind: 'agent', role: null, channel: 'stdio' }

export function aMission(changes: Partial<Mission> = {}): Mission {
  return {
    id: 'm-1' as MissionId,
    kind: 'mission',
    name: 'Auth',
    objective: 'Log in',
    description: null,
    profile: 'standard',
    totalPhases: 3,
    scope: null,
    constraints: null,
    status: 'in_progress',
    summary: null,
    achievements: [],
    limitations: [],
    createdAt: 0,
    completedAt: null,
    ...changes,
  }
}

export function aPhase(number: number, changes: Partial<PhaseWithWork> = {}): PhaseWithWork {
  return {
    id: `ph-${number}` as PhaseId,
    missionId: 'm-1' as MissionId,
    number,
    name: `Phase ${number}`,
    status: 'in_progress',
    sortOrder: null,
    hasWork: true,
    createdAt: 0,
    completedAt: null,
    ...changes,
  }
}

export function aTask(changes: Partial<Task> = {}): Task {
  return {
    id: 't-1' as TaskId,
    missionId: 'm-1' as MissionId,
    phaseId: null,
    milestoneId: null,
    parentTaskId: null,
    name: 'Log in',
    goal: null,
    step: null,
    role: null,
    areas: [],
    status: 'in_progress',
    resolution: null,
    sortOrder: null,
    creator: 'claude',
    createdAt: 0,
    updatedAt: 0,
    ...changes,
  }
}

export function anAttempt(changes: Partial<Attempt> = {}): Attempt {
  return {
    id: 'a-1' as AttemptId,
    taskId: 't-1' as TaskId,
    missionId: 'm-1' as MissionId,
    phaseId: null,
    number: 1,
    agentName: 'builder',
    callerType: null,
    actor: agent,
    areas: [],
    status: 'open',
    snapshot: { engine: 'git', directory: '/state/a-1', top: '/tree', prefix: '', id: 'abc' },
    endSnapshot: null,
    openedAt: 0,
    lastCallAt: 0,
    closedAt: null,
    ...changes,
  }
}

export function anItem(changes: Partial<InboxItem> = {}): InboxItem {
  return {
    id: 'h-1' as InboxItemId,
    kind: 'blocker',
    missionId: 'm-1' as MissionId,
    phaseId: null,
    taskId: 't-1' as TaskId,
    attemptId: 'a-1' as AttemptId,
    issueId: null,
    runId: null,
    request: null,
    reason: 'The API needs a key.',
    paths: [],
    openedBy: 'builder',
    openedAt: 0,
    status: 'open',
    answer: null,
    action: null,
    closedBy: null,
    closedAt: null,
    ...changes,
  }
}

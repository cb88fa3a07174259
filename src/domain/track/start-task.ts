import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import { beginPlanned } from './begin-planned.ts'
import type { Phase } from './mission.ts'
import { placeInPhase } from './phase-placement.ts'
import { endSilence } from './silence.ts'
import { mayTakeOver } from './take-over.ts'
import type { Attempt, Task } from './task.ts'
import { admitTask } from './task-admission.ts'
import type { TaskRequest, TaskSituation } from './task-request.ts'

export interface StartedTask {
  readonly happenings: readonly Happening[]
  readonly task: Task
  readonly attempt: Attempt
  readonly phase: Phase | null
  readonly phaseCreated: boolean
  readonly notes: readonly string[]
  /** True when the caller's own open attempt is answered again. */
  readonly resumed: boolean
}

/** Opens an attempt at a planned task, or at a new one. */
export function startTask(request: TaskRequest, situation: TaskSituation, setting: Setting): StartedTask {
  const admitted = admitTask(situation)
  const planned = situation.planned?.task ?? null
  const open = situation.last?.status === 'open' ? situation.last : null
  const before = open ? mayTakeOver(open, { request, holds: situation.holds }, setting) : null
  if (before?.resumed) return resumed(before.resumed, situation)

  const begun = beginPlanned(request, situation, setting)
  const placement = placeInPhase(request, situation, setting)
  const task = planned ?? newTask(request, situation, placement.phase, setting)
  const attempt = newAttempt(request, { task, situation, phase: placement.phase }, setting)
  const made: readonly Happening[] = planned ? [] : [{ kind: 'task.planned', task }]
  return {
    happenings: [
      ...admitted.happenings,
      ...placement.happenings,
      ...(before?.happenings ?? []),
      ...made,
      ...begun.happenings,
      { kind: 'attempt.opened', attempt },
    ],
    task,
    attempt,
    phase: placement.phase,
    phaseCreated: placement.created,
    notes: [...admitted.notes, ...begun.notes, ...placement.notes],
    resumed: false,
  }
}

function resumed(attempt: Attempt, situation: TaskSituation): StartedTask {
  const task = situation.planned?.task
  if (!task) throw new Error('an attempt can be resumed only at a planned task')
  const { phases, home } = situation
  const phase = [home, ...phases].find((candidate) => candidate?.id === attempt.phaseId) ?? null
  const about = { attemptId: attempt.id, taskId: attempt.taskId, missionId: attempt.missionId }
  return {
    happenings: [
      ...endSilence(situation.holds, 'The agent took the attempt up again.'),
      { kind: 'attempt.continued', ...about },
    ],
    task,
    attempt,
    phase,
    phaseCreated: false,
    notes: [],
    resumed: true,
  }
}

function newTask(
  request: TaskRequest,
  situation: TaskSituation,
  phase: Phase | null,
  setting: Setting,
): Task {
  const name = request.name ?? ''
  return {
    id: setting.ids.next('task'),
    missionId: situation.mission?.id ?? null,
    phaseId: phase?.id ?? null,
    milestoneId: null,
    parentTaskId: situation.parent?.id ?? null,
    name,
    goal: request.goal ?? name,
    step: null,
    role: null,
    areas: request.areas,
    status: 'to_do',
    resolution: null,
    sortOrder: null,
    creator: request.agentName ?? request.actor.name,
    createdAt: setting.at,
    updatedAt: setting.at,
  }
}

function newAttempt(
  request: TaskRequest,
  place: { readonly task: Task; readonly situation: TaskSituation; readonly phase: Phase | null },
  setting: Setting,
): Attempt {
  return {
    id: setting.ids.next('attempt'),
    taskId: place.task.id,
    missionId: place.situation.mission?.id ?? null,
    phaseId: place.phase?.id ?? null,
    number: (place.situation.last?.number ?? 0) + 1,
    agentName: request.agentName,
    callerType: request.callerType,
    actor: request.actor,
    areas: request.areas.length > 0 ? request.areas : place.task.areas,
    status: 'open',
    snapshot: request.snapshot,
    endSnapshot: null,
    openedAt: Math.min(request.snapshotAt, setting.at),
    lastCallAt: setting.at,
    closedAt: null,
  }
}

import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { type Actor, displayName } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TaskId, TransactionContext } from '../../kernel/id.ts'
import {
  assertToken,
  assertUnclaimed,
  type Claimant,
  explicitAgentName,
  isHeld,
  isOfSameName,
} from '../../plan/domain/claims.ts'
import {
  addToDoneWhen,
  type DoneWhenChanges,
  editDoneWhen,
  newDoneWhen,
  noDoneWhen,
} from '../../plan/domain/done-when.ts'
import type { PlannedTask } from '../../plan/domain/plan.ts'
import type { Mission, Phase, PhaseWithWork } from './mission.ts'
import { admitTask, placeInPhase } from './phase-placement.ts'
import { closeStaleItems, mayTakeOver } from './take-over.ts'
import {
  type Attempt,
  type CallerType,
  type Dependency,
  isUnfinished,
  newTask,
  type SnapshotLocation,
  type Task,
} from './task.ts'

export interface StartedTask {
  readonly events: readonly NewProjectEvent[]
  readonly task: Task
  readonly attempt: Attempt
  readonly phase: Phase | null
  readonly phaseCreated: boolean
  readonly notes: readonly string[]
  /** True when the caller's own open attempt is returned again. */
  readonly resumed: boolean
}

/** Opens an attempt at a planned task, or at a new one. */
export function beginAttempt(
  request: TaskRequest,
  situation: TaskSituation,
  setting: TransactionContext,
): StartedTask {
  const admitted = admitTask(situation)
  const planned = plannedTaskOf(request, situation, setting)
  const open = situation.last?.status === 'open' ? situation.last : null
  const before = open ? mayTakeOver(open, { request, ...situation }, setting) : null
  if (before?.resumed) return resumeAttempt(before.resumed, planned, { request, situation, setting })

  const startedPlan = startPlanned(request, situation, setting)
  const placement = placeInPhase(request, situation, setting)
  const task = planned ?? taskOfRequest(request, situation, placement.phase, setting)
  const attempt = newAttempt(request, { task, situation, phase: placement.phase }, setting)
  const taskEvents: readonly NewProjectEvent[] =
    planned === null
      ? [{ kind: 'task.planned', task }]
      : plannedTaskChange(planned, situation.planned?.task ?? planned)
  return {
    events: [
      ...admitted.events,
      ...placement.events,
      ...(before?.events ?? []),
      ...taskEvents,
      ...startedPlan.events,
      { kind: 'attempt.opened', attempt },
    ],
    task,
    attempt,
    phase: placement.phase,
    phaseCreated: placement.created,
    notes: [
      ...admitted.notes,
      ...startedPlan.notes,
      ...placement.notes,
      ...ignoredFieldNotes(request, planned),
    ],
    resumed: false,
  }
}

/** The planned task with the promises that the call adds, below the parent that it names. */
function plannedTaskOf(
  { doneWhen: added, goal, actor }: TaskRequest,
  { planned, parent, last }: TaskSituation,
  { at }: TransactionContext,
): Task | null {
  if (planned === null) return null
  const { task } = planned
  const before = task.doneWhen ?? noDoneWhen
  const edit = {
    taskId: task.id,
    started: last !== null,
    author: actor.name,
    isPerson: actor.kind === 'person',
    at,
  }
  return {
    ...task,
    goal: task.goal ?? goal,
    ...(parent !== null && { parentTaskId: parent.id }),
    ...(added && { doneWhen: editDoneWhen(before, addToDoneWhen(before, added), edit) }),
  }
}

function plannedTaskChange(
  { id, goal, parentTaskId, doneWhen }: Task,
  before: Task,
): readonly NewProjectEvent[] {
  const changes = {
    ...(goal !== before.goal && { goal }),
    ...(parentTaskId !== null && parentTaskId !== before.parentTaskId && { parentTaskId }),
    ...(doneWhen && doneWhen !== before.doneWhen && { doneWhen }),
  }
  return Object.keys(changes).length === 0 ? [] : [{ kind: 'task.edited', taskId: id, changes }]
}

/** The plan's fields of a planned task win over the request's. The schema requires a name, so that its loss is no news. */
function ignoredFieldNotes({ goal }: TaskRequest, planned: Task | null): readonly string[] {
  if (planned === null || goal === null || goal === planned.goal) return []
  return [
    `The given goal was ignored: task ${planned.id} keeps that of the plan. Edit the task’s description to change it.`,
  ]
}

function resumeAttempt(
  attempt: Attempt,
  task: Task | null,
  {
    request: { actor, agentName, areas, claimToken: token },
    situation,
    setting,
  }: {
    readonly request: TaskRequest
    readonly situation: TaskSituation
    readonly setting: TransactionContext
  },
): StartedTask {
  const { planned, taskOfToken } = situation
  if (planned === null || task === null) throw new Error('only an attempt at a planned task can be resumed')
  assertToken(planned, { token, taskOfToken, claimant: { actor, agentName } }, setting)
  const { phases, home } = situation
  const phase = [home, ...phases].find((candidate) => candidate?.id === attempt.phaseId) ?? null
  const about = { attemptId: attempt.id, taskId: attempt.taskId, missionId: attempt.missionId }
  return {
    events: [
      ...closeStaleItems(situation.items, 'The agent resumed the attempt.'),
      ...plannedTaskChange(task, planned.task),
      { kind: 'attempt.continued', ...about },
    ],
    task,
    attempt,
    phase,
    phaseCreated: false,
    notes:
      areas.length === 0 || areas.join('\n') === attempt.areas.join('\n')
        ? []
        : [
            `The given scope was ignored: the open attempt keeps ${attempt.areas.join(', ') || 'none'}. Complete it and start again for another scope.`,
          ],
    resumed: true,
  }
}

function taskOfRequest(
  request: TaskRequest,
  situation: TaskSituation,
  phase: Phase | null,
  setting: TransactionContext,
): Task {
  const name = request.name ?? ''
  return newTask(
    {
      id: setting.ids.next('task'),
      missionId: situation.mission?.id ?? null,
      phaseId: phase?.id ?? null,
      parentTaskId: situation.parent?.id ?? null,
      name,
      goal: request.goal ?? name,
      areas: request.areas,
      ...newDoneWhen(request.doneWhen, request.actor),
      creator: displayName(request),
    },
    setting.at,
  )
}

function newAttempt(
  request: TaskRequest,
  place: { readonly task: Task; readonly situation: TaskSituation; readonly phase: Phase | null },
  setting: TransactionContext,
): Attempt {
  return {
    id: setting.ids.next('attempt'),
    taskId: place.task.id,
    missionId: place.situation.mission?.id ?? null,
    phaseId: place.phase?.id ?? null,
    number: (place.situation.last?.number ?? 0) + 1,
    agentName: agentNameOf(request, place.situation, setting),
    callerType: request.callerType,
    actor: request.actor,
    areas: scopeOfAttempt(request.areas, place.task, place.situation),
    status: 'open',
    snapshot: request.snapshot,
    endSnapshot: null,
    openedAt: Math.min(request.snapshotAt, setting.at),
    lastCallAt: setting.at,
    closedAt: null,
  }
}

/** The given scope, else that of the plan, else that of the last attempt. */
export function scopeOfAttempt(
  requested: readonly string[],
  task: Pick<Task, 'areas'> | undefined,
  { last }: Pick<TaskSituation, 'last'>,
): readonly string[] {
  return [requested, task?.areas ?? [], last?.areas ?? []].find((areas) => areas.length > 0) ?? []
}

/** The attempt takes the agent name from the claim. */
function agentNameOf(
  { agentName }: TaskRequest,
  { planned }: TaskSituation,
  { at }: TransactionContext,
): string | null {
  const claim = planned?.claim ?? null
  const isClaimed = claim !== null && claim.expiresAt !== null && isHeld(claim, at)
  return agentName ?? (isClaimed ? explicitAgentName(claim) : null)
}

export interface TaskRequest {
  readonly name: string | null
  readonly goal: string | null
  readonly areas: readonly string[]
  readonly phase: number | null
  readonly phaseName: string | null
  readonly callerType: CallerType | null
  readonly agentName: string | null
  readonly takeOver: boolean
  /** The fencing token of the caller's claim on the planned task. */
  readonly claimToken: string | null
  /** Promises of a new task, or more of a planned one. */
  readonly doneWhen: DoneWhenChanges | null
  /** Start although a dependency is open. */
  readonly force: boolean
  readonly actor: Actor
  readonly snapshot: SnapshotLocation
  /** When the snapshot was started: later changes are the attempt's. */
  readonly snapshotAt: number
}

/** The rows that the decision depends on, read under the lock. */
export interface TaskSituation {
  readonly mission: Mission | null
  readonly phases: readonly PhaseWithWork[]
  /** The planned task's own phase. */
  readonly home: Phase | null
  readonly parent: Task | null
  /** The open attempt at the parent, which may be in another mission than the parent's own. */
  readonly parentAttempt: Attempt | null
  /** The ancestors of the parent. */
  readonly aboveParent: readonly TaskId[]
  readonly planned: PlannedTask | null
  /** The last attempt at the planned task, open or not. */
  readonly last: Attempt | null
  /** The inbox items of that attempt. */
  readonly items: readonly InboxItem[]
  /** Why the caller of that attempt, if it is open, can make no more calls; null if it can. */
  readonly lostAccess: string | null
  /** The dependencies of the planned task. */
  readonly dependencies: readonly Dependency[]
  /** The task that the caller's claim token belongs to, if it is another one. */
  readonly taskOfToken: TaskId | null
}

/** Checks that a planned task is free, and that its dependencies are done or `force` is set. */
function startPlanned(
  {
    actor,
    agentName,
    claimToken,
    force,
    takeOver,
  }: Pick<TaskRequest, 'actor' | 'agentName' | 'claimToken' | 'force' | 'takeOver'>,
  { planned, dependencies, taskOfToken }: Pick<TaskSituation, 'planned' | 'dependencies' | 'taskOfToken'>,
  setting: TransactionContext,
): { readonly events: readonly NewProjectEvent[]; readonly notes: readonly string[] } {
  if (planned === null) return { events: [], notes: [] }
  const { task, dependsOn, blocked } = planned
  const open = dependencies.filter(isUnfinished)
  assertToken(planned, { token: claimToken, taskOfToken, claimant: { actor, agentName } }, setting)
  // A token identifies its holder, whatever agent name the caller now uses.
  const isRunning = planned.claim?.expiresAt !== null
  const assignedNotes = claimToken === null ? claimedByOtherNotes(planned, { actor, agentName }, force) : []
  const isTakenOver = takeOver && planned.claim !== null && isOfSameName(planned.claim, { actor, agentName })
  if (claimToken === null && isRunning && !isTakenOver)
    assertUnclaimed(planned, { actor, agentName }, setting.at)
  if (!blocked) return { events: [], notes: assignedNotes }
  if (!force) {
    const unsettled = open.some((dependency) => dependency.unsettled) ? ' or wait for a person' : ''
    throw new Failure(
      'REFUSED',
      `Task ${task.id} "${task.name}" waits for tasks that are not done${unsettled}: ${open.slice(0, 5).map(dependencyStatusText).join(', ')}.`,
      {
        reason: 'dependencies_open',
        hint: hintOf`Get a ready task with ${callTo('taskman_task_next')}, or start it anyway with ${callTo('start_task', { planned_task_id: task.id, force: true })}; the log records it.`,
      },
    )
  }
  return {
    events: [{ kind: 'task.forced', taskId: task.id, open: dependsOn }],
    notes: [...assignedNotes, 'The task was started although tasks that it depends on are not done.'],
  }
}

/** An assigned task is only started by its assignee, or by others with `force`. */
function claimedByOtherNotes(
  { task, claim }: PlannedTask,
  claimant: Claimant,
  force: boolean,
): readonly string[] {
  const { assignee } = task
  const name = displayName(claimant)
  if (!assignee || assignee === name || claim?.agent === name) return []
  if (force) return [`The task is for ${assignee}; ${name} took it with force.`]
  throw new Failure('REFUSED', `Task ${task.id} "${task.name}" is for ${assignee}, and you are ${name}.`, {
    reason: 'task_assigned_to_other',
    hint: hintOf`If you are ${assignee}, give that agent_name, or claim it with ${callTo('taskman_task_next', { role: assignee, claim: true })}. Take it anyway: ${callTo('start_task', { planned_task_id: task.id, force: true })}.`,
  })
}

/** `t-… "Draw", which is done and waits for a person (h-…)`. */
function dependencyStatusText({ task, unsettled, items }: Dependency): string {
  const named = `${task.id} "${task.name}"`
  if (!unsettled) return `${named} (${task.status === 'to_do' ? 'to do' : 'in progress'})`
  const ids = items.slice(0, 3).map(({ id }) => id)
  return `${named} (done, and waits for a person: ${ids.join(', ')})`
}

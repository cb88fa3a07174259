import { compareWork, type GraphTask, type TaskState, taskStates } from './readiness.ts'

export interface OutlineSource {
  /** In display order. */
  readonly phases: readonly {
    readonly id: string
    readonly name: string
    readonly missionId: string | null
  }[]
  readonly milestones: readonly {
    readonly id: string
    readonly phaseId: string
    readonly name: string | null
    readonly reached: boolean
  }[]
  readonly tasks: readonly TaskInPlan[]
}

/** A task with its home in the plan. */
export interface TaskInPlan extends GraphTask {
  readonly title: string
  /** To do again: its last attempt failed. */
  readonly hasFailed?: boolean
  /** The assignee, if there is one. */
  readonly assignee?: string
  readonly missionId: string | null
  readonly phaseId: string | null
  readonly milestoneId: string | null
  readonly parentId: string | null
}

export interface OutlinePhase {
  /** Null for tasks outside any phase. */
  readonly id: string | null
  readonly name: string | null
  readonly mission_id: string | null
  readonly done: number
  readonly total: number
  readonly milestones: readonly OutlineMilestone[]
  /** Tasks of the phase without a milestone. */
  readonly tasks: readonly OutlineTask[]
}

export interface OutlineMilestone {
  readonly id: string
  readonly name: string | null
  readonly reached: boolean
  readonly tasks: readonly OutlineTask[]
}

export interface OutlineTask extends Omit<TaskState, 'waitsFor'> {
  readonly waits_for: TaskState['waitsFor']
  readonly id: string
  readonly title: string
  readonly role: string | null
  readonly assignee?: string
  readonly failed?: true
  readonly subtasks: readonly OutlineTask[]
}

/** Phases ▸ milestones ▸ tasks ▸ subtasks. A subtask in another phase than its parent is listed there. */
export function outline(
  { phases, milestones, tasks }: OutlineSource,
  states: readonly TaskState[] = taskStates(tasks),
): readonly OutlinePhase[] {
  const homes = Map.groupBy(nodesOf(tasks, states), ({ task }) => homeOf(task))
  const inPhase = Map.groupBy(tasks, placeOf)
  const phaseOf = (id: string | null, name: string | null, missionId: string | null): OutlinePhase => {
    const tasksUnder = (milestoneId: string | null): readonly OutlineTask[] =>
      (homes.get(homeOf({ missionId, phaseId: id, milestoneId })) ?? []).map(({ node }) => node)
    return {
      id,
      name,
      mission_id: missionId,
      ...progress(inPhase.get(placeOf({ missionId, phaseId: id })) ?? []),
      milestones: milestones
        .filter(({ phaseId }) => phaseId === id)
        .map((milestone) => ({
          id: milestone.id,
          name: milestone.name,
          reached: milestone.reached,
          tasks: tasksUnder(milestone.id),
        })),
      tasks: tasksUnder(null),
    }
  }
  const named = phases.map(({ id, name, missionId }) => phaseOf(id, name, missionId))
  const outside = new Set(tasks.filter(({ phaseId }) => phaseId === null).map(({ missionId }) => missionId))
  return [...named, ...[...outside].map((missionId) => phaseOf(null, null, missionId))]
}

interface OutlineRoot {
  readonly task: TaskInPlan
  readonly node: OutlineTask
}

function nodesOf(tasks: readonly TaskInPlan[], found: readonly TaskState[]): readonly OutlineRoot[] {
  const ordered = tasks
    .map((task, place) => ({ task, outlined: found[place] }))
    .sort((one, other) => compareWork(one.task, other.task))
  const byId = new Map(tasks.map((task) => [task.id, task]))
  const subtasks = new Map<string, OutlineTask[]>(tasks.map(({ id }) => [id, []]))
  const roots: OutlineRoot[] = []
  for (const { task, outlined } of ordered) {
    if (!outlined) continue
    const { id, title, role, assignee, hasFailed } = task
    const { waitsFor, ...state } = outlined
    const node = {
      id,
      title,
      role,
      ...(assignee !== undefined && { assignee }),
      ...(hasFailed && { failed: true as const }),
      ...state,
      waits_for: waitsFor,
      subtasks: subtasks.get(id) ?? [],
    }
    const parent = task.parentId === null ? undefined : byId.get(task.parentId)
    if (parent && homeOf(parent) === homeOf(task)) subtasks.get(parent.id)?.push(node)
    else roots.push({ task, node })
  }
  return roots
}

function homeOf({
  missionId,
  phaseId,
  milestoneId,
}: Pick<TaskInPlan, 'missionId' | 'phaseId' | 'milestoneId'>): string {
  return JSON.stringify([placeOf({ missionId, phaseId }), milestoneId])
}

/** A phase's id, or the plan of a task without a phase. */
export function placeOf({ missionId, phaseId }: Pick<TaskInPlan, 'missionId' | 'phaseId'>): string {
  return JSON.stringify(phaseId === null ? [missionId] : [missionId, phaseId])
}

function progress(tasks: readonly GraphTask[]): { readonly done: number; readonly total: number } {
  const counted = tasks.filter(({ dropped }) => dropped !== true)
  return { done: counted.filter(({ status }) => status === 'done').length, total: counted.length }
}

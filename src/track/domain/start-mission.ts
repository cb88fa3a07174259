import type { TransactionContext } from '../../kernel/id.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Mission, Profile } from './mission.ts'
import { newTask, type Task } from './task.ts'

export interface MissionRequest {
  readonly name: string
  readonly objective: string
  readonly description?: string | undefined
  readonly profile?: Profile | undefined
  readonly total_phases?: number | undefined
  readonly scope?: string | undefined
  readonly constraints?: string | undefined
}

export function createMission(request: MissionRequest, setting: TransactionContext): Mission {
  const profile = request.profile ?? 'standard'
  return {
    ...pendingMission(request, setting),
    id: setting.ids.next('mission'),
    kind: 'mission',
    objective: request.objective,
    profile,
    totalPhases: request.total_phases ?? 0,
  }
}

export interface WorkflowRequest {
  readonly name: string
  readonly description?: string | undefined
  /** With an objective, Mission Control's current workflows are missions here. */
  readonly objective?: string | undefined
  readonly profile?: Profile | undefined
  readonly total_phases?: number | undefined
  readonly scope?: string | undefined
  readonly constraints?: string | undefined
  readonly plan?: readonly { readonly step: string; readonly goal: string }[] | undefined
}

/** A v1 workflow is a mission without an objective; the steps of its plan become planned tasks. */
export function createWorkflow(
  request: WorkflowRequest,
  setting: TransactionContext,
  creator: string,
): { readonly workflow: Mission; readonly tasks: readonly Task[] } {
  const { objective } = request
  const workflow: Mission =
    objective === undefined
      ? plainWorkflow(request, setting)
      : createMission({ ...request, objective }, setting)
  const tasks = (request.plan ?? []).map(({ step, goal }) =>
    plannedStep(workflow, { step, goal }, setting, creator),
  )
  return { workflow, tasks }
}

function plainWorkflow(request: WorkflowRequest, setting: TransactionContext): Mission {
  return {
    ...pendingMission(request, setting),
    id: setting.ids.next('workflow'),
    kind: 'workflow',
    objective: null,
    profile: request.profile ?? null,
    totalPhases: request.total_phases ?? 0,
  }
}

function pendingMission(
  { name, description, scope, constraints }: WorkflowRequest,
  { at }: TransactionContext,
) {
  return {
    name,
    description: description ?? null,
    scope: scope ?? null,
    constraints: constraints ?? null,
    status: 'pending' as const,
    summary: null,
    achievements: [],
    limitations: [],
    createdAt: at,
    completedAt: null,
  }
}

function plannedStep(
  workflow: Mission,
  { step, goal }: { readonly step: string; readonly goal: string },
  setting: TransactionContext,
  creator: string,
): Task {
  return newTask(
    {
      id: setting.ids.next('task'),
      missionId: workflow.id,
      name: excerpt(goal, 300),
      goal,
      step,
      creator,
    },
    setting.at,
  )
}

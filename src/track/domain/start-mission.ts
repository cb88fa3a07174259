import type { TransactionContext } from '../../kernel/id.ts'
import { excerpt } from '../../kernel/text.ts'
import { type Mission, type Profile, phasesOfProfile } from './mission.ts'
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

export function startMission(request: MissionRequest, setting: TransactionContext): Mission {
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

export interface WorkflowRequest {
  readonly name: string
  readonly description?: string | undefined
  /** With an objective, Mission Control's workflow of today: what is a mission here. */
  readonly objective?: string | undefined
  readonly profile?: Profile | undefined
  readonly total_phases?: number | undefined
  readonly scope?: string | undefined
  readonly constraints?: string | undefined
  readonly plan?: readonly { readonly step: string; readonly goal: string }[] | undefined
}

/** A v1 workflow is a mission without an objective; the steps of its plan become planned tasks. */
export function startWorkflow(
  request: WorkflowRequest,
  setting: TransactionContext,
  creator: string,
): { readonly workflow: Mission; readonly tasks: readonly Task[] } {
  const { objective } = request
  const workflow: Mission =
    objective === undefined
      ? plainWorkflow(request, setting)
      : startMission({ ...request, objective }, setting)
  const tasks = (request.plan ?? []).map(({ step, goal }) =>
    plannedStep(workflow, { step, goal }, setting, creator),
  )
  return { workflow, tasks }
}

function plainWorkflow(request: WorkflowRequest, setting: TransactionContext): Mission {
  return {
    id: setting.ids.next('workflow'),
    kind: 'workflow',
    name: request.name,
    objective: null,
    description: request.description ?? null,
    profile: request.profile ?? null,
    totalPhases: request.total_phases ?? 0,
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

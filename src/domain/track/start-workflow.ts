import type { Setting } from '../id.ts'
import type { Mission } from './mission.ts'
import type { Task } from './task.ts'

export interface WorkflowRequest {
  readonly name: string
  readonly description?: string | undefined
  readonly plan?: readonly { readonly step: string; readonly goal: string }[] | undefined
}

/** A v1 workflow is a mission without an objective; the steps of its plan become planned tasks. */
export function startWorkflow(
  request: WorkflowRequest,
  setting: Setting,
  creator: string,
): { readonly workflow: Mission; readonly tasks: readonly Task[] } {
  const workflow: Mission = {
    id: setting.ids.next('workflow'),
    kind: 'workflow',
    name: request.name,
    objective: null,
    description: request.description ?? null,
    profile: null,
    totalPhases: 0,
    scope: null,
    constraints: null,
    status: 'pending',
    summary: null,
    achievements: [],
    limitations: [],
    createdAt: setting.at,
    completedAt: null,
  }
  const tasks = (request.plan ?? []).map(({ step, goal }) =>
    plannedStep(workflow, { step, goal }, setting, creator),
  )
  return { workflow, tasks }
}

function plannedStep(
  workflow: Mission,
  { step, goal }: { readonly step: string; readonly goal: string },
  setting: Setting,
  creator: string,
): Task {
  return {
    id: setting.ids.next('task'),
    missionId: workflow.id,
    phaseId: null,
    milestoneId: null,
    parentTaskId: null,
    name: goal.length > 300 ? `${goal.slice(0, 299)}…` : goal,
    goal,
    step,
    role: null,
    areas: [],
    status: 'to_do',
    resolution: null,
    sortOrder: null,
    creator,
    createdAt: setting.at,
    updatedAt: setting.at,
  }
}

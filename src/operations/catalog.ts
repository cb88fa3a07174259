import { startMission } from './mission/start-mission.ts'
import { startWorkflow } from './mission/start-workflow.ts'
import type { Operation } from './operation.ts'
import { logDecision } from './record/log-decision.ts'
import { logIssue } from './record/log-issue.ts'
import { logMilestone } from './record/log-milestone.ts'
import { completeTask } from './task/complete-task.ts'
import { startTask } from './task/start-task.ts'

/** Everything Waymark can do, in the order that lists show it. */
export const catalog: readonly Operation[] = [
  startMission,
  startTask,
  logDecision,
  logIssue,
  logMilestone,
  completeTask,
  startWorkflow,
]

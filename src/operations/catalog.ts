import { inbox } from './hold/inbox.ts'
import { resolve } from './hold/resolve.ts'
import { log } from './journal/log.ts'
import { completeMission } from './mission/complete-mission.ts'
import { getContext } from './mission/get-context.ts'
import { listMissions } from './mission/list-missions.ts'
import { startMission } from './mission/start-mission.ts'
import { startWorkflow } from './mission/start-workflow.ts'
import type { Operation } from './operation.ts'
import { doctor } from './project/doctor.ts'
import { status } from './project/status.ts'
import { tidy } from './project/tidy.ts'
import { logDecision } from './record/log-decision.ts'
import { logIssue } from './record/log-issue.ts'
import { logMilestone } from './record/log-milestone.ts'
import { changes } from './show/changes.ts'
import { diff } from './show/diff.ts'
import { show } from './show/show.ts'
import { completeTask } from './task/complete-task.ts'
import { startTask } from './task/start-task.ts'

/** Everything Waymark can do, in the order that lists show it. */
export const catalog: readonly Operation[] = [
  startMission,
  completeMission,
  getContext,
  listMissions,
  startTask,
  completeTask,
  logDecision,
  logIssue,
  logMilestone,
  startWorkflow,
  status,
  show,
  changes,
  diff,
  inbox,
  resolve,
  log,
  doctor,
  tidy,
]

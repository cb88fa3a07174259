import { board } from './board/board.ts'
import { desk } from './board/desk.ts'
import { links } from './board/links.ts'
import { names } from './board/names.ts'
import { planMove } from './board/plan-move.ts'
import { commandList } from './command/list.ts'
import { commandRevoke } from './command/revoke.ts'
import { approve } from './decision/approve.ts'
import { decide } from './decision/decide.ts'
import { reject } from './decision/reject.ts'
import { inbox } from './hold/inbox.ts'
import { resolve } from './hold/resolve.ts'
import { exportProject } from './journal/export-project.ts'
import { log } from './journal/log.ts'
import { completeMission } from './mission/complete-mission.ts'
import { completePhase } from './mission/complete-phase.ts'
import { completeWorkflow } from './mission/complete-workflow.ts'
import { getContext } from './mission/get-context.ts'
import { listMissions } from './mission/list-missions.ts'
import { startMission } from './mission/start-mission.ts'
import { startPhase } from './mission/start-phase.ts'
import { startWorkflow } from './mission/start-workflow.ts'
import type { Operation } from './operation.ts'
import { demo } from './plan/demo.ts'
import { depAdd } from './plan/dep-add.ts'
import { depRemove } from './plan/dep-remove.ts'
import { init } from './plan/init.ts'
import { milestoneAdd } from './plan/milestone-add.ts'
import { milestoneEdit } from './plan/milestone-edit.ts'
import { milestoneList } from './plan/milestone-list.ts'
import { noteAdd } from './plan/note-add.ts'
import { noteList } from './plan/note-list.ts'
import { noteListByIds } from './plan/note-list-by-ids.ts'
import { phaseAdd } from './plan/phase-add.ts'
import { phaseEdit } from './plan/phase-edit.ts'
import { phaseList } from './plan/phase-list.ts'
import { planDependencies } from './plan/plan-dependencies.ts'
import { planExport } from './plan/plan-export.ts'
import { planGraph } from './plan/plan-graph.ts'
import { planImport } from './plan/plan-import.ts'
import { planShow } from './plan/plan-show.ts'
import { planTasks } from './plan/plan-tasks.ts'
import { roleAdd } from './plan/role-add.ts'
import { taskAdd } from './plan/task-add.ts'
import { taskDrop } from './plan/task-drop.ts'
import { taskEdit } from './plan/task-edit.ts'
import { taskGet } from './plan/task-get.ts'
import { taskList } from './plan/task-list.ts'
import { taskNext } from './plan/task-next.ts'
import { processLint } from './process/lint.ts'
import { processList } from './process/list.ts'
import { processPage } from './process/process-page.ts'
import { processShow } from './process/show.ts'
import { processSimulate } from './process/simulate.ts'
import { accept } from './project/accept.ts'
import { backup, restoreBackup } from './project/backup.ts'
import { doctor } from './project/doctor.ts'
import { repair } from './project/repair.ts'
import { status } from './project/status.ts'
import { tidy } from './project/tidy.ts'
import { logDecision } from './record/log-decision.ts'
import { logIssue } from './record/log-issue.ts'
import { logMilestone } from './record/log-milestone.ts'
import { createRun } from './run/create-run.ts'
import { emitEvent } from './run/emit-event.ts'
import { getState } from './run/get-state.ts'
import { listEvents } from './run/list-events.ts'
import { listRuns } from './run/list-runs.ts'
import { runCancel } from './run/run-cancel.ts'
import { runHistory } from './run/run-history.ts'
import { runMigrate } from './run/run-migrate.ts'
import { runPage } from './run/run-page.ts'
import { runSummary } from './run/run-summary.ts'
import { verify } from './run/verify.ts'
import { settingList } from './setting/list.ts'
import { settingSet } from './setting/set.ts'
import { changes } from './show/changes.ts'
import { diff } from './show/diff.ts'
import { missionChanges } from './show/mission-changes.ts'
import { missionTimeline } from './show/mission-timeline.ts'
import { show } from './show/show.ts'
import { completeTask } from './task/complete-task.ts'
import { startTask } from './task/start-task.ts'
import { workTreeAdd } from './work-tree/add.ts'
import { workTreeList } from './work-tree/list.ts'
import { workTreeRemove } from './work-tree/remove.ts'

const operations = [
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
  completeWorkflow,
  startPhase,
  completePhase,
  init,
  phaseAdd,
  phaseEdit,
  phaseList,
  milestoneAdd,
  milestoneEdit,
  milestoneList,
  planTasks,
  taskAdd,
  taskGet,
  taskList,
  taskEdit,
  depAdd,
  depRemove,
  taskNext,
  noteAdd,
  noteList,
  noteListByIds,
  createRun,
  getState,
  listEvents,
  emitEvent,
  listRuns,
  status,
  show,
  changes,
  diff,
  missionTimeline,
  missionChanges,
  inbox,
  approve,
  reject,
  decide,
  resolve,
  log,
  planShow,
  planGraph,
  planDependencies,
  planImport,
  planExport,
  taskDrop,
  roleAdd,
  workTreeAdd,
  workTreeList,
  workTreeRemove,
  runSummary,
  runHistory,
  verify,
  runMigrate,
  runCancel,
  processList,
  processShow,
  processLint,
  processSimulate,
  commandList,
  commandRevoke,
  settingList,
  settingSet,
  exportProject,
  board,
  desk,
  runPage,
  processPage,
  links,
  planMove,
  names,
  demo,
  doctor,
  repair,
  accept,
  backup,
  restoreBackup,
  tidy,
] as const

/** Everything Waymark can do, in the order that lists show it. */
export const catalog: readonly Operation[] = operations

/** One of them, with its own name and types: for clients that are typed by the catalog. */
export type CatalogOperation = (typeof operations)[number]

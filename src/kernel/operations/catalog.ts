import type { z } from 'zod'
import { exportProject, log } from '../../events/operations/event-log.ts'
import { commandList, commandRevoke } from '../../gate/operations/command-approvals.ts'
import { processLint } from '../../gate/operations/process/lint.ts'
import { processList } from '../../gate/operations/process/list.ts'
import { processShow } from '../../gate/operations/process/show.ts'
import { processSimulate } from '../../gate/operations/process/simulate.ts'
import { ciReport } from '../../gate/operations/run/ci-report.ts'
import { createRun } from '../../gate/operations/run/create-run.ts'
import { emitEvent } from '../../gate/operations/run/emit-event.ts'
import { getState } from '../../gate/operations/run/get-state.ts'
import { listEvents } from '../../gate/operations/run/list-events.ts'
import { listRuns } from '../../gate/operations/run/list-runs.ts'
import { runCancel } from '../../gate/operations/run/run-cancel.ts'
import { runHistory } from '../../gate/operations/run/run-history.ts'
import { runMigrate } from '../../gate/operations/run/run-migrate.ts'
import { runSummary } from '../../gate/operations/run/run-summary.ts'
import { verify } from '../../gate/operations/run/verify.ts'
import { approve, reject, resolve } from '../../inbox/operations/answer.ts'
import { decide } from '../../inbox/operations/decide.ts'
import { inbox } from '../../inbox/operations/inbox.ts'
import { blame } from '../../lines/operations/blame.ts'
import { provenanceStats } from '../../lines/operations/line-stats.ts'
import { trailer } from '../../lines/operations/trailer.ts'
import { why } from '../../lines/operations/why.ts'
import {
  notifyAdd,
  notifyEdit,
  notifyList,
  notifyRemove,
  notifyTest,
} from '../../notifications/operations/notifications.ts'
import { invitationCreate } from '../../people/operations/invitations.ts'
import {
  memberAdd,
  memberChange,
  memberInvite,
  memberList,
  memberRemove,
} from '../../people/operations/members.ts'
import {
  personAdd,
  personAdmin,
  personDisable,
  personEnable,
  personList,
} from '../../people/operations/people.ts'
import { sessionEnd, sessionList } from '../../people/operations/sessions.ts'
import { tokenCreate, tokenList, tokenRevoke } from '../../people/operations/tokens.ts'
import { whoami } from '../../people/operations/whoami.ts'
import { depAdd, depRemove, planDependencies } from '../../plan/operations/dependencies.ts'
import { roleAdd, taskAdd, taskDrop, taskEdit } from '../../plan/operations/edit-tasks.ts'
import { init } from '../../plan/operations/init.ts'
import { milestoneAdd, milestoneEdit, milestoneList } from '../../plan/operations/milestones.ts'
import { noteAdd, noteList, noteListByIds } from '../../plan/operations/notes.ts'
import { phaseAdd, phaseEdit, phaseList } from '../../plan/operations/phases.ts'
import { planExport } from '../../plan/operations/plan-export.ts'
import { planImport } from '../../plan/operations/plan-import.ts'
import { planMove } from '../../plan/operations/plan-move.ts'
import { planGraph, planShow } from '../../plan/operations/plan-show.ts'
import { planTasks } from '../../plan/operations/plan-tasks.ts'
import { taskGet, taskList } from '../../plan/operations/read-tasks.ts'
import { taskNext } from '../../plan/operations/task-next.ts'
import { createBackup, repair, restoreBackup, trust } from '../../project/operations/backup.ts'
import { doctor } from '../../project/operations/doctor.ts'
import { exportEnd, exportReopen, importReplace } from '../../project/operations/export-import.ts'
import { projectAdd, projectList, projectRename } from '../../project/operations/projects.ts'
import { prune } from '../../project/operations/prune.ts'
import { settingList, settingSet } from '../../project/operations/settings.ts'
import { status } from '../../project/operations/status.ts'
import { workTreeAdd, workTreeList, workTreeRemove } from '../../project/operations/work-trees.ts'
import { ingestRemoteEvents } from '../../remote/operations/hook-events.ts'
import { machineBrief } from '../../remote/operations/machine-brief.ts'
import { commandEnd, commandRenew, machineList } from '../../remote/operations/machines.ts'
import { board } from '../../reports/operations/board.ts'
import { check } from '../../reports/operations/check.ts'
import { report } from '../../reports/operations/report.ts'
import { search } from '../../reports/operations/search.ts'
import { show } from '../../reports/operations/show.ts'
import { stats } from '../../reports/operations/stats.ts'
import { missionTimeline } from '../../reports/operations/timeline.ts'
import { reviewComments } from '../../review/operations/comment-list.ts'
import { reviewComment, reviewCommentDrop, reviewMark } from '../../review/operations/comments.ts'
import { reviewFile } from '../../review/operations/file.ts'
import { reviewImage } from '../../review/operations/image.ts'
import { replyToReview } from '../../review/operations/reply.ts'
import { reviewSend } from '../../review/operations/send.ts'
import { reviewShow } from '../../review/operations/show.ts'
import { sessions, sessionsDiff, sessionsForget, sessionsShow } from '../../sessions/operations/sessions.ts'
import { changes, diff, missionChanges } from '../../track/operations/changes.ts'
import { completeMission } from '../../track/operations/complete-mission.ts'
import { completeTask } from '../../track/operations/complete-task.ts'
import { getContext } from '../../track/operations/get-context.ts'
import { measureLanded } from '../../track/operations/landed.ts'
import { listMissions } from '../../track/operations/list-missions.ts'
import { completePhase, startPhase } from '../../track/operations/phases.ts'
import { logDecision, logIssue, logMilestone } from '../../track/operations/records.ts'
import { restore, restoreList } from '../../track/operations/restore.ts'
import { startMission } from '../../track/operations/start-mission.ts'
import { startTask } from '../../track/operations/start-task.ts'
import { undo } from '../../track/operations/undo.ts'
import { completeWorkflow, startWorkflow } from '../../track/operations/workflow.ts'
import type { Operation } from './operation.ts'

const operations = [
  startMission,
  completeMission,
  getContext,
  listMissions,
  startTask,
  completeTask,
  measureLanded,
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
  blame,
  why,
  provenanceStats,
  trailer,
  changes,
  diff,
  undo,
  missionTimeline,
  missionChanges,
  stats,
  report,
  check,
  ciReport,
  inbox,
  approve,
  reject,
  decide,
  resolve,
  sessions,
  sessionsShow,
  sessionsDiff,
  sessionsForget,
  reviewShow,
  reviewComments,
  reviewFile,
  reviewImage,
  reviewMark,
  reviewComment,
  reviewCommentDrop,
  reviewSend,
  replyToReview,
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
  machineList,
  machineBrief,
  ingestRemoteEvents,
  commandRenew,
  commandEnd,
  settingList,
  settingSet,
  notifyList,
  notifyAdd,
  notifyEdit,
  notifyRemove,
  notifyTest,
  exportProject,
  board,
  planMove,
  search,
  doctor,
  repair,
  trust,
  restore,
  restoreList,
  createBackup,
  exportEnd,
  exportReopen,
  importReplace,
  restoreBackup,
  prune,
  whoami,
  memberList,
  memberAdd,
  memberInvite,
  invitationCreate,
  memberChange,
  memberRemove,
  tokenCreate,
  tokenList,
  tokenRevoke,
  sessionList,
  sessionEnd,
  personList,
  personAdd,
  personDisable,
  personEnable,
  personAdmin,
  projectAdd,
  projectList,
  projectRename,
] as const

/** Everything Waymark can do, in the order that lists show it. */
export const catalog: readonly Operation[] = operations

/** An operation with its own name and types, for clients that are typed by the catalog. */
export type CatalogOperation = (typeof operations)[number]

export type OperationName = CatalogOperation['name']

type OperationByName<Name extends OperationName> = Extract<CatalogOperation, { readonly name: Name }>

/** The input of an operation, as a caller writes it. */
export type InputOf<Name extends OperationName> = z.input<OperationByName<Name>['input']>

/** The answer of an operation. */
export type OutputOf<Name extends OperationName> = z.output<OperationByName<Name>['output']>

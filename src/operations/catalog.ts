import type { z } from 'zod'
import { sessions, sessionsDiff, sessionsForget, sessionsShow } from './capture/sessions.ts'
import { commandList, commandRevoke } from './command-approvals.ts'
import { edgeBrief } from './edge/brief.ts'
import { commandEnd, commandRenew, edgeList } from './edge/edges.ts'
import { edgeTold } from './edge/told.ts'
import { approve } from './inbox/approve.ts'
import { decide } from './inbox/decide.ts'
import { inbox } from './inbox/inbox.ts'
import { inboxPage } from './inbox/inbox-page.ts'
import { reject } from './inbox/reject.ts'
import { resolve } from './inbox/resolve.ts'
import { memberAdd, memberChange, memberInvite, memberList, memberRemove } from './member/members.ts'
import { completeMission } from './mission/complete-mission.ts'
import { getContext } from './mission/get-context.ts'
import { listMissions } from './mission/list-missions.ts'
import { missionsPage } from './mission/missions-page.ts'
import { completePhase, startPhase } from './mission/phases.ts'
import { logDecision, logIssue, logMilestone } from './mission/records.ts'
import { startMission } from './mission/start-mission.ts'
import { completeWorkflow, startWorkflow } from './mission/workflow.ts'
import { notifyAdd, notifyEdit, notifyList, notifyRemove, notifyTest } from './notification/notifications.ts'
import type { Operation } from './operation.ts'
import { personAdd, personAdmin, personDisable, personEnable, personList } from './person/persons.ts'
import { depAdd, depRemove, planDependencies } from './plan/dependencies.ts'
import { roleAdd, taskAdd, taskDrop, taskEdit } from './plan/edit-tasks.ts'
import { demo, init } from './plan/init.ts'
import { milestoneAdd, milestoneEdit, milestoneList } from './plan/milestones.ts'
import { noteAdd, noteList, noteListByIds } from './plan/notes.ts'
import { phaseAdd, phaseEdit, phaseList } from './plan/phases.ts'
import { planExport } from './plan/plan-export.ts'
import { planImport } from './plan/plan-import.ts'
import { planMove } from './plan/plan-move.ts'
import { planGraph, planShow } from './plan/plan-show.ts'
import { planTasks } from './plan/plan-tasks.ts'
import { taskGet, taskList } from './plan/read-tasks.ts'
import { taskNext } from './plan/task-next.ts'
import { processLint } from './process/lint.ts'
import { processList } from './process/list.ts'
import { processPage } from './process/process-page.ts'
import { processShow } from './process/show.ts'
import { processSimulate } from './process/simulate.ts'
import { atWork } from './project/at-work.ts'
import { accept, backup, repair, restoreBackup } from './project/backup.ts'
import { doctor } from './project/doctor.ts'
import { exportProject, log } from './project/journal.ts'
import { projectAdd, projectList, projectRename } from './project/projects.ts'
import { status } from './project/status.ts'
import { tidy } from './project/tidy.ts'
import { exportEnd, exportReopen, importReplace } from './project/transfer.ts'
import { workTreeAdd, workTreeList, workTreeRemove } from './project/work-trees.ts'
import { blame } from './provenance/blame.ts'
import { provenanceStats } from './provenance/line-stats.ts'
import { trailer } from './provenance/trailer.ts'
import { why } from './provenance/why.ts'
import { check } from './report/check.ts'
import { ciReport } from './report/ci-report.ts'
import { report } from './report/report.ts'
import { reviewComments } from './review/comment-list.ts'
import { reviewComment, reviewCommentDrop, reviewCommentEdit, reviewMark } from './review/comments.ts'
import { reviewFile } from './review/file.ts'
import { reviewImage } from './review/image.ts'
import { replyToReview } from './review/reply.ts'
import { reviewSend } from './review/send.ts'
import { reviewShow } from './review/show.ts'
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
import { sessionEnd, sessionList } from './session/sessions.ts'
import { whoami } from './session/whoami.ts'
import { settingList, settingSet } from './settings.ts'
import { board, links, names } from './show/board.ts'
import { changes, diff, missionChanges } from './show/changes.ts'
import { show } from './show/show.ts'
import { stats } from './show/stats.ts'
import { missionTimeline } from './show/timeline.ts'
import { completeTask } from './task/complete-task.ts'
import { startTask } from './task/start-task.ts'
import { tokenCreate, tokenList, tokenRevoke } from './token/tokens.ts'

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
  blame,
  why,
  provenanceStats,
  trailer,
  changes,
  diff,
  missionTimeline,
  missionsPage,
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
  reviewCommentEdit,
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
  edgeList,
  edgeBrief,
  edgeTold,
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
  inboxPage,
  runPage,
  processPage,
  links,
  planMove,
  names,
  atWork,
  demo,
  doctor,
  repair,
  accept,
  backup,
  exportEnd,
  exportReopen,
  importReplace,
  restoreBackup,
  tidy,
  whoami,
  memberList,
  memberAdd,
  memberInvite,
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

/** One of them, with its own name and types: for clients that are typed by the catalog. */
export type CatalogOperation = (typeof operations)[number]

export type OperationName = CatalogOperation['name']

type Named<Name extends OperationName> = Extract<CatalogOperation, { readonly name: Name }>

/** What an operation takes, as a caller writes it. */
export type InputOf<Name extends OperationName> = z.input<Named<Name>['input']>

/** What an operation answers. */
export type OutputOf<Name extends OperationName> = z.output<Named<Name>['output']>

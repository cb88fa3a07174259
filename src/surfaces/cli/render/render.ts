import {
  ciReported,
  commandRevoked,
  runCancelled,
  runCreated,
  runMigrated,
  runSummary,
} from '../../../gate/cli/acknowledgements.ts'
import { processLint, processList, processShow, processSimulate } from '../../../gate/cli/process.ts'
import {
  decisionView,
  emittedEventView,
  history,
  runEvents,
  runList,
  runPage,
  runState,
  verifyView,
} from '../../../gate/cli/run.ts'
import { inbox } from '../../../inbox/cli/inbox.ts'
import type { OperationName } from '../../../kernel/operations/catalog.ts'
import { inputSchema } from '../../../kernel/operations/input/json-schema.ts'
import type { Answer, Operation } from '../../../kernel/operations/operation.ts'
import { quoteShellWord } from '../../../kernel/shell-word.ts'
import { lineStats } from '../../../lines/cli/line-stats.ts'
import { blame, why } from '../../../lines/cli/provenance.ts'
import {
  notificationAdded,
  notificationEdited,
  notificationRemoved,
  notifications,
  notificationTested,
} from '../../../notifications/cli/notifications.ts'
import {
  invited,
  member,
  memberChanged,
  memberInvited,
  memberRemoved,
  members,
  people,
  person,
  sessionsEnded,
  signInSessions,
  tokenCreated,
  tokenRevoked,
  tokens,
  whoami,
} from '../../../people/cli/people.ts'
import {
  milestoneAdded,
  milestoneEdited,
  noteAdded,
  phaseAdded,
  phaseEdited,
  planImported,
  planMoved,
  planNotesById,
  roleAdded,
  taskAdded,
  taskDropped,
  tasksPlanned,
} from '../../../plan/cli/acknowledgements.ts'
import {
  nextTask,
  planMilestones,
  planNotes,
  planPhases,
  planShow,
  planTask,
  planTasks,
} from '../../../plan/cli/plan.ts'
import { completeTask, startTask, taskPage } from '../../../plan/cli/task.ts'
import {
  backedUp,
  projectAdded,
  projectRenamed,
  projects,
  pruned,
  reopened,
  repaired,
  replaced,
  restored,
  settingChanged,
  trusted,
  workTreeAdded,
} from '../../../project/cli/maintenance.ts'
import { board, commandList, doctor, log, settings, status } from '../../../project/cli/project.ts'
import { removedTree, workTrees } from '../../../project/cli/work-trees.ts'
import { machines } from '../../../remote/cli/machines.ts'
import { search } from '../../../reports/cli/search.ts'
import { stats } from '../../../reports/cli/stats.ts'
import { timeline } from '../../../reports/cli/timeline.ts'
import { replySent, reviewComments, reviewShow } from '../../../review/cli/review.ts'
import { session, sessionForgotten, sessions } from '../../../sessions/cli/sessions.ts'
import {
  decisionLogged,
  issueLogged,
  missionCompleted,
  missionStarted,
  phaseCompleted,
  phaseStarted,
  progressLogged,
  workflowStarted,
} from '../../../track/cli/acknowledgements.ts'
import { changes, diff, diffOfTurn, missionChanges, undo } from '../../../track/cli/changes.ts'
import { landed } from '../../../track/cli/landed.ts'
import { getContext, listMissions, missionPage } from '../../../track/cli/mission.ts'
import { restorable, restoreView } from '../../../track/cli/restore.ts'
import { printableAll, printableJson, type Terminal, withoutControlCodes } from '../terminal.ts'
import { blocks } from './parts.ts'
import { shortRunIds } from './run-ids.ts'
import type { AnswerSupplement, AnswerView, CallView, RenderContext } from './view.ts'

const show: AnswerView<'show'> = (answer, page) => {
  if (answer.kind === 'run') return runPage(answer, page)
  return answer.kind === 'task' ? taskPage(answer, page) : missionPage(answer, page)
}

/** Unchanged, so that it can be pasted into a renderer. */
const graph: AnswerView<'plan_graph'> = ({ text }) => text.trimEnd()

/** Markdown, HTML or JSON, unchanged. */
const report: AnswerView<'report'> = ({ text }) => text.trimEnd()

const views: { readonly [Name in OperationName]?: CallView<Name> } = {
  approve: decisionView,
  backup_create: backedUp,
  blame,
  board,
  changes,
  ci_report: ciReported,
  command_list: commandList,
  command_revoke: commandRevoked,
  complete_mission: missionCompleted,
  complete_phase: phaseCompleted,
  complete_task: completeTask,
  complete_workflow: missionCompleted,
  decide: decisionView,
  diff,
  doctor,
  doctor_repair: repaired,
  doctor_trust: trusted,
  export_reopen: reopened,
  get_context: getContext,
  import_replace: replaced,
  inbox,
  invitation_create: invited,
  list_missions: listMissions,
  log,
  log_decision: decisionLogged,
  log_issue: issueLogged,
  log_milestone: progressLogged,
  machine_list: machines,
  member_add: member,
  member_invite: memberInvited,
  member_list: members,
  member_remove: memberRemoved,
  member_set: memberChanged,
  mission_changes: missionChanges,
  mission_timeline: timeline,
  notify_add: notificationAdded,
  notify_edit: notificationEdited,
  notify_list: notifications,
  notify_remove: notificationRemoved,
  notify_test: notificationTested,
  person_add: person,
  person_admin: person,
  person_disable: person,
  person_enable: person,
  person_list: people,
  plan_graph: graph,
  plan_import: planImported,
  plan_move: planMoved,
  plan_show: planShow,
  plan_tasks: tasksPlanned,
  process_lint: processLint,
  process_list: processList,
  process_show: processShow,
  process_simulate: processSimulate,
  project_add: projectAdded,
  project_list: projects,
  project_rename: projectRenamed,
  provenance_stats: lineStats,
  prune: pruned,
  reject: decisionView,
  reply_to_review: replySent,
  report,
  resolve: decisionView,
  backup_restore: restored,
  restore: restoreView,
  restore_list: restorable,
  review_comments: reviewComments,
  review_show: reviewShow,
  role_add: roleAdded,
  run_cancel: runCancelled,
  run_history: history,
  run_migrate: runMigrated,
  run_summary: runSummary,
  search,
  measure_landed: landed,
  session_end: sessionsEnded,
  session_list: signInSessions,
  sessions,
  sessions_diff: diffOfTurn,
  sessions_forget: sessionForgotten,
  sessions_show: session,
  setting_list: settings,
  setting_set: settingChanged,
  show,
  start_mission: missionStarted,
  start_phase: phaseStarted,
  start_task: startTask,
  start_workflow: workflowStarted,
  state_gate_create_run: runCreated,
  state_gate_emit_event: emittedEventView,
  state_gate_get_state: runState,
  state_gate_list_events: runEvents,
  state_gate_list_runs: runList,
  stats,
  status,
  task_drop: taskDropped,
  taskman_milestone_add: milestoneAdded,
  taskman_milestone_edit: milestoneEdited,
  taskman_milestone_list: planMilestones,
  taskman_phase_add: phaseAdded,
  taskman_phase_edit: phaseEdited,
  taskman_phase_list: planPhases,
  taskman_task_add: taskAdded,
  taskman_task_dep_add: planTask,
  taskman_task_dep_remove: planTask,
  taskman_task_edit: planTask,
  taskman_task_get: planTask,
  taskman_task_list: planTasks,
  taskman_task_next: nextTask,
  taskman_task_note_add: noteAdded,
  taskman_task_note_list: planNotes,
  taskman_task_note_list_by_ids: planNotesById,
  token_create: tokenCreated,
  token_list: tokens,
  token_revoke: tokenRevoked,
  undo,
  verify: verifyView,
  whoami,
  why,
  worktree_add: workTreeAdded,
  worktree_list: workTrees,
  worktree_remove: removedTree,
}

/** Operations whose text is JSON, for `import`. */
const printsJson: ReadonlySet<string> = new Set<OperationName>(['export', 'plan_export'])

/** The requested format, by default text. */
export type OutputFormat = 'json' | 'text' | undefined

/** An answer as the command line prints it. */
export function render(
  operation: Operation,
  {
    answer,
    input,
    wanted,
    typed = [],
    context = {},
  }: {
    readonly answer: Answer
    readonly input: Answer
    readonly wanted: OutputFormat
    /** The words after the command, for the command of the next page. */
    readonly typed?: readonly string[]
    readonly context?: AnswerSupplement
  },
  terminal: Terminal,
): string {
  const format = wanted ?? 'text'
  // The table maps each name to the view of its answer.
  const view = views[operation.name as OperationName] as
    | ((answer: unknown, page: RenderContext, input: Answer) => string)
    | undefined
  const isForPrograms = input['porcelain'] === true && wanted !== 'json'
  // `--format text` prints the operation's own text; by default people get its view.
  const words =
    operation.print && (wanted !== undefined || isForPrograms || !view)
      ? operation.print(answer, { ...input, format, asked: wanted })
      : null
  if (words !== null) {
    const [text = ''] = words
    if (text === '') return ''
    if (isForPrograms) return `${withoutControlCodes(text)}\n`
    const isJson = format === 'json' || printsJson.has(operation.name)
    return `${isJson ? printableJson(text) : withoutControlCodes(text)}\n`
  }
  if (format === 'json')
    return `${printableJson(JSON.stringify(answer, null, terminal.interactive ? 2 : 0))}\n`
  if (!view) return `${printableJson(JSON.stringify(answer, null, 2))}\n`
  const text = view(
    printableAll(answer),
    { ...terminal, now: Date.now(), ...printableSupplement(context) },
    input,
  )
  return `${shortRunIds(blocks(text, nextPage(operation, answer, typed)))}\n`
}

/** The context of an answer comes from the record too: without controls. */
function printableSupplement(supplement: AnswerSupplement): AnswerSupplement {
  return printableAll({ ...supplement }) as AnswerSupplement // of the same shape
}

/** How many more there are, and the commands that show them. */
function nextPage(
  operation: Operation,
  { next_cursor: cursor, ...answer }: Answer,
  typed: readonly string[],
): string {
  if (typeof cursor !== 'string') return ''
  const at = typed.findIndex((word) => /^--cursor(?:=|$)/.test(word))
  const without = at === -1 ? typed : typed.toSpliced(at, typed[at] === '--cursor' ? 2 : 1)
  const command = ['waymark', operation.command, ...without.map(quoteShellWord)].join(' ')
  const { total } = answer
  const shown = Object.values(answer).find(Array.isArray)?.length
  const more =
    typeof total === 'number' && shown !== undefined && at === -1 ? `${total - shown} more` : 'More'
  const limit =
    inputSchema(operation).properties?.['limit'] === undefined ? '' : 'Longer pages: --limit <number>. '
  const isBackward = operation.command === 'log' && !typed.some((word) => word.startsWith('--since'))
  return `${more}. ${limit}${isBackward ? 'Earlier entries' : 'Next page'}: ${command} --cursor ${cursor}`
}

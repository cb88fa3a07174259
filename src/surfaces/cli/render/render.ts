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
import { isJsonObject } from '../../../kernel/json.ts'
import type { OperationName } from '../../../kernel/operations/catalog.ts'
import type { Answer, Operation } from '../../../kernel/operations/operation.ts'
import { blame, why } from '../../../lines/cli/provenance.ts'
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
  board,
  commandList,
  doctor,
  log,
  notifications,
  settings,
  status,
} from '../../../project/cli/project.ts'
import { removedTree, workTrees } from '../../../project/cli/work-trees.ts'
import { search } from '../../../reports/cli/search.ts'
import { stats } from '../../../reports/cli/stats.ts'
import { timeline } from '../../../reports/cli/timeline.ts'
import { reviewComments, reviewShow } from '../../../review/cli/review.ts'
import { session, sessions } from '../../../sessions/cli/sessions.ts'
import { changes, diff, diffOfTurn, missionChanges } from '../../../track/cli/changes.ts'
import { getContext, listMissions, missionPage } from '../../../track/cli/mission.ts'
import { printableAll, printableJson, type Terminal, withoutControlCodes } from '../terminal.ts'
import { blocks, bullets, indentText } from './parts.ts'
import { table } from './table.ts'
import { plainText } from './text.ts'
import type { AnswerView, RenderContext } from './view.ts'

const show: AnswerView<'show'> = (answer, page) => {
  if (answer.kind === 'run') return runPage(answer, page)
  return answer.kind === 'task' ? taskPage(answer, page) : missionPage(answer, page)
}

/** Unchanged, so that it can be pasted into a renderer. */
const graph: AnswerView<'plan_graph'> = ({ text }) => text.trimEnd()

/** Markdown, HTML or JSON, unchanged. */
const report: AnswerView<'report'> = ({ text }) => text.trimEnd()

const views: { readonly [Name in OperationName]?: AnswerView<Name> } = {
  approve: decisionView,
  blame,
  board,
  changes,
  command_list: commandList,
  complete_task: completeTask,
  decide: decisionView,
  diff,
  doctor,
  get_context: getContext,
  inbox,
  list_missions: listMissions,
  log,
  mission_changes: missionChanges,
  mission_timeline: timeline,
  notify_list: notifications,
  plan_graph: graph,
  plan_show: planShow,
  process_lint: processLint,
  process_list: processList,
  process_show: processShow,
  process_simulate: processSimulate,
  reject: decisionView,
  report,
  sessions,
  sessions_diff: diffOfTurn,
  sessions_show: session,
  setting_list: settings,
  resolve: decisionView,
  review_comments: reviewComments,
  review_show: reviewShow,
  run_history: history,
  search,
  show,
  start_task: startTask,
  stats,
  state_gate_emit_event: emittedEventView,
  state_gate_get_state: runState,
  state_gate_list_events: runEvents,
  state_gate_list_runs: runList,
  status,
  taskman_milestone_list: planMilestones,
  taskman_phase_list: planPhases,
  taskman_task_add: planTask,
  taskman_task_dep_add: planTask,
  taskman_task_dep_remove: planTask,
  taskman_task_edit: planTask,
  taskman_task_get: planTask,
  taskman_task_list: planTasks,
  taskman_task_next: nextTask,
  taskman_task_note_list: planNotes,
  verify: verifyView,
  why,
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
  }: { readonly answer: Answer; readonly input: Answer; readonly wanted: OutputFormat },
  terminal: Terminal,
): string {
  const format = wanted ?? 'text'
  // The table maps each name to the view of its answer.
  const view = views[operation.name as OperationName] as
    | ((answer: unknown, page: RenderContext) => string)
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
  const clean = printableAll(answer)
  return `${blocks((view ?? renderGeneric)(clean, { ...terminal, now: Date.now() }), nextPage(answer))}\n`
}

function nextPage({ next_cursor: cursor, total }: Answer): string {
  if (typeof cursor !== 'string') return ''
  return `More${typeof total === 'number' ? ` of ${total}` : ''}: --cursor ${cursor}`
}

/** The default view of an answer: `key: value`, lists of objects as tables. */
const renderGeneric = (answer: unknown, page: RenderContext): string =>
  Object.entries(isJsonObject(answer) ? answer : {})
    .filter(([key]) => key !== 'next_cursor')
    .map(([key, value]) => line(key, value, page))
    .filter((text) => text !== '')
    .join('\n')

function line(key: string, value: unknown, page: RenderContext): string {
  const name = key.replace(/_/g, ' ')
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return ''
  if (Array.isArray(value)) return `${name}:\n${indentText(list(value, page))}`
  if (isJsonObject(value)) {
    const inner = Object.entries(value).map(([innerKey, entry]) => line(innerKey, entry, page))
    return inner.length === 0 ? '' : `${name}:\n${indentText(inner.filter((text) => text !== '').join('\n'))}`
  }
  return `${name}: ${plainText(value)}`
}

function list(values: readonly unknown[], page: RenderContext): string {
  const entries = values.filter(isJsonObject)
  return entries.length === values.length ? tableOf(entries, page) : bullets(values.map(plainValueText))
}

function tableOf(entries: readonly Readonly<Record<string, unknown>>[], page: RenderContext): string {
  const keys = [...new Set(entries.flatMap((entry) => Object.keys(entry)))].filter((key) =>
    entries.some((entry) => plainValueText(entry[key]) !== ''),
  )
  const rows = entries.map((entry) => keys.map((key) => plainValueText(entry[key])))
  const columns = keys.map((key) => ({ title: key.replace(/_/g, ' '), shrinks: true }))
  return table(columns, rows, { ...page, width: page.width - 4 })
}

function plainValueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return plainText(value)
  if (Array.isArray(value) && value.every((entry) => typeof entry !== 'object'))
    return value.map(plainValueText).join(', ')
  // The identifying fields come first.
  if (isJsonObject(value) && typeof value['name'] === 'string') return value['name']
  return JSON.stringify(value)
}

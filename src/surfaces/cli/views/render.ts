import type { Answer, Operation } from '../../../operations/operation.ts'
import type { Terminal } from '../terminal.ts'
import { printable, printableAll, printableJson } from '../text/printable.ts'
import { board } from './board.ts'
import { changes } from './changes.ts'
import { commandList } from './command-list.ts'
import { completeTask } from './complete-task.ts'
import { diff } from './diff.ts'
import { doctor } from './doctor.ts'
import { isEntry, textAt } from './entry.ts'
import { generic } from './generic.ts'
import { getContext } from './get-context.ts'
import { inbox } from './inbox.ts'
import { listMissions } from './list-missions.ts'
import { log } from './log.ts'
import { missionChanges } from './mission-changes.ts'
import { planMilestones, planNotes, planPhases, planTasks } from './plan-lists.ts'
import { planShow } from './plan-show.ts'
import { nextTask, planTask } from './plan-task.ts'
import { processLint } from './process-lint.ts'
import { processList } from './process-list.ts'
import { processShow } from './process-show.ts'
import { processSimulate } from './process-simulate.ts'
import { resolve } from './resolve.ts'
import { runEvents } from './run-events.ts'
import { runList } from './run-list.ts'
import { decided, emitted, history } from './run-moves.ts'
import { runState } from './run-state.ts'
import { settings } from './settings.ts'
import { show } from './show.ts'
import { startTask } from './start-task.ts'
import { status } from './status.ts'
import { timeline } from './timeline.ts'
import { verified } from './verified.ts'
import type { View } from './view.ts'

/** As it is, so that it can be pasted where it is drawn. */
const graph: View = (answer) => textAt(answer, 'text').trimEnd()

const views: ReadonlyMap<string, View> = new Map(
  Object.entries({
    approve: decided,
    board,
    changes,
    command_list: commandList,
    complete_task: completeTask,
    decide: decided,
    diff,
    doctor,
    get_context: getContext,
    inbox,
    list_missions: listMissions,
    log,
    mission_changes: missionChanges,
    mission_timeline: timeline,
    plan_graph: graph,
    plan_show: planShow,
    process_lint: processLint,
    process_list: processList,
    process_show: processShow,
    process_simulate: processSimulate,
    reject: decided,
    setting_list: settings,
    resolve,
    run_history: history,
    show,
    start_task: startTask,
    state_gate_emit_event: emitted,
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
    verify: verified,
  }),
)

/** How an answer is wanted: `text` and `json` when they were named, else what suits where it goes. */
export type Wanted = 'json' | 'text' | undefined

/** An answer as the command line prints it. */
export function render(
  operation: Operation,
  { answer, input, wanted }: { readonly answer: Answer; readonly input: Answer; readonly wanted: Wanted },
  terminal: Terminal,
): string {
  const format = wanted ?? (terminal.interactive ? 'text' : 'json')
  // Where an operation has words of its own, they are its text when one is asked for; a terminal gets a table.
  if (operation.print && (wanted === 'text' || !terminal.interactive)) {
    const [text = ''] = operation.print(answer, { ...input, format })
    if (text === '') return ''
    return `${format === 'text' ? printable(text) : printableJson(text)}\n`
  }
  if (format === 'json')
    return `${printableJson(JSON.stringify(answer, null, terminal.interactive ? 2 : 0))}\n`
  const clean = printableAll(answer)
  const view = views.get(operation.name) ?? generic
  return `${view(isEntry(clean) ? clean : {}, { ...terminal, now: Date.now() })}\n`
}

import type { Answer, Operation } from '../../../operations/operation.ts'
import type { Terminal } from '../terminal.ts'
import { printableAll } from '../text/printable.ts'
import { changes } from './changes.ts'
import { completeTask } from './complete-task.ts'
import { diff } from './diff.ts'
import { doctor } from './doctor.ts'
import { isEntry } from './entry.ts'
import { generic } from './generic.ts'
import { getContext } from './get-context.ts'
import { inbox } from './inbox.ts'
import { listMissions } from './list-missions.ts'
import { log } from './log.ts'
import { resolve } from './resolve.ts'
import { show } from './show.ts'
import { startTask } from './start-task.ts'
import { status } from './status.ts'
import type { View } from './view.ts'

const views: ReadonlyMap<string, View> = new Map(
  Object.entries({
    changes,
    complete_task: completeTask,
    diff,
    doctor,
    get_context: getContext,
    inbox,
    list_missions: listMissions,
    log,
    resolve,
    show,
    start_task: startTask,
    status,
  }),
)

/** An answer as the command line prints it. */
export function render(
  operation: Operation,
  answer: Answer,
  { format, terminal }: { readonly format: 'json' | 'text'; readonly terminal: Terminal },
): string {
  if (format === 'json') return `${JSON.stringify(answer, null, terminal.interactive ? 2 : 0)}\n`
  const clean = printableAll(answer)
  const view = views.get(operation.name) ?? generic
  return `${view(isEntry(clean) ? clean : {}, { ...terminal, now: Date.now() })}\n`
}

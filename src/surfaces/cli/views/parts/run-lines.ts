import { type Entry, entriesAt, textAt, textsAt } from '../entry.ts'
import type { Page } from '../view.ts'

/** The runs that gate a mission, a line each, and what it was completed in spite of. */
export function runLines(mission: Entry, { ink }: Page): string {
  return [
    ...entriesAt(mission, 'runs').map(
      (run) =>
        `${textAt(run, 'run_id')}  ${textAt(run, 'process_id')}  ${textAt(run, 'status')} in "${textAt(run, 'current_state')}"`,
    ),
    ...textsAt(mission, 'completed_despite').map((loss) => ink('red', `Completed although ${loss}.`)),
  ].join('\n')
}

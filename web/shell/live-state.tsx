import { type ConnectionState, connection } from '../live/connection.ts'
import { now } from '../live/now.ts'
import { clockText } from '../parts/duration.ts'
import { agents } from './running.ts'

/** Whether the numbers are of now, and how many agents make them. */
export function LiveState() {
  const state = connection.value
  return (
    <div class="live" data-state={state.is} role="status">
      <span class="live-dot" />
      <span class="live-word">{wordOf(state, agents.value.length)}</span>
    </div>
  )
}

function wordOf(state: ConnectionState, working: number): string {
  switch (state.is) {
    case 'connecting':
      return 'Connecting'
    case 'live':
      return working === 0 ? 'Live' : `Live · ${working} ${working === 1 ? 'agent' : 'agents'}`
    case 'reconnecting':
      return 'Reconnecting'
    case 'stale':
      return `As of ${clockText(state.since, now.peek())}`
  }
}

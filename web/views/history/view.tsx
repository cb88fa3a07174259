import type { RunData } from '../../api/entities.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { MissionList } from '../../parts/mission-list.tsx'
import { runSubject, useNames } from '../../parts/names.ts'
import { StatusIcon, statusOf } from '../../parts/status.tsx'
import { TimeOfDay } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { href, query } from '../../router/location.ts'
import { SessionList } from './sessions.tsx'

/** Ended missions and runs, and recorded sessions. */
export function View() {
  const tab = query.value.get('of')
  const of = tab === 'runs' || tab === 'sessions' ? tab : 'missions'
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>History</h1>
        <a class="link" href={href('/lines')}>
          Line history of a file
        </a>
        <a class="link" href={href('/log')}>
          Log
        </a>
      </header>
      <nav class="tabs history-tabs" aria-label="History">
        <a href={href('/history')} {...(of === 'missions' && { 'aria-current': 'page' })}>
          Missions
        </a>
        <a href={href('/history?of=runs')} {...(of === 'runs' && { 'aria-current': 'page' })}>
          Runs
        </a>
        <a href={href('/history?of=sessions')} {...(of === 'sessions' && { 'aria-current': 'page' })}>
          Sessions
        </a>
      </nav>
      {of === 'sessions' ? <SessionList /> : null}
      {of === 'runs' ? <RunList /> : null}
      {of === 'missions' ? (
        <MissionList
          status="ended"
          label="Ended missions"
          empty={
            <EmptyState title="Ended missions appear here.">
              <a class="button" href={href('/missions')}>
                See the open missions
              </a>
            </EmptyState>
          }
        />
      ) : null}
    </div>
  )
}

/** Runs that have ended, newest first. */
function RunList() {
  const listed = useQuery('state_gate_list_runs', { status: 'all', limit: 200 })
  const names = useNames()
  const answer = listed.answer.value
  if (answer === null) return <Pending failure={listed.failure} />
  const runs = new Map<string, RunData>(
    answer.runs.filter(({ ended_at }) => ended_at !== null).map((run) => [run.run_id, run]),
  )
  if (runs.size === 0) {
    return (
      <EmptyState title="Ended runs appear here.">
        <a class="button" href={href('/processes')}>
          See the active runs
        </a>
      </EmptyState>
    )
  }
  return (
    <VirtualList
      keys={[...runs.keys()]}
      label="Ended runs"
      class="full-width"
      row={(key) => {
        const run = runs.get(key)
        return run ? <RunRow key={key} run={run} names={names} /> : null
      }}
    />
  )
}

function RunRow({ run, names }: { readonly run: RunData; readonly names: ReadonlyMap<string, string> }) {
  const { run_id, status, process_name, current_state, created_by, ended_at } = run
  return (
    <li class="run-row">
      <StatusIcon status={statusOf(status)} />
      <a class="cut wide" href={href(`/runs/${run_id}`)}>
        {process_name} <span class="muted">{runSubject(run, names)}</span>
      </a>
      <span class="run-state">{current_state}</span>
      <Agent name={created_by} />
      {ended_at === null ? null : (
        <span class="muted">
          <TimeOfDay at={ended_at} />
        </span>
      )}
    </li>
  )
}

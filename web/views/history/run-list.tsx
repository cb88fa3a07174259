import type { Run } from '../../api/answers.ts'
import { useQuery } from '../../live/query.ts'
import { Agent } from '../../parts/agent.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Failed } from '../../parts/failed.tsx'
import { shortId } from '../../parts/short-id.ts'
import { statusOf } from '../../parts/status.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { Clock } from '../../parts/time.tsx'
import { VirtualList } from '../../parts/virtual-list.tsx'
import { href } from '../../router/location.ts'

/** Runs that have ended, newest first. */
export function RunList() {
  const listed = useQuery('state_gate_list_runs', { status: 'all', limit: 200 }, ({ event }) =>
    event.startsWith('run:'),
  )
  const answer = listed.answer.value
  if (answer === null) return <Failed failure={listed.failure} />
  const runs = new Map<string, Run>(
    answer.runs.filter(({ ended_at }) => ended_at !== null).map((run) => [run.run_id, run]),
  )
  if (runs.size === 0) {
    return (
      <EmptyState
        title="Runs of processes appear here once they have ended."
        command="waymark create-run feature"
      />
    )
  }
  return (
    <VirtualList
      keys={[...runs.keys()]}
      label="Ended runs"
      class="full-width"
      row={(key) => {
        const run = runs.get(key)
        return run ? <RunRow key={key} run={run} /> : null
      }}
    />
  )
}

function RunRow({ run }: { readonly run: Run }) {
  const { run_id, status, process_name, process_version, current_state, created_by, ended_at } = run
  return (
    <li>
      <StatusIcon status={statusOf(status)} />
      <a class="cut wide" href={href(`/runs/${run_id}`)}>
        {process_name} <span class="muted">{process_version}</span>
      </a>
      <span class="mono muted">{current_state}</span>
      <Agent name={created_by} />
      {ended_at === null ? null : (
        <span class="muted">
          <Clock at={ended_at} />
        </span>
      )}
      <span class="id">{shortId(run_id)}</span>
    </li>
  )
}

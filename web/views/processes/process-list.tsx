import type { ListedProcess, Run } from '../../api/answers.ts'
import { useCommands } from '../../keys/commands.ts'
import { stepThrough } from '../../keys/step-through.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Failed } from '../../parts/failed.tsx'
import { useRows } from '../../parts/live-list.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { href, navigate, query } from '../../router/location.ts'
import { RunRow } from './run-row.tsx'

const mostRuns = 200

/** Which runs go on, and which processes there are. */
export function ProcessList() {
  const listed = useQuery('state_gate_list_runs', { limit: mostRuns }, ({ event }) =>
    event.startsWith('run:'),
  )
  const processes = useQuery('process_list', {}, ({ event }) => event.startsWith('run:'))
  const { rows, still } = useRows(
    () => listed.answer.value?.runs ?? null,
    ({ run_id }: Run) => run_id,
  )
  const order = rows.order.value
  const selected = query.value.get('select')
  const step = stepThrough(order, selected)
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/runs/${selected}`)),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
  })
  if (listed.answer.value === null) return <Failed failure={listed.failure} />
  const known = processes.answer.value?.processes ?? []
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Processes</h1>
        <a class="link" href={href('/history?of=runs')}>
          Runs that ended
        </a>
      </header>
      <section>
        <h2 class="list-title">Active runs</h2>
        {order.length === 0 ? (
          <EmptyState title="Runs appear here while they are active." command="waymark create-run feature" />
        ) : (
          <ul class="rows full-width" {...still}>
            {order.map((key) => {
              const run = rows.row(key)
              return run ? <RunRow key={key} run={run} isSelected={key === selected} /> : null
            })}
          </ul>
        )}
      </section>
      <section>
        <h2 class="list-title">Definitions</h2>
        <ul class="rows full-width">
          {known.map((process) => (
            <ProcessRow key={process.process_id} process={process} />
          ))}
        </ul>
      </section>
    </div>
  )
}

function ProcessRow({ process }: { readonly process: ListedProcess }) {
  const { process_id, name, version, states, origin, file, errors, warnings } = process
  return (
    <li>
      <StatusIcon status={errors > 0 ? 'blocked' : 'ready'} named={false} />
      <a class="cut wide" href={href(`/processes/${process_id}`)}>
        {name ?? process_id} <span class="muted">{version === null ? '' : `v${version}`}</span>
      </a>
      {errors + warnings > 0 ? <span class="lint-count">{problems(errors, warnings)}</span> : null}
      <span class="muted narrow-hidden">{states} states</span>
      <span class="muted cut narrow-hidden">{origin === 'shipped' ? 'comes with Waymark' : file}</span>
    </li>
  )
}

function problems(errors: number, warnings: number): string {
  const parts = [
    errors > 0 ? `${errors} ${errors === 1 ? 'error' : 'errors'}` : '',
    warnings > 0 ? `${warnings} ${warnings === 1 ? 'warning' : 'warnings'}` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

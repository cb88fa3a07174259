import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { formatCount } from '../../../src/kernel/text.ts'
import type { ListedProcess, RunData } from '../../api/entities.ts'
import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { useRows } from '../../live/rows.ts'
import { Agent } from '../../parts/agent.tsx'
import { CloneProcesses } from '../../parts/clone-processes.tsx'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { stepSelection, useFlash } from '../../parts/list.tsx'
import { runSubject, useNames } from '../../parts/names.ts'
import { StatusIcon, statusOf } from '../../parts/status.tsx'
import { Since } from '../../parts/time.tsx'
import { href, navigate, query } from '../../router/location.ts'
import type { ViewProps } from '../../router/routes.ts'
import { OperationButton } from '../../shell/operation-button.tsx'
import { Definition } from './definition.tsx'
import '../run/run.css'
import './processes.css'

/** All processes with their active runs, or one process with its source. */
export function View({ params }: ViewProps) {
  const name = params['name']
  return name === undefined || name === '' ? <ProcessList /> : <Definition key={name} name={name} />
}

const maxRuns = 200

/** The active runs and the processes. */
function ProcessList() {
  const listed = useQuery('state_gate_list_runs', { limit: maxRuns })
  const processes = useQuery('process_list', {})
  const { rows, still } = useRows(
    () => listed.answer.value?.runs ?? null,
    ({ run_id }: RunData) => run_id,
  )
  const names = useNames()
  const order = rows.order.value
  const selected = query.value.get('select')
  const step = stepSelection(order, selected)
  useCommands({
    next: step(1),
    previous: step(-1),
    open: () => selected && navigate(href(`/runs/${selected}`)),
    'copy id': () => void (selected && navigator.clipboard.writeText(selected)),
  })
  if (listed.answer.value === null) return <Pending failure={listed.failure} title="Processes" />
  const definitions = processes.answer.value?.processes ?? []
  return (
    <div class="page-inner">
      <header class="page-head">
        <h1>Processes</h1>
        <a class="link" href={href('/history?of=runs')}>
          Ended runs
        </a>
      </header>
      <section>
        <h2 class="list-title">Active runs</h2>
        {order.length === 0 ? (
          <EmptyState title="Runs appear here while they are active.">
            <OperationButton operation="state_gate_create_run">Create a run</OperationButton>
          </EmptyState>
        ) : (
          <ul class="rows full-width" {...still}>
            {order.map((key) => {
              const run = rows.row(key)
              return run ? <RunRow key={key} run={run} names={names} isSelected={key === selected} /> : null
            })}
          </ul>
        )}
      </section>
      <section>
        <h2 class="list-title">Definitions</h2>
        <ul class="rows full-width">
          {definitions.map((process) => (
            <ProcessRow key={process.process_id} process={process} />
          ))}
        </ul>
        <CloneProcesses />
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
      {errors + warnings > 0 ? (
        <a class="lint-count link" href={href(`/processes/${process_id}?tab=source`)}>
          {problems(errors, warnings)}
        </a>
      ) : null}
      <span class="muted narrow-hidden">{states} states</span>
      <span class="muted cut narrow-hidden">{origin === 'shipped' ? 'built in' : file}</span>
    </li>
  )
}

function problems(errors: number, warnings: number): string {
  const parts = [
    errors > 0 ? formatCount(errors, 'error') : '',
    warnings > 0 ? formatCount(warnings, 'warning') : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

/** A run on one line. */
function RunRow({
  run: of,
  names,
  isSelected,
}: {
  readonly run: ReadonlySignal<RunData>
  readonly names: ReadonlyMap<string, string>
  readonly isSelected: boolean
}) {
  const run = of.value
  const row = useRef<HTMLLIElement>(null)
  useFlash(row, `${run.status} ${run.current_state} ${run.revision}`)
  return (
    <li id={run.run_id} ref={row} {...(isSelected && { 'aria-current': 'true' })}>
      <StatusIcon status={statusOf(run.status)} />
      <a class="cut wide" href={href(`/runs/${run.run_id}`)}>
        {run.process_name} <span class="muted">{runSubject(run, names)}</span>
      </a>
      <span class="run-state">{run.current_state}</span>
      <span class="narrow-hidden">
        <Agent name={run.created_by} />
      </span>
      <span class="muted">
        <Since at={run.updated_at} /> ago
      </span>
    </li>
  )
}

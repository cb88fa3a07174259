import type { ReadonlySignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import type { Run } from '../../api/answers.ts'
import { Agent } from '../../parts/agent.tsx'
import { shortId } from '../../parts/short-id.ts'
import { statusOf } from '../../parts/status.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'
import { Since } from '../../parts/time.tsx'
import { useFlash } from '../../parts/use-flash.ts'
import { href } from '../../router/location.ts'

/** Where a run stands, on one line. */
export function RunRow({
  run: of,
  isSelected,
}: {
  readonly run: ReadonlySignal<Run>
  readonly isSelected: boolean
}) {
  const run = of.value
  const row = useRef<HTMLLIElement>(null)
  useFlash(row, `${run.status} ${run.current_state} ${run.revision}`)
  return (
    <li id={run.run_id} ref={row} {...(isSelected && { 'aria-current': 'true' })}>
      <StatusIcon status={statusOf(run.status)} />
      <a class="cut wide" href={href(`/runs/${run.run_id}`)}>
        {run.process_name} <span class="muted">v{run.process_version}</span>
      </a>
      <span class="run-state">{run.current_state}</span>
      <span class="muted narrow-hidden">rev {run.revision}</span>
      <span class="narrow-hidden">
        <Agent name={run.created_by} />
      </span>
      <span class="muted">
        <Since at={run.updated_at} />
      </span>
      <span class="id narrow-hidden">{shortId(run.run_id)}</span>
    </li>
  )
}

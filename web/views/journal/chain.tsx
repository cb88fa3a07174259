import { useQuery } from '../../live/query.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'

/** Whether the chain of hashes holds, and ends where it is known to. Checked when the view is opened, and on request. */
export function Chain() {
  const doctor = useQuery('doctor', { chain: true }, () => false)
  const checks = doctor.answer.value?.checks ?? []
  const journal = checks.find(({ ok }) => !ok) ?? checks.find(({ check }) => check === 'journal')
  if (!journal) return <span class="muted">Checking the hash chain…</span>
  return (
    <span class="chain" data-broken={journal.ok ? undefined : ''}>
      <StatusIcon status={journal.ok ? 'done' : 'blocked'} named={false} /> {journal.finding}
      <button type="button" class="button" data-kind="plain" onClick={doctor.refresh}>
        Check again
      </button>
    </span>
  )
}

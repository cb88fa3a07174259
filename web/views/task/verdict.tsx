import type { AttemptDetail, Changes } from '../../api/answers.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'

/** Whether the work stayed in what was declared: measured, and when. */
export function Verdict({
  changes,
  attempt,
}: {
  readonly changes: Changes
  readonly attempt: AttemptDetail
}) {
  const { verification, total } = changes
  const { scope_match, unexpected_files, status, warnings } = verification
  // What is contested is not judged: it is neither in nor out.
  const contested = changes.changes.filter(({ attribution }) => attribution === 'contested').length
  const kind = scope_match === false ? 'out' : scope_match === null ? 'open' : 'in'
  return (
    <section class="verdict" data-kind={kind} aria-label="Scope verdict">
      <StatusIcon status={kind === 'out' ? 'blocked' : kind === 'in' ? 'done' : 'planned'} named={false} />
      <div>
        <b>
          {total === 0 ? nothing(attempt) : sentence(kind, unexpected_files.length, { total, contested })}
        </b>
        <p class="muted">
          {attempt.areas.length > 0 ? (
            <>
              Declared{' '}
              {attempt.areas.map((area, at) => (
                <span key={area}>
                  {at > 0 ? ', ' : ''}
                  <code>{area}</code>
                </span>
              ))}
              {' · '}
            </>
          ) : null}
          {words[status]} <code>{attempt.snapshot_id.slice(0, 7)}</code>
          {attempt.status === 'open' ? ' to the work tree as it is now' : ' to the state at completion'}
        </p>
        {warnings.length > 0 ? (
          <ul class="warnings">
            {warnings.map((warning) => (
              <li key={warning}>{warning.replace(/^\W+/, '')}</li>
            ))}
          </ul>
        ) : null}
      </div>
    </section>
  )
}

const words = {
  verified: 'Verified by git, from',
  partial: 'Partly verified, from',
  unknown: 'Could not be verified from',
} as const satisfies Record<Changes['verification']['status'], string>

function nothing({ status }: AttemptDetail): string {
  return status === 'open' ? 'Nothing changed so far' : 'Nothing changed'
}

function sentence(
  kind: 'out' | 'in' | 'open',
  outside: number,
  { total, contested }: { readonly total: number; readonly contested: number },
): string {
  const files = total === 1 ? 'file' : 'files'
  if (kind === 'open') return `${total} ${files} changed; no scope was declared`
  if (kind === 'in' && contested === total) return `${total} ${files} changed, contested between agents`
  if (kind === 'in' && contested > 0) {
    const judged = total - contested
    return `${judged} ${judged === 1 ? 'file' : 'files'} in the declared scope, ${contested} contested`
  }
  if (kind === 'in')
    return total === 1 ? '1 file, in the declared scope' : `All ${total} files in the declared scope`
  return `${outside} of ${total} ${files} ${outside === 1 ? 'is' : 'are'} outside the declared scope`
}

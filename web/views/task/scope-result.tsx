import { formatCount } from '../../../src/kernel/text.ts'
import { noteForPeople } from '../../../src/track/domain/owner-notes.ts'
import { repeatsScope } from '../../../src/track/domain/scope/repeats-scope.ts'
import type { AttemptData, ChangesData } from '../../api/entities.ts'
import { Agent } from '../../parts/agent.tsx'
import { acceptedWords } from '../../parts/evidence.tsx'
import { StatusIcon } from '../../parts/status.tsx'
import { Prose } from '../../parts/text.tsx'

/** Whether the changes are in the declared scope, as measured. */
export function ScopeOfChanges({
  changes,
  attempt,
}: {
  readonly changes: ChangesData
  readonly attempt: AttemptData
}) {
  const { measurement, verification, total } = changes
  const { scope_match, unexpected_files } = verification
  const warnings = verification.warnings.filter((warning) => !repeatsScope(warning, unexpected_files))
  // Contested files are neither in nor out of scope.
  const contested = changes.changes.filter(({ attribution }) => attribution === 'contested').length
  const isIn = scope_match === true && total > 0
  const kind = scope_match === false ? 'out' : isIn ? 'in' : 'open'
  const outside = verification.unexpected_total ?? unexpected_files.length
  const accepted = attempt.measured?.scope.accepted ?? 0
  const look = kind === 'out' && accepted >= outside ? 'open' : kind
  return (
    <section class="scope-result" data-kind={look} aria-label="Scope">
      <StatusIcon status={look === 'out' ? 'blocked' : look === 'in' ? 'done' : 'planned'} named={false} />
      <div>
        <b>
          {total === 0 ? emptyChangesText(attempt) : sentence(kind, outside, { total, contested })}
          {kind === 'out' && acceptedWords(accepted, outside)}
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
          {words[measurement]} <code>{attempt.snapshot_id.slice(0, 7)}</code>
          {attempt.status === 'open' ? ' to the current work tree' : ' to the completion'}
          {attempt.measured_by ? ` · on ${machineWords(attempt.measured_by)}` : ''}
        </p>
        {warnings.length > 0 ? (
          <ul class="warnings">
            {warnings.map((warning) => (
              <li key={warning}>{noteForPeople(warning.replace(/^\W+/, ''))}</li>
            ))}
          </ul>
        ) : null}
      </div>
    </section>
  )
}

/** The machine of an attempt, by its name. */
export function machineWords({ machine }: NonNullable<AttemptData['measured_by']>): string {
  return machine === null ? 'another machine' : `machine ${machine}`
}

const words = {
  exact: 'Measured by git, from',
  partial: 'Partly measured, from',
  unknown: 'Not measured, from',
} as const satisfies Record<ChangesData['measurement'], string>

function emptyChangesText({ status }: AttemptData): string {
  return status === 'open' ? 'No changes yet' : 'No changes'
}

function sentence(
  kind: 'out' | 'in' | 'open',
  outside: number,
  { total, contested }: { readonly total: number; readonly contested: number },
): string {
  const files = total === 1 ? 'file' : 'files'
  if (kind === 'open') return `${total} ${files} changed; no scope was declared`
  if (kind === 'in' && contested === total) return `${total} ${files} changed by one of several agents`
  if (kind === 'in' && contested > 0) {
    const judged = total - contested
    return `${formatCount(judged, 'file')} in scope, ${contested} by one of several agents`
  }
  if (kind === 'in') return total === 1 ? '1 file, in scope' : `All ${total} files in scope`
  return `${outside} of ${total} ${files} out of scope`
}

function criterionText({
  criterion,
  met,
  how,
}: {
  readonly criterion: string
  readonly met: boolean
  readonly how: string | null
}): string {
  return `${criterion.replace(/\.$/, '')}: ${met ? 'met' : 'not met'}${how === null ? '' : `, ${how}`}`
}

/** What the agent claims about its attempt, with what was added later. */
export function AgentClaim({ attempt: { claimed, corrections } }: { readonly attempt: AttemptData }) {
  if (claimed === null) return null
  return (
    <>
      <Prose text={claimed.summary} />
      <List of={claimed.achievements} />
      <List of={claimed.limitations} title="Limits" />
      <List of={claimed.next_steps} title="Next" />
      <List of={(claimed.criteria ?? []).map(criterionText)} title="Criteria" />
      <List of={(claimed.unexpected ?? []).map(({ path, why }) => `${path}: ${why}`)} title="Out of scope" />
      <p class="muted">{claimedFiguresText(claimed)}</p>
      {corrections.map(({ text, agent_name, author, person, created_at: createdAt }) => (
        <p key={createdAt} class="correction">
          <b>
            {agent_name ?? author}
            {person === null ? '' : ` (${person})`} added{' '}
          </b>
          <Prose text={text} />
        </p>
      ))}
    </>
  )
}

function List({ of, title }: { readonly of: readonly string[]; readonly title?: string }) {
  if (of.length === 0) return null
  return (
    <ul class="claim-list">
      {of.map((text) => (
        <li key={text}>
          {title === undefined ? null : <span class="muted">{title}: </span>}
          <Prose text={text} />
        </li>
      ))}
    </ul>
  )
}

function claimedFiguresText(claimed: NonNullable<AttemptData['claimed']>): string {
  const { tests_status, packages_added, tokens_input, tokens_output } = claimed
  const tokens = (tokens_input ?? 0) + (tokens_output ?? 0)
  return [
    tests_status === null ? [] : [`tests ${tests_status.replace('_', ' ')}`],
    packages_added.map((name) => `added ${name}`),
    tokens === 0 ? [] : [`${tokens.toLocaleString('en')} tokens`],
  ]
    .flat()
    .join(' · ')
}

/** Other changes in the work tree: files of other agents, commits, and files that several agents could have changed and one claims. */
export function SharedFiles({ changes }: { readonly changes: ChangesData }) {
  const { contested_files = [], commits = [], commits_total, claimed_paths = [] } = changes
  const { claimed_paths_total: named = claimed_paths.length } = changes
  const uncontested = claimed_paths.filter(({ found }) => found === 'uncontested')
  return (
    <>
      {contested_files.length > 0 ? (
        <section class="shared-tree" aria-label="Probably by others">
          <h2>
            Probably by others <span class="muted">not counted here</span>
          </h2>
          <ul>
            {contested_files.map(({ path, candidates, candidates_total: total = 0 }) => (
              <li key={path}>
                <span class="mono cut">{path}</span>
                <span class="shared-by">
                  {candidates.map((name) => (
                    <Agent key={name} name={name} />
                  ))}
                  {total > candidates.length ? `and ${total - candidates.length} more` : null}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {uncontested.length > 0 ? (
        <section class="shared-tree" aria-label="Counted by the agent’s claim">
          <h2>
            Counted by the agent’s claim <span class="muted">several agents could have changed them</span>
          </h2>
          <ul>
            {uncontested.map(({ path }) => (
              <li key={path}>
                <span class="mono cut">{path}</span>
              </li>
            ))}
          </ul>
          {named > claimed_paths.length ? (
            <p class="muted">{named - claimed_paths.length} more claimed files are not listed.</p>
          ) : null}
        </section>
      ) : null}
      {commits.length > 0 ? (
        <section class="shared-tree" aria-label="Commits">
          <h2>
            Commits <span class="muted">during the attempt</span>
          </h2>
          <ul>
            {commits.map(({ id, subject, whose }) => (
              <li key={id}>
                <span class="cut">
                  <code>{id.slice(0, 8)}</code> {subject}
                </span>
                <span class="muted">{committer[whose]}</span>
              </li>
            ))}
          </ul>
          {commits_total === undefined ? null : (
            <p class="muted">{commits_total - commits.length} more are not listed.</p>
          )}
        </section>
      ) : null}
    </>
  )
}

const committer = { own: 'by this agent', other: 'by another agent', unknown: 'agent unknown' } as const

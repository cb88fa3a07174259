import { claimedNotFound } from '../../../src/domain/track/claimed-paths.ts'
import type { AttemptDetail, Changes } from '../../api/answers.ts'
import { Claimed } from '../../parts/evidence.tsx'
import { Prose } from '../../parts/prose.tsx'

/** What the agent says of its own work, and what of it was not found. */
export function Claims({
  attempt,
  changes,
}: {
  readonly attempt: AttemptDetail
  readonly changes: Changes | null
}) {
  const { claimed } = attempt
  if (claimed === null) return null
  const isWhole = changes !== null && changes.changes.length === changes.total
  const measured = changes?.changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
  const others = changes?.contested_files?.map(({ path }) => path)
  const missing = isWhole ? claimedNotFound(claimed, [...(measured ?? []), ...(others ?? [])]) : []
  return (
    <section class="claims">
      <h2>Claimed</h2>
      <Claimed by={attempt.agent_name ?? attempt.actor}>
        <Prose text={claimed.summary} />
        <List of={claimed.achievements} />
        <List of={claimed.limitations} title="Limits" />
        <List of={claimed.next_steps} title="Next" />
        <p class="muted">{asideOf(claimed)}</p>
        {attempt.corrections.map(({ text, agent_name, said_by, at }) => (
          <p key={at} class="correction">
            <b>{agent_name ?? said_by} added </b>
            <Prose text={text} />
          </p>
        ))}
      </Claimed>
      {missing.length > 0 ? (
        <div class="not-found">
          <b>Claimed, not found</b>
          <ul>
            {missing.map((path) => (
              <li key={path} class="mono">
                {path}
              </li>
            ))}
          </ul>
          <p class="muted">The agent names these files; git saw no change of them in this attempt.</p>
        </div>
      ) : null}
    </section>
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

function asideOf(claimed: NonNullable<AttemptDetail['claimed']>): string {
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

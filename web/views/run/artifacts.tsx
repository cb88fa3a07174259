import type { RunPage } from '../../api/answers.ts'
import { StatusIcon } from '../../parts/status-icon.tsx'

const shownAtOnce = 12

/** What was handed in, and whether the files are still what they were. */
export function Artifacts({ page: { artifacts, artifacts_total } }: { readonly page: RunPage }) {
  if (artifacts.length === 0) return null
  const [shown, more] = [artifacts.slice(0, shownAtOnce), artifacts.slice(shownAtOnce)]
  return (
    <section class="run-section">
      <h2>Artifacts</h2>
      <ul class="artifacts">{shown.map((artifact) => entry(artifact))}</ul>
      {more.length > 0 ? (
        <details>
          <summary>{artifacts_total - shownAtOnce} more</summary>
          <ul class="artifacts">{more.map((artifact) => entry(artifact))}</ul>
        </details>
      ) : null}
    </section>
  )
}

function entry({ type, path, sha256, standing, revision, by }: RunPage['artifacts'][number]) {
  const told = `${type ?? 'no type'}, handed in by ${by} at revision ${revision}, SHA-256 ${sha256}`
  return (
    <li key={`${type} ${path}`} title={told}>
      <StatusIcon status={standing === 'current' ? 'done' : 'blocked'} named={false} />
      <span class="mono cut">{path}</span>
      <span class="muted">
        {standing === 'current' ? (type ?? 'counts for nothing') : standings[standing]}
      </span>
      <span class="id">{sha256.slice(0, 7)}</span>
    </li>
  )
}

const standings = { changed: 'changed since', deleted: 'deleted since' } as const

import type { Changes } from '../../api/answers.ts'
import { Agent } from '../../parts/agent.tsx'

/** What else happened in the work tree: files that are probably of others, commits, and what the agent's word settled. */
export function SharedTree({ changes }: { readonly changes: Changes }) {
  const { contested_files = [], commits = [], commits_total, claimed_paths = [] } = changes
  const settled = claimed_paths.filter(({ found }) => found === 'settled')
  return (
    <>
      {contested_files.length > 0 ? (
        <section class="shared-tree" aria-label="Probably of others">
          <h2>
            Probably of others <span class="muted">not counted here</span>
          </h2>
          <ul>
            {contested_files.map(({ path, perhaps }) => (
              <li key={path}>
                <span class="mono cut">{path}</span>
                <span class="shared-by">
                  {perhaps.map((name) => (
                    <Agent key={name} name={name} />
                  ))}
                </span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {settled.length > 0 ? (
        <section class="shared-tree" aria-label="Settled by the agent’s word">
          <h2>
            Settled by the agent’s word <span class="muted">several could have changed it</span>
          </h2>
          <ul>
            {settled.map(({ path }) => (
              <li key={path}>
                <span class="mono cut">{path}</span>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      {commits.length > 0 ? (
        <section class="shared-tree" aria-label="Commits">
          <h2>
            Commits <span class="muted">made meanwhile</span>
          </h2>
          <ul>
            {commits.map(({ id, subject, by }) => (
              <li key={id}>
                <span class="cut">
                  <code>{id.slice(0, 8)}</code> {subject}
                </span>
                <span class="muted">{committer[by]}</span>
              </li>
            ))}
          </ul>
          {commits_total === undefined ? null : (
            <p class="muted">{commits_total - commits.length} more are not listed here.</p>
          )}
        </section>
      ) : null}
    </>
  )
}

const committer = { own: 'its own', other: 'of another agent', unknown: 'not known whose' } as const

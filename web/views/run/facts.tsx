import type { RunPage } from '../../api/answers.ts'
import { Prose } from '../../parts/prose.tsx'

/** What the agent is told in this state, and what the run knows. */
export function Facts({ page: { prompt, context, run } }: { readonly page: RunPage }) {
  const known = Object.entries(context)
  return (
    <>
      {prompt === null || run.status !== 'active' ? null : (
        <section class="run-section">
          <h2>What the agent is told</h2>
          <p class="prompt">
            <Prose text={prompt} />
          </p>
        </section>
      )}
      {known.length === 0 ? null : (
        <section class="run-section">
          <h2>Context</h2>
          <dl class="context">
            {known.map(([name, value]) => (
              <div key={name}>
                <dt class="mono">{name}</dt>
                <dd class="mono">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
          </dl>
        </section>
      )}
    </>
  )
}

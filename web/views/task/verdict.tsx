import { landingWords } from '../../../src/track/domain/landed.ts'
import type { AttemptData, TaskData } from '../../api/entities.ts'
import { VerdictBadge, VerdictReasons } from '../../parts/verdict.tsx'
import { href } from '../../router/location.ts'

/** What the measurement says about the claim of an attempt, and what changed since. */
export function AttemptVerdict({
  attempt: { verdict, changed_since: changed = [] },
  items,
}: {
  readonly attempt: AttemptData
  readonly items: TaskData['items']
}) {
  if (verdict === null) return null
  const item = items.find(({ kind }) => kind === 'verdict')
  return (
    <section class="task-verdict" aria-label="Verdict">
      <b>
        <VerdictBadge is={verdict.is} />
        {item ? (
          <>
            {': '}
            <a href={href(`/?select=${item.item_id}`)}>needs you</a>
          </>
        ) : null}
      </b>
      <VerdictReasons verdict={verdict} />
      {changed.length > 0 ? (
        <p class="changed-since">
          Changed since:{' '}
          {changed.map((path) => (
            <code key={path}>{path} </code>
          ))}
        </p>
      ) : null}
    </section>
  )
}

/** What the task promises, and where its lines are. */
export function Promises({ task: { done_when: promises, landed } }: { readonly task: TaskData }) {
  const checks = (promises?.check ?? []).map((check) => (typeof check === 'string' ? check : check.run))
  return (
    <>
      {promises === null ? null : (
        <section class="task-promises" aria-label="Done when">
          <h2>Done when</h2>
          <ul>
            {(promises.criteria ?? []).map((criterion) => (
              <li key={criterion}>{criterion}</li>
            ))}
            <Codes word="Check" values={checks} />
            <Codes word="Changes" values={promises.changes ?? []} />
            <Codes word="Keeps" values={promises.keeps ?? []} />
            <Codes word="Left out by an agent:" values={(promises.left_out ?? []).map(({ text }) => text)} />
          </ul>
        </section>
      )}
      {landed === null ? null : <p class="task-landed muted">Lines: {landingWords(landed)}.</p>}
    </>
  )
}

function Codes({ word, values }: { readonly word: string; readonly values: readonly string[] }) {
  return (
    <>
      {values.map((value) => (
        <li key={value}>
          {word} <code>{value}</code>
        </li>
      ))}
    </>
  )
}

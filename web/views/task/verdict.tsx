import { formatCount } from '../../../src/kernel/text.ts'
import { landingWords } from '../../../src/track/domain/landed.ts'
import type { AttemptData, TaskData } from '../../api/entities.ts'
import { PromiseEntries } from '../../parts/promises.tsx'
import { programCommand } from '../../parts/terminal-command.tsx'
import { CompletionVerdict } from '../../parts/verdict.tsx'
import { linesOfChanges } from './changes.tsx'
import { AgentClaim } from './scope-result.tsx'

/** A completed attempt: its claim, its measurement and verdict, and what changed since. */
export function AttemptCompletion({
  attempt,
  items,
}: {
  readonly attempt: AttemptData
  readonly items: TaskData['items']
}) {
  const { claimed, verdict, changed_since: changed = [] } = attempt
  if (claimed === null && verdict === null) return null
  // A claim that an earlier attempt answers is none of the verdict's reasons.
  const unchanged =
    verdict === null
      ? (attempt.measured?.claimed_paths ?? []).flatMap(({ path, found }) =>
          found === 'unchanged' ? [path] : [],
        )
      : verdict.reasons.flatMap(({ rule, paths = [] }) => (rule === 'claimed_not_changed' ? paths : []))
  return (
    <section class="task-verdict" aria-label="Verdict">
      <CompletionVerdict
        claimed={
          claimed && {
            author: attempt.claimed_by ?? attempt.agent_name,
            person: attempt.claimed_by_person,
            text: <AgentClaim attempt={attempt} />,
          }
        }
        measured={measurementOf(attempt)}
        verdict={verdict}
        unchanged={unchanged}
        denied={attempt.not_mine}
        acceptedBy={attempt.accepted_by}
        needs={items.find(({ kind }) => kind === 'verdict')?.item_id}
      />
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

function measurementOf({ measured }: AttemptData) {
  if (measured === null) return null
  const { measurement, changes, counts, scope } = measured
  const files = counts.added + counts.modified + counts.deleted + counts.renamed
  // A long list of changes is cut, so it has no sums.
  const isWhole = files === changes.length
  return {
    measurement,
    files,
    ...(isWhole ? linesOfChanges(changes) : { added_lines: null, deleted_lines: null }),
    scope_match: scope.matches,
    out_of_scope: scope.unexpected.length,
    out_of_scope_accepted: scope.accepted ?? 0,
  }
}

/** What the task promises, and where its lines are. */
export function Promises({ task: { id, done_when: promises, landed } }: { readonly task: TaskData }) {
  return (
    <>
      {promises === null ? null : (
        <section class="task-promises" aria-label="Done when">
          <h2>Done when</h2>
          <PromiseEntries of={promises} />
        </section>
      )}
      {landed === null ? null : (
        <p class="task-landed muted">
          {landingSentence(landed)}
          {landed.is === 'uncommitted' ? (
            <>
              {' '}
              <code>
                {programCommand()} landed {id}
              </code>{' '}
              names the files.
            </>
          ) : null}
        </p>
      )}
    </>
  )
}

function landingSentence(landed: NonNullable<TaskData['landed']>): string {
  const { is, branch, lines, total } = landed
  if (is === 'none') return 'Nothing to land.'
  if (is === 'unknown') return 'Where its lines are is not known.'
  if (is === 'landed') return `Landed on ${branch}: ${lines} of ${formatCount(total, 'line')}.`
  const words = landingWords(landed)
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}.`
}

import type { ComponentChildren } from 'preact'
import { errorText } from '../../api/call.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, Skeleton } from '../../parts/empty-state.tsx'
import { Prose } from '../../parts/text.tsx'
import { href, query, setQuery } from '../../router/location.ts'
import { type LineStatistics, percent } from './figure-text.ts'

const counts = [
  { by: 'agent', title: 'agent' },
  { by: 'model', title: 'model' },
  { by: 'mission', title: 'mission' },
  { by: 'author', title: 'author of the commit' },
] as const

/** The authors of the lines of HEAD, and which lines survive. Counted on request: each file is read. */
export function LineShares() {
  const by = (counts.find((known) => known.by === query.value.get('of')) ?? counts[0]).by
  const read = useQuery('provenance_stats', { group_by: by, survival: true }, { once: true })
  const answer = read.answer.value
  return (
    <>
      <p class="line-shares-by">
        <label for="lines-of">Lines by</label>
        <select
          id="lines-of"
          class="field"
          value={by}
          onChange={({ currentTarget }) => setQuery({ of: currentTarget.value })}
        >
          {counts.map((count) => (
            <option key={count.by} value={count.by}>
              {count.title}
            </option>
          ))}
        </select>
      </p>
      {read.failure.value === null ? null : <p role="alert">{errorText(read.failure.value)}</p>}
      {answer === null ? (
        read.failure.value === null ? (
          <>
            <p class="muted">
              Counting the lines of each file. The first count of a large repository takes long.
            </p>
            <Skeleton />
          </>
        ) : null
      ) : (
        <Shares answer={answer} />
      )}
    </>
  )
}

function Shares({ answer }: { readonly answer: LineStatistics }) {
  const { kinds, share, lines, files, commit, groups, group_by, definitions, left_out, after_14_days, ages } =
    answer
  const { reworked_within_14_days: reworked } = answer
  const known = kinds.agent + kinds.outside + kinds.human
  if (known === 0 && groups.length === 0)
    return (
      <EmptyState
        title={`Lines of agents are counted once they are committed. At ${commit.slice(0, 8)} there are none.`}
      />
    )
  return (
    <>
      <ul class="figure-cards">
        <li class="figure-card" data-basis="measured">
          <h2>
            Lines by agents <span class="basis">measured</span>
          </h2>
          <p class="figure-value">
            <b>{shareOf(share)}</b> <span class="muted">of lines with a known author</span>
          </p>
          <p class="figure-n">{localCountText(known, 'line')} with a known author</p>
          <p class="muted figure-definition">
            <Prose text={definitions.share} />
          </p>
        </li>
        <li class="figure-card" data-basis="measured">
          <h2>
            All lines <span class="basis">measured</span>
          </h2>
          <p class="figure-value">
            <b>{lines.toLocaleString('en')}</b>{' '}
            <span class="muted">
              in {localCountText(files, 'file')} at commit {commit.slice(0, 8)}
            </span>
          </p>
          <dl class="line-kinds">
            {authorKinds
              .filter(({ kind }) => kinds[kind] > 0)
              .map(({ kind, words }) => (
                <div key={kind}>
                  <dt>{words}</dt>
                  <dd>{kinds[kind].toLocaleString('en')}</dd>
                </div>
              ))}
          </dl>
        </li>
        {after_14_days === undefined ? null : (
          <li class="figure-card" data-basis="measured">
            <h2>
              Alive after 14 days <span class="basis">measured</span>
            </h2>
            <p class="figure-value">
              <b>{shareOf(after_14_days.share)}</b>{' '}
              {after_14_days.n === 0 ? null : (
                <span class="muted">
                  {after_14_days.alive.toLocaleString('en')} of {localCountText(after_14_days.added, 'line')}
                </span>
              )}
            </p>
            <p class="figure-n">{oldAttempts(after_14_days.n)}</p>
            <p class="muted figure-definition">
              <Prose text={`${definitions.survival} ${definitions.after_14_days}`} />
            </p>
          </li>
        )}
        {reworked === undefined ? null : (
          <li class="figure-card" data-basis="measured">
            <h2>
              Reworked within 14 days <span class="basis">measured</span>
            </h2>
            <p class="figure-value">
              <b>{shareOf(reworked.share_by_agent)}</b> <span class="muted">by agents,</span>{' '}
              <b>{shareOf(reworked.share_by_outside)}</b> <span class="muted">outside</span>
            </p>
            <p class="figure-n">
              {oldAttempts(reworked.n)}
              {reworked.n === 0
                ? null
                : `, ${localCountText(reworked.added, 'line')}; ${reworked.later.toLocaleString('en')} later, ${reworked.unseen.toLocaleString('en')} unseen`}
            </p>
            <p class="muted figure-definition">
              <Prose
                text={
                  reworked.n === 0
                    ? definitions.reworked.replace(/ Later: .* since\./, '')
                    : definitions.reworked
                }
              />
            </p>
          </li>
        )}
      </ul>
      {groups.length === 0 ? (
        <p class="muted">No line history yet. It appears here when an attempt ends.</p>
      ) : (
        <Table name={`Lines by ${group_by}`} heads={[group_by, 'lines', 'share of all', 'files']}>
          {groups.map(({ name, mission_id, lines: count, files: in_files }) => (
            <tr key={mission_id ?? name}>
              <th scope="row">
                {mission_id === undefined ? name : <a href={href(`/missions/${mission_id}`)}>{name}</a>}
              </th>
              <td>{count.toLocaleString('en')}</td>
              <td>{percent(count / Math.max(1, lines))}</td>
              <td>{in_files.toLocaleString('en')}</td>
            </tr>
          ))}
        </Table>
      )}
      {ages === undefined || ages.every(({ n }) => n === 0) ? null : (
        <Table name="Surviving lines, by age" heads={['ended', 'attempts', 'lines added', 'alive', 'share']}>
          {ages.map(({ up_to_days, n, added, alive, share: surviving }) => (
            <tr key={up_to_days}>
              <th scope="row">{ageWords(up_to_days)}</th>
              <td>{n}</td>
              <td>{added.toLocaleString('en')}</td>
              <td>{alive.toLocaleString('en')}</td>
              <td>{shareOf(surviving)}</td>
            </tr>
          ))}
        </Table>
      )}
      {left_out.map((reason) => (
        <p key={reason} class="muted">
          Left out: {reason}
        </p>
      ))}
    </>
  )
}

const authorKinds = [
  { kind: 'agent', words: 'by agents' },
  { kind: 'human', words: 'by people' },
  { kind: 'outside', words: 'by a person or an unrecorded tool' },
  { kind: 'author', words: 'not recorded' },
  { kind: 'before', words: 'before Waymark' },
] as const

/** How many attempts are old enough for a figure of 14 days. */
function oldAttempts(n: number): string {
  return n === 0 ? 'No attempt ended 14 days ago yet' : localCountText(n, 'attempt')
}

function ageWords(days: number | null): string {
  if (days === null) return 'longer ago'
  return days === 1 ? 'within a day' : `within ${days} days`
}

function shareOf(share: number | null): string {
  return share === null ? '–' : percent(share)
}

function localCountText(count: number, word: string): string {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`
}

interface TableProps {
  readonly name: string
  readonly heads: readonly string[]
  readonly children: ComponentChildren
}

function Table({ name, heads, children }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
    <section class="group-table full-width" aria-label={name} tabIndex={0}>
      <table>
        <caption>{name}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  )
}

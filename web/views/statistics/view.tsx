import { useCommands } from '../../keys/commands.ts'
import { useQuery } from '../../live/query.ts'
import { EmptyState, Pending } from '../../parts/empty-state.tsx'
import { href, navigate, query, setQuery } from '../../router/location.ts'
import { Columns } from './columns.tsx'
import { figureText, isEmpty, isFigure, type Statistics, type StatisticsFigures } from './figure-text.ts'
import { LineShares } from './lines.tsx'
import './statistics.css'

const groupings = [
  { by: 'week', title: 'By week' },
  { by: 'mission', title: 'By mission' },
  { by: 'agent', title: 'By agent' },
  { by: 'model', title: 'By model' },
  { by: 'role', title: 'By role' },
  { by: 'lines', title: 'Line authors' },
] as const
const figureGroups = [groupings[0], groupings[1], groupings[2], groupings[3], groupings[4]] as const

const spans = [
  { since: '4w', title: 'Last 4 weeks' },
  { since: '12w', title: 'Last 12 weeks' },
  { since: '52w', title: 'Last 52 weeks' },
  { since: 'all', title: 'All time' },
] as const

/** Weeks begin in the person's time zone. */
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Durations, first passes, waiting times and more, each figure with its definition. */
export function View() {
  return query.value.get('by') === 'lines' ? <LinesTab /> : <FiguresTab />
}

function LinesTab() {
  const span = query.value.get('since') ?? '12w'
  useTabs(span)
  return (
    <div class="page-inner statistics">
      <header class="page-head">
        <h1>Statistics</h1>
      </header>
      <Tabs by="lines" span={span} />
      <LineShares />
    </div>
  )
}

function useTabs(span: string): void {
  const go = (at: number) => () => navigate(addressOf(groupings[at]?.by ?? 'week', span))
  useCommands({
    'tab 1': go(0),
    'tab 2': go(1),
    'tab 3': go(2),
    'tab 4': go(3),
    'tab 5': go(4),
    'tab 6': go(5),
  })
}

function Tabs({ by, span }: { readonly by: string; readonly span: string }) {
  return (
    <nav class="tabs" aria-label="Groups">
      {groupings.map((each) => (
        <a key={each.by} href={addressOf(each.by, span)} {...(each.by === by && { 'aria-current': 'page' })}>
          {each.title}
        </a>
      ))}
    </nav>
  )
}

function FiguresTab() {
  const by = (figureGroups.find((known) => known.by === query.value.get('by')) ?? figureGroups[0]).by
  const span = (spans.find(({ since }) => since === query.value.get('since')) ?? spans[1]).since
  const read = useQuery('stats', { group_by: by, zone, since: span })
  useTabs(span)
  const answer = read.answer.value
  if (answer === null) return <Pending failure={read.failure} title="Statistics" />
  return (
    <div class="page-inner statistics">
      <header class="page-head">
        <h1>Statistics</h1>
        <select
          class="field"
          aria-label="Period"
          value={span}
          onChange={({ currentTarget }) => setQuery({ since: currentTarget.value })}
        >
          {spans.map(({ since, title }) => (
            <option key={since} value={since}>
              {title}
            </option>
          ))}
        </select>
      </header>
      <Tabs by={by} span={span} />
      {isEmpty(answer.all) ? (
        <EmptyState title="Statistics appear here when an attempt, an inbox item or a mission has ended.">
          <a class="button" href={href('/board')}>
            See the board
          </a>
        </EmptyState>
      ) : (
        <StatisticsTables answer={answer} />
      )}
    </div>
  )
}

function addressOf(by: string, since: string): string {
  return href(`/statistics?by=${by}&since=${since}`)
}

function StatisticsTables({ answer }: { readonly answer: Statistics }) {
  const { group_by, all, groups, definitions, groups_total: total, notes } = answer
  const shown = definitions.flatMap((definition) =>
    isFigure(definition.figure) ? [{ ...definition, figure: definition.figure }] : [],
  )
  const [only, another] = groups
  return (
    <>
      {another === undefined ? (
        <p class="muted figure-alone">
          {only === undefined || only.key === null
            ? `There is no ${group_by} to compare by.`
            : `There is only one ${group_by} yet: ${only.name}.`}
        </p>
      ) : null}
      <ul class="figure-cards">
        {shown.map(({ figure, title, basis, unit, definition }) => {
          const { n, text, more } = figureText(all, figure)
          return (
            <li key={figure} class="figure-card" data-basis={basis}>
              <h2>
                {title} <span class="basis">{basis}</span>
              </h2>
              <p class="figure-value">
                <b>{text}</b> <span class="muted">{more}</span>
              </p>
              <Columns
                basis={basis}
                values={groups.map((group) => figureText(group, figure).value)}
                names={groups.map(({ name }) => name)}
                texts={
                  group_by === 'week' ? undefined : groups.map((group) => figureText(group, figure).text)
                }
              />
              <p class="figure-n">
                {n === 0 ? `No ${unit} counted yet` : `${n} ${n === 1 ? unit.replace(/s$/, '') : unit}`}
              </p>
              <p class="muted figure-definition">{definition}</p>
            </li>
          )
        })}
      </ul>
      {groups.length === 0 || (group_by === 'week' && groups.length === 1) ? null : (
        <GroupTable answer={answer} figures={shown} />
      )}
      {total > groups.length ? (
        <p class="muted">
          {groups.length} of {total} groups are shown. For more, use <code>waymark stats --limit</code>.
        </p>
      ) : null}
      {notes.map((note) => (
        <p key={note} class="muted">
          {note}
        </p>
      ))}
    </>
  )
}

interface GroupTableProps {
  readonly answer: Statistics
  readonly figures: readonly (Statistics['definitions'][number] & {
    readonly figure: keyof StatisticsFigures
  })[]
}

/** The figures by group, each with its count. */
function GroupTable({ answer: { group_by, groups, zone: weeksIn }, figures }: GroupTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys, too
    <section class="group-table full-width" aria-label={`Figures by ${group_by}`} tabIndex={0}>
      <table>
        <caption>
          After each figure, n: how many it counts. –: not known. The table scrolls sideways.
          {group_by === 'week' ? ` Weeks in ${weeksIn}.` : ''}
        </caption>
        <thead>
          <tr>
            <th scope="col">{group_by}</th>
            {figures.map(({ figure, title }) => (
              <th key={figure} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.key ?? ''}>
              <th scope="row">
                {group_by === 'mission' && group.key !== null ? (
                  <a href={href(`/missions/${group.key}`)}>{group.name}</a>
                ) : (
                  group.name
                )}
              </th>
              {figures.map(({ figure }) => {
                const { n, text } = figureText(group, figure)
                return (
                  <td key={figure}>
                    {text} <span class="muted">n {n}</span>
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount } from '../../kernel/text.ts'
import { blocks, bullets, pairs, section } from '../../surfaces/cli/render/parts.ts'
import { table, twoColumns } from '../../surfaces/cli/render/table.ts'
import type { CallView, RenderContext } from '../../surfaces/cli/render/view.ts'

type LineStats = OutputOf<'provenance_stats'>

/** The lines of a commit by author, and how many of each attempt are still there. */
export const lineStats: CallView<'provenance_stats'> = (answer, page, { explain = false }) => {
  const { commit, commits, lines, files, kinds, groups, group_by, definitions } = answer
  const range = commits === null ? '' : ` of ${formatCount(commits, 'commit')}`
  return blocks(
    `${page.ink('bold', headline(answer))}\n${page.ink('dim', `In ${formatCount(files, 'file')}${range}, at ${commit.slice(0, 12)}`)}`,
    section(
      'Lines',
      pairs(
        [
          ['by agents', lineCount(kinds.agent, lines)],
          ['outside', lineCount(kinds.outside, lines)],
          ['by people', lineCount(kinds.human, lines)],
          ['from before', lineCount(kinds.before, lines)],
          ['unknown', lineCount(kinds.author, lines)],
        ],
        page,
      ),
      page,
    ),
    section(`By ${group_by}`, groupTable(groups, lines, page), page),
    section('Still there, by attempt', survivalTable(answer, page), page),
    section('Still there, by age', ageTable(answer, page), page),
    section('Changed within 14 days', reworkText(answer), page),
    !explain
      ? page.ink('dim', 'What the figures mean: waymark provenance stats --explain')
      : section(
          'What the figures mean',
          twoColumns(
            [
              ['by agents', definitions.share],
              ...(answer.survival === undefined
                ? []
                : ([
                    ['still there', definitions.survival],
                    ['changed within 14 days', definitions.reworked],
                  ] as const)),
            ],
            { width: Math.min(page.width, 110) },
          ),
          page,
        ),
    bullets(answer.left_out),
  )
}

/** `21 of 78 lines by agents, 57 from before`: the kinds that are listed below it. */
function headline({ kinds, lines }: LineStats): string {
  const others = [
    [kinds.outside, 'outside'],
    [kinds.human, 'by people'],
    [kinds.before, 'from before Waymark'],
    [kinds.author, 'unknown'],
  ] as const
  return [
    `${kinds.agent} of ${formatCount(lines, 'line')} by agents`,
    ...others.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`),
  ].join(', ')
}

function groupTable(groups: LineStats['groups'], lines: number, page: RenderContext): string {
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'lines', align: 'right' as const },
    { title: 'share', align: 'right' as const },
    { title: 'files', align: 'right' as const },
  ]
  return table(
    columns,
    groups.map((group) => [
      group.name,
      String(group.lines),
      percent(group.lines / lines),
      String(group.files),
    ]),
    page,
  )
}

function survivalTable({ survival = [] }: LineStats, page: RenderContext): string {
  const columns = [
    { title: 'task', shrinks: true },
    { title: 'agent' },
    { title: 'added', align: 'right' as const },
    { title: 'still there', align: 'right' as const },
    { title: 'age', align: 'right' as const },
    { title: 'attempt' },
  ]
  return table(
    columns,
    survival.map((entry) => [
      entry.task,
      entry.agent,
      String(entry.added),
      `${entry.alive} (${percent(entry.share)})`,
      formatCount(entry.age_days, 'day'),
      page.ink('dim', entry.attempt),
    ]),
    page,
  )
}

function ageTable({ ages = [] }: LineStats, page: RenderContext): string {
  const columns = [
    { title: 'age' },
    { title: 'attempts', align: 'right' as const },
    { title: 'added', align: 'right' as const },
    { title: 'still there', align: 'right' as const },
  ]
  const rows = ages
    .filter(({ n }) => n > 0)
    .map(({ up_to_days: days, n, added, alive, share }) => [
      days === null ? 'older' : `up to ${formatCount(days, 'day')}`,
      String(n),
      String(added),
      `${alive} (${percent(share)})`,
    ])
  return table(columns, rows, page)
}

function reworkText({ reworked_within_14_days: rework }: LineStats): string {
  if (rework === undefined || rework.n === 0) return ''
  return `Of ${formatCount(rework.added, 'line')} in ${formatCount(rework.n, 'attempt')}: ${rework.by_agent} by agents (${percent(rework.share_by_agent)}), ${rework.by_outside} outside (${percent(rework.share_by_outside)}), ${rework.later} later, ${rework.unseen} unseen.`
}

function lineCount(count: number, of: number): string {
  return count === 0 ? '' : `${count} (${percent(count / of)})`
}

function percent(share: number | null): string {
  return share === null || Number.isNaN(share) ? '–' : `${Math.round(share * 100)} %`
}

import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { formatCount as amount, plainWord } from '../../kernel/text.ts'
import { blocks, section, warnings } from '../../surfaces/cli/render/parts.ts'
import { table, twoColumns } from '../../surfaces/cli/render/table.ts'
import { clockTime, formatDuration } from '../../surfaces/cli/render/text.ts'
import type { CallView, RenderContext } from '../../surfaces/cli/render/view.ts'

type StatsAnswer = OutputOf<'stats'>
type StatsFigures = StatsAnswer['all']

/** A figure in words, never without its sample size. */
interface FigureLine {
  readonly figure: keyof StatsFigures
  readonly n: number
  readonly value: string
}

const unknown = '–'

/** The figures with n and basis, a table of the groups, and the definitions. */
export const stats: CallView<'stats'> = (answer, page, { explain = false }) => {
  const { all, groups, groups_total: total, definitions, zone, since, group_by } = answer
  const lines = linesOf(all)
  if (lines.every(({ n }) => n === 0)) {
    return `No work has ended ${since === null ? 'yet' : `since ${clockTime(since).slice(0, 16)}; --since all shows all time`}. Statistics count attempts, tasks, missions, answers and events that have ended.`
  }
  const definitionOf = new Map(definitions.map((definition) => [definition.figure, definition]))
  const rows = lines.map(({ figure, n, value }) => {
    const { title = figure, unit = '', basis = '' } = definitionOf.get(figure) ?? {}
    return [
      title,
      value,
      amount(n, unit.replace(/s$/, '')),
      basis === 'claimed' ? page.ink('italic', basis) : basis,
    ]
  })
  const columns = [
    { title: 'figure' },
    { title: 'value', shrinks: true },
    { title: 'of' },
    { title: 'basis' },
  ]
  const head = `Statistics${since === null ? '' : ` since ${clockTime(since).slice(0, 16)}`}`
  const cut = total > groups.length ? `${groups.length} of ${total} are shown; --limit shows more.` : ''
  return blocks(
    `${page.ink('bold', head)}\n${table(columns, rows, page)}`,
    section('First verdicts, by rule', verdictRulesTable(all, page), page),
    section('Waiting, by kind', waitKindsTable(all, page), page),
    section(group_by === 'week' ? `By week (${zone})` : `By ${group_by}`, groupsTable(groups, page), page),
    cut,
    !explain
      ? page.ink('dim', 'What the figures mean: waymark stats --explain')
      : section(
          'What the figures mean',
          twoColumns(
            definitions.map(({ title, definition }) => [title, definition]),
            { width: Math.min(page.width, 110) },
          ),
          page,
        ),
    warnings(answer.notes, page),
  )
}

function linesOf(figures: StatsFigures): readonly FigureLine[] {
  const { task_time, attempt_time, mission_time, first_pass, verdicts, landed, waiting } = figures
  const { out_of_scope, retries, refused_events, lines, tokens, turn_tokens } = figures
  return [
    { figure: 'task_time', n: task_time.n, value: spread(task_time) },
    { figure: 'attempt_time', n: attempt_time.n, value: spread(attempt_time) },
    { figure: 'mission_time', n: mission_time.n, value: spread(mission_time) },
    {
      figure: 'first_pass',
      n: first_pass.n,
      value: textOrNone(first_pass.share, (share) => `${percent(share)} (${first_pass.passed})`),
    },
    {
      figure: 'verdicts',
      n: verdicts.n,
      value: textOrNone(verdicts.proven, () => verdictCountsText(verdicts)),
    },
    { figure: 'landed', n: landed.n, value: textOrNone(landed.landed, () => landedText(landed)) },
    {
      figure: 'waiting',
      n: waiting.n,
      value: textOrNone(waiting.total_seconds, (all) => `${spread(waiting)}, ${time(all)} in all`),
    },
    {
      figure: 'out_of_scope',
      n: out_of_scope.n,
      value: textOrNone(
        out_of_scope.files,
        (files) => `${files} in ${amount(out_of_scope.attempts ?? 0, 'attempt')}`,
      ),
    },
    {
      figure: 'retries',
      n: retries.n,
      value: textOrNone(retries.per_task, (each) => `${each}, ${retries.tried_again} tried again`),
    },
    {
      figure: 'refused_events',
      n: refused_events.n,
      value: textOrNone(
        refused_events.refused,
        (refused) => `${refused} (${percent(refused_events.share ?? 0)})`,
      ),
    },
    {
      figure: 'lines',
      n: lines.n,
      value: textOrNone(lines.added, (added) => `+${added} -${lines.deleted}${withoutLines(lines)}`),
    },
    { figure: 'tokens', n: Math.max(tokens.input.n, tokens.output.n), value: tokenUseText(tokens, ', ') },
    {
      figure: 'turn_tokens',
      n: Math.max(turn_tokens.input.n, turn_tokens.output.n),
      value: tokenUseText(turn_tokens, ', '),
    },
  ]
}

function verdictCountsText({ proven, unproven, contradicted, explained }: StatsFigures['verdicts']): string {
  const counts = { proven, unproven, contradicted, 'contradicted and cleared later': explained }
  return Object.entries(counts)
    .flatMap(([name, count]) => (count ? [`${count} ${name}`] : []))
    .join(', ')
}

function landedText({ landed, share, reverted, lost, after }: StatsFigures['landed']): string {
  const later = after.flatMap(({ days, share: part }) =>
    part === null ? [] : [`${percent(part)} after ${amount(days, 'day')}`],
  )
  const gone = Object.entries({ reverted, lost }).flatMap(([name, count]) =>
    count ? [`${count} ${name}`] : [],
  )
  return [`${percent(share ?? 0)} (${landed})`, ...later, ...gone].join(', ')
}

function verdictRulesTable({ verdicts }: StatsFigures, page: RenderContext): string {
  const rows = verdicts.by_rule.map(({ rule, n }) => [plainWord(rule), `${n}`])
  return table([{ title: 'rule', shrinks: true }, { title: 'completions' }], rows, page)
}

function waitKindsTable({ waiting }: StatsFigures, page: RenderContext): string {
  const rows = waiting.by_kind.map((wait) => [
    wait.kind.replace(/_/g, ' '),
    spread(wait),
    textOrNone(wait.total_seconds, time),
    `${wait.n}`,
  ])
  const columns = [
    { title: 'kind' },
    { title: 'waited', shrinks: true },
    { title: 'in all' },
    { title: 'items' },
  ]
  return table(columns, rows, page)
}

/** Each cell with its n in brackets. */
function groupsTable(groups: StatsAnswer['groups'], page: RenderContext): string {
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'task time' },
    { title: 'attempt time' },
    { title: 'first pass (claimed)' },
    { title: 'contradicted' },
    { title: 'landed' },
    { title: 'waiting' },
    { title: 'out of scope' },
    { title: 'attempts per task' },
    { title: 'lines' },
    { title: 'tokens (claimed)' },
    { title: 'of turns (claimed)' },
  ]
  const rows = groups.map((group) => {
    const {
      task_time,
      attempt_time,
      first_pass,
      verdicts,
      landed,
      waiting,
      out_of_scope,
      retries,
      lines,
      tokens,
      turn_tokens,
    } = group
    return [
      group.name,
      valueWithCount(textOrNone(task_time.median_seconds, time), task_time.n),
      valueWithCount(textOrNone(attempt_time.median_seconds, time), attempt_time.n),
      valueWithCount(textOrNone(first_pass.share, percent), first_pass.n),
      valueWithCount(textOrNone(verdicts.contradicted, String), verdicts.n),
      valueWithCount(textOrNone(landed.share, percent), landed.n),
      valueWithCount(textOrNone(waiting.median_seconds, time), waiting.n),
      valueWithCount(textOrNone(out_of_scope.files, String), out_of_scope.n),
      valueWithCount(textOrNone(retries.per_task, String), retries.n),
      valueWithCount(
        textOrNone(lines.added, (added) => `+${added} -${lines.deleted}`),
        lines.n,
      ),
      tokenUseText(tokens, ' '),
      tokenUseText(turn_tokens, ' '),
    ]
  })
  return table(columns, rows, page)
}

function valueWithCount(value: string, n: number): string {
  return n === 0 ? unknown : `${value} (${n})`
}

function spread({ median_seconds: median, p90_seconds: p90 }: StatsFigures['task_time']): string {
  return textOrNone(median, (half) => `median ${time(half)}, p90 ${time(p90 ?? half)}`)
}

function tokenUseText(
  { input, output }: Pick<StatsFigures['tokens'], 'input' | 'output'>,
  between: string,
): string {
  return (
    [tokenCountText(input, 'in'), tokenCountText(output, 'out')]
      .filter((text) => text !== '')
      .join(between) || unknown
  )
}

function tokenCountText({ n, sum }: StatsFigures['tokens']['input'], direction: string): string {
  return textOrNone(sum, (number) => `${number.toLocaleString('en')} ${direction} (${n})`, '')
}

function withoutLines({ files_without_lines: files }: StatsFigures['lines']): string {
  if (files === null || files === 0) return ''
  return files === 1 ? ', and 1 file without lines' : `, and ${files} files without lines`
}

function textOrNone(
  value: number | null,
  words: (definite: number) => string,
  none: string = unknown,
): string {
  return value === null ? none : words(value)
}

function time(seconds: number): string {
  const whole = Math.round(seconds)
  const days = Math.floor(whole / 86_400)
  if (days === 0) return formatDuration(whole)
  const rest = whole % 86_400
  return rest < 3600 ? `${days} d` : `${days} d ${Math.floor(rest / 3600)} h`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

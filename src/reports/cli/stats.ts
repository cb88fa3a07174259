import type { OutputOf } from '../../kernel/operations/catalog.ts'
import { counted as amount } from '../../kernel/text.ts'
import { blocks, section, warnings } from '../../surfaces/cli/render/parts.ts'
import { table, twoColumns } from '../../surfaces/cli/render/table.ts'
import { lasting } from '../../surfaces/cli/render/text.ts'
import type { Page, View } from '../../surfaces/cli/render/view.ts'

type Stats = OutputOf<'stats'>
type Figures = Stats['all']

/** A figure in words: none is shown without the number that it is counted from. */
interface Line {
  readonly figure: keyof Figures
  readonly n: number
  readonly value: string
}

const unknown = '–'

/** Figures with their n and their basis; a table of the groups; what each figure is. */
export const stats: View<'stats'> = (answer, page) => {
  const { all, groups, groups_total: total, definitions, zone, since, by } = answer
  const lines = linesOf(all)
  if (lines.every(({ n }) => n === 0)) {
    return 'Nothing has ended yet in the time asked about. Figures are told of attempts, tasks, missions, answers and events once they ended.'
  }
  const known = new Map(definitions.map((definition) => [definition.figure, definition]))
  const rows = lines.map(({ figure, n, value }) => {
    const { title = figure, of = '', basis = '' } = known.get(figure) ?? {}
    return [
      title,
      value,
      amount(n, of.replace(/s$/, '')),
      basis === 'claimed' ? page.ink('italic', basis) : basis,
    ]
  })
  const columns = [{ title: 'figure' }, { title: 'value', shrinks: true }, { title: 'n' }, { title: 'basis' }]
  const head = `Statistics${since === null ? '' : ` since ${since}`}`
  const cut = total > groups.length ? `${groups.length} of ${total} are shown; --limit shows more.` : ''
  return blocks(
    `${page.ink('bold', head)}\n${table(columns, rows, page)}`,
    section('Waiting, by kind', kinds(all, page), page),
    section(by === 'week' ? `By week (${zone})` : `By ${by}`, grouped(groups, page), page),
    cut,
    section(
      'What each figure is',
      twoColumns(
        definitions.map(({ title, definition }) => [title, definition]),
        { width: Math.min(page.width, 110) },
      ),
      page,
    ),
    warnings(answer.notes, page),
  )
}

function linesOf(figures: Figures): readonly Line[] {
  const { task_time, attempt_time, mission_time, first_pass, waiting } = figures
  const { out_of_scope, retries, refused_events, lines, tokens, turn_tokens } = figures
  return [
    { figure: 'task_time', n: task_time.n, value: spread(task_time) },
    { figure: 'attempt_time', n: attempt_time.n, value: spread(attempt_time) },
    { figure: 'mission_time', n: mission_time.n, value: spread(mission_time) },
    {
      figure: 'first_pass',
      n: first_pass.n,
      value: told(first_pass.share, (share) => `${percent(share)} (${first_pass.passed})`),
    },
    {
      figure: 'waiting',
      n: waiting.n,
      value: told(waiting.total_seconds, (all) => `${spread(waiting)}, ${time(all)} in all`),
    },
    {
      figure: 'out_of_scope',
      n: out_of_scope.n,
      value: told(
        out_of_scope.files,
        (files) => `${files} in ${amount(out_of_scope.attempts ?? 0, 'attempt')}`,
      ),
    },
    {
      figure: 'retries',
      n: retries.n,
      value: told(retries.per_task, (each) => `${each}, ${retries.tried_again} tried again`),
    },
    {
      figure: 'refused_events',
      n: refused_events.n,
      value: told(refused_events.refused, (refused) => `${refused} (${percent(refused_events.share ?? 0)})`),
    },
    {
      figure: 'lines',
      n: lines.n,
      value: told(lines.added, (added) => `+${added} -${lines.deleted}${withoutLines(lines)}`),
    },
    { figure: 'tokens', n: Math.max(tokens.input.n, tokens.output.n), value: used(tokens, ', ') },
    {
      figure: 'turn_tokens',
      n: Math.max(turn_tokens.input.n, turn_tokens.output.n),
      value: used(turn_tokens, ', '),
    },
  ]
}

function kinds({ waiting }: Figures, page: Page): string {
  const rows = waiting.by_kind.map((wait) => [
    wait.kind.replace(/_/g, ' '),
    spread(wait),
    told(wait.total_seconds, time),
    `${wait.n}`,
  ])
  const columns = [
    { title: 'kind' },
    { title: 'median · 9 of 10', shrinks: true },
    { title: 'in all' },
    { title: 'n' },
  ]
  return table(columns, rows, page)
}

/** Each cell with its n in brackets. */
function grouped(groups: Stats['groups'], page: Page): string {
  const columns = [
    { title: 'name', shrinks: true },
    { title: 'task time' },
    { title: 'attempt time' },
    { title: 'first pass (claimed)' },
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
      waiting,
      out_of_scope,
      retries,
      lines,
      tokens,
      turn_tokens,
    } = group
    return [
      group.name,
      counted(told(task_time.median_seconds, time), task_time.n),
      counted(told(attempt_time.median_seconds, time), attempt_time.n),
      counted(told(first_pass.share, percent), first_pass.n),
      counted(told(waiting.median_seconds, time), waiting.n),
      counted(told(out_of_scope.files, String), out_of_scope.n),
      counted(told(retries.per_task, String), retries.n),
      counted(
        told(lines.added, (added) => `+${added} -${lines.deleted}`),
        lines.n,
      ),
      used(tokens, ' '),
      used(turn_tokens, ' '),
    ]
  })
  return table(columns, rows, page)
}

function counted(value: string, n: number): string {
  return n === 0 ? unknown : `${value} (${n})`
}

function spread({ median_seconds: median, p90_seconds: p90 }: Figures['task_time']): string {
  return told(median, (half) => `${time(half)} · ${time(p90 ?? half)}`)
}

function used({ input, output }: Pick<Figures['tokens'], 'input' | 'output'>, between: string): string {
  return [said(input, 'in'), said(output, 'out')].filter((text) => text !== '').join(between) || unknown
}

function said({ n, sum }: Figures['tokens']['input'], direction: string): string {
  return told(sum, (number) => `${number.toLocaleString('en')} ${direction} (${n})`, '')
}

function withoutLines({ files_without_lines: files }: Figures['lines']): string {
  if (files === null || files === 0) return ''
  return files === 1 ? ', and 1 file without lines' : `, and ${files} files without lines`
}

function told(value: number | null, words: (known: number) => string, none: string = unknown): string {
  return value === null ? none : words(value)
}

function time(seconds: number): string {
  const whole = Math.round(seconds)
  const days = Math.floor(whole / 86_400)
  if (days === 0) return lasting(whole)
  const rest = whole % 86_400
  return rest < 3600 ? `${days} d` : `${days} d ${Math.floor(rest / 3600)} h`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

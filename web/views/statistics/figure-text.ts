import { formatCount } from '../../../src/kernel/text.ts'
import type { OutputOf } from '../../../src/surfaces/http/client/client.ts'
import { durationText } from '../../parts/duration.ts'

export type Statistics = OutputOf<'stats'>
export type LineStatistics = OutputOf<'provenance_stats'>
export type StatisticsFigures = Statistics['all']

/** The text of a figure. */
export interface FigureText {
  readonly n: number
  /** The number that a chart draws; null where it is unknown. */
  readonly value: number | null
  /** Never empty: `–` where it is unknown. */
  readonly text: string
  /** A note after the text, or empty. */
  readonly more: string
}

const unknown = '–'

/** The format of each figure, for cards, charts and the table. */
const formats: {
  readonly [Name in keyof StatisticsFigures]: (figure: StatisticsFigures[Name]) => FigureText
} = {
  task_time: spread,
  attempt_time: spread,
  mission_time: spread,
  first_pass: ({ n, passed, share }) => textOfFigure(n, share, percent, `${passed} of ${n}`),
  verdicts: ({ n, proven, unproven, contradicted, explained }) =>
    textOfFigure(
      n,
      contradicted,
      (count) => `${count} contradicted`,
      `${proven} proven, ${unproven} unproven${explained ? `, ${explained} contradicted and cleared later` : ''}`,
    ),
  landed: ({ n, share, landed, reverted, lost, after }) => {
    const later = after.flatMap(({ days, share: part }) =>
      part === null ? [] : [`${percent(part)} after ${formatCount(days, 'day')}`],
    )
    const gone = Object.entries({ reverted, lost }).flatMap(([name, count]) =>
      count ? [`${count} ${name}`] : [],
    )
    return textOfFigure(n, share, percent, [`${landed} of ${n}`, ...later, ...gone].join(', '))
  },
  waiting: (figure) => {
    const { more, ...rest } = spread(figure)
    const { total_seconds: total } = figure
    return { ...rest, more: total === null ? more : `${more}, ${secondsText(total)} in all` }
  },
  out_of_scope: ({ n, files, attempts }) =>
    textOfFigure(n, files, String, attempts ? `in ${formatCount(attempts, 'attempt')}` : ''),
  retries: ({ n, per_task, tried_again }) => textOfFigure(n, per_task, String, `${tried_again} tried again`),
  refused_events: ({ n, refused, share }) =>
    textOfFigure(n, refused, String, share === null ? '' : percent(share)),
  lines: ({ n, added, deleted, files_without_lines: files }) => ({
    ...textOfFigure(n, added === null ? null : added + (deleted ?? 0), () => `+${added} −${deleted}`, ''),
    more: files === null || files === 0 ? '' : `${formatCount(files, 'file')} without lines`,
  }),
  tokens: tokenUse,
  turn_tokens: tokenUse,
}

/** The text of a figure by its name. */
export function figureText(figures: StatisticsFigures, name: keyof StatisticsFigures): FigureText {
  const format = formats[name] as (figure: StatisticsFigures[keyof StatisticsFigures]) => FigureText // the format of that name
  return format(figures[name])
}

export function isFigure(name: string): name is keyof StatisticsFigures {
  return Object.hasOwn(formats, name)
}

/** Whether no figure counts anything. */
export function isEmpty(figures: StatisticsFigures): boolean {
  return Object.keys(figures).every((name) => !isFigure(name) || figureText(figures, name).n === 0)
}

function spread({ n, median_seconds: median, p90_seconds: p90 }: StatisticsFigures['task_time']): FigureText {
  return textOfFigure(n, median, secondsText, p90 === null ? '' : `median, 90 % within ${secondsText(p90)}`)
}

function textOfFigure(
  n: number,
  value: number | null,
  format: (known: number) => string,
  more: string,
): FigureText {
  return value === null ? { n, value, text: unknown, more: '' } : { n, value, text: format(value), more }
}

function tokenUse({ input, output }: Pick<StatisticsFigures['tokens'], 'input' | 'output'>): FigureText {
  const value = input.sum === null && output.sum === null ? null : (input.sum ?? 0) + (output.sum ?? 0)
  // Both of the same attempts need no count of their own.
  const isCounted = input.n !== output.n
  const parts = [part(input, 'in', isCounted), part(output, 'out', isCounted)].filter((text) => text !== '')
  return { n: Math.max(input.n, output.n), value, text: parts.join(', ') || unknown, more: '' }
}

function part(
  { n, sum }: StatisticsFigures['tokens']['input'],
  direction: string,
  isCounted: boolean,
): string {
  return sum === null ? '' : `${compact.format(sum)} ${direction}${isCounted ? ` (n ${n})` : ''}`
}

const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

function secondsText(length: number): string {
  return durationText(length * 1000)
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

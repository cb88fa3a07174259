import { layoutColumns } from '../../geometry/bar-chart.ts'

interface ColumnsProps {
  readonly basis: 'measured' | 'claimed'
  /** One for each group, in the order of the table; null where it is unknown. */
  readonly values: readonly (number | null)[]
}

const size = { width: 240, height: 44 }

/** A column for each group. The table below has the same numbers in text. One group needs no chart: the card has its number. */
export function Columns({ basis, values }: ColumnsProps) {
  if (values.filter((value) => value !== null).length < 2) return null
  const step = size.width / Math.max(1, values.length)
  return (
    <svg
      class="columns"
      data-basis={basis}
      viewBox={`0 -1 ${size.width} ${size.height + 2}`}
      width={size.width}
      height={size.height + 2}
      aria-hidden="true"
    >
      <line class="ground" x1="0" x2={size.width} y1={size.height + 0.5} y2={size.height + 0.5} />
      {layoutColumns(values, size).map((column, at) =>
        column === null ? null : <rect key={Math.round(at * step * 100)} class="column" rx="1" {...column} />,
      )}
    </svg>
  )
}

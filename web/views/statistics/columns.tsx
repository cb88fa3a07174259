import { layoutColumns } from '../../geometry/bar-chart.ts'

interface ColumnsProps {
  readonly basis: 'measured' | 'claimed'
  /** One for each group, in the order of the table; null where it is unknown. */
  readonly values: readonly (number | null)[]
  readonly names: readonly string[]
  /** The values as text, where each has a line of its own; without it, only the names stand below. */
  readonly texts?: readonly string[] | undefined
}

/** With more, only the first and the last have room for their names. */
const maxNames = 6

const size = { width: 240, height: 44 }

/** A column for each group. The table below has the same numbers in text. One group needs no chart: the card has its number. */
export function Columns({ basis, values, names, texts }: ColumnsProps) {
  if (values.filter((value) => value !== null).length < 2) return null
  const step = size.width / Math.max(1, values.length)
  const shown = names.length > maxNames ? [names[0] ?? '', names.at(-1) ?? ''] : names
  return (
    <div>
      <svg
        aria-hidden="true"
        class="columns"
        data-basis={basis}
        viewBox={`0 -1 ${size.width} ${size.height + 2}`}
        width={size.width}
        height={size.height + 2}
      >
        <line class="ground" x1="0" x2={size.width} y1={size.height + 0.5} y2={size.height + 0.5} />
        {layoutColumns(values, size).map((column, at) =>
          column === null ? null : (
            <rect key={Math.round(at * step * 100)} class="column" rx="1" {...column} />
          ),
        )}
      </svg>
      {texts !== undefined && names.length <= maxNames ? (
        <ul class="column-lines" aria-hidden="true">
          {names.map((name, at) => (
            <li key={name}>
              <span class="muted cut" title={name}>
                {name}
              </span>
              <span>{texts[at]}</span>
            </li>
          ))}
        </ul>
      ) : (
        <p
          class="column-names muted"
          aria-hidden="true"
          {...(names.length > maxNames && { 'data-ends': '' })}
        >
          {shown.map((name) => (
            <span key={name} class="cut" title={name}>
              {name}
            </span>
          ))}
        </p>
      )}
    </div>
  )
}

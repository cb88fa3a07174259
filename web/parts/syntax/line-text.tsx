import { useMemo, useState } from 'preact/hooks'
import { lineParts } from '../../geometry/line-parts.ts'
import './syntax.css'

/** More of a line is shown on demand: a minified file may be one line. */
const atFirst = 1_000

interface TextProps {
  readonly text: string
  readonly colours: Parameters<typeof lineParts>[1]['colours']
  readonly changed: Parameters<typeof lineParts>[1]['changed']
}

/** A line with its colours, what changed within it, and what is not seen in it by name. */
export function LineText({ text, colours, changed }: TextProps) {
  const [isWhole, setWhole] = useState(false)
  const seen = isWhole ? text : text.slice(0, atFirst)
  const parts = useMemo(() => lineParts(seen, { colours, changed }), [seen, colours, changed])
  return (
    <span class="line-text">
      {parts.map(({ text: part, colour, changed: isChanged, odd }, at) =>
        colour === null && !isChanged && !odd ? (
          part
        ) : (
          <span
            key={at}
            {...(colour !== null && { 'data-colour': colour })}
            {...(isChanged && { 'data-changed': '' })}
            {...(odd && { class: 'odd', title: 'A character that is not seen' })}
          >
            {part}
          </span>
        ),
      )}
      {text.length > seen.length ? (
        <button type="button" class="gap-button" onClick={() => setWhole(true)}>
          {(text.length - seen.length).toLocaleString('en')} more characters
        </button>
      ) : null}
    </span>
  )
}

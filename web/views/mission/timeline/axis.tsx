import { xOf } from '../../../geometry/time-scale.ts'
import { ticksOf } from '../../../geometry/time-ticks.ts'
import { now } from '../../../live/now.ts'
import { clockText, durationText } from '../../../parts/duration.ts'
import { useTimeline } from './context.ts'

/** Minutes that this machine's time is ahead of UTC. */
const ahead = (at: number): number => -new Date(at).getTimezoneOffset()

/** Times, and how long what is folded took. */
export function Axis() {
  const { model } = useTimeline()
  const scale = model.scale.value
  const width = model.width.value
  const ticks = ticksOf(scale, { width, ahead })
  const folds = scale.pieces.filter((piece) => piece.folded && seen(piece.x - scale.left, width))
  return (
    <div class="axis" aria-hidden="true">
      {ticks.map(({ at, x, label }) => (
        <span key={at} class="tick" style={{ transform: `translateX(${x}px)` }}>
          {label}
        </span>
      ))}
      {folds.map((piece) => (
        <span
          key={piece.from}
          class="fold-label"
          title={`${durationText(piece.to - piece.from)} without work, from ${clockText(piece.from, now.peek())} to ${clockText(piece.to, now.peek())}`}
          style={{ transform: `translateX(${piece.x - scale.left}px)`, width: `${piece.width}px` }}
        >
          {durationText(piece.to - piece.from).split(' ')[0]}
        </span>
      ))}
    </div>
  )
}

/** Lines behind all rows, drawn once: at each tick, where time is folded, and now. */
export function GridLines() {
  const { model } = useTimeline()
  const scale = model.scale.value
  const width = model.width.value
  return (
    <div class="grid-lines" aria-hidden="true">
      {ticksOf(scale, { width, ahead }).map(({ at, x }) => (
        <span key={at} class="grid-line" style={{ transform: `translateX(${x}px)` }} />
      ))}
      {scale.pieces
        .filter((piece) => piece.folded && seen(piece.x - scale.left, width))
        .map((piece) => (
          <span
            key={piece.from}
            class="fold-band"
            style={{ transform: `translateX(${piece.x - scale.left}px)`, width: `${piece.width}px` }}
          />
        ))}
    </div>
  )
}

export function NowLine() {
  const { model } = useTimeline()
  if (!model.running.value) return null
  const x = xOf(model.scale.value, now.value)
  if (!seen(x, model.width.value)) return null
  return (
    <div class="grid-lines over" aria-hidden="true">
      <span class="now-line" style={{ transform: `translateX(${x}px)` }} />
    </div>
  )
}

function seen(x: number, width: number): boolean {
  return x > -60 && x < width + 60
}

import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { placeLabels } from '../../../geometry/bar-labels.ts'
import { type Bar, barsWithin, layoutBars } from '../../../geometry/bar-layout.ts'
import type { TaskRow } from '../../../geometry/lane-rows.ts'
import { layoutMarks, type PlacedMark } from '../../../geometry/mark-layout.ts'
import { contentX } from '../../../geometry/time-scale.ts'
import { now } from '../../../live/now.ts'
import { StatusIcon } from '../../../parts/status-icon.tsx'
import { barStatus, barText } from './bar-text.ts'
import { useTimeline } from './context.ts'
import { MarkSign } from './mark-sign.tsx'
import type { TimelineMark, TimelineSpan, TimelineTask } from './source.ts'

/** What is drawn beyond the edges of what is seen, in pixels. */
const beyond = 200

/** The bars and signs of a task. They are for the eye; the row says the same in words. */
export function ChartRow({ row }: { readonly row: TaskRow<TimelineTask, TimelineSpan> }) {
  const { model, card } = useTimeline()
  const scale = model.content.value
  const left = model.scale.value.left
  const time = row.spans.some(({ to }) => to === null) ? now.value : now.peek()
  const bars = useMemo(() => layoutBars(row.spans, scale, { now: time }), [row.spans, scale, time])
  const marks = useMemo(() => layoutMarks(row.task.marks, scale), [row.task.marks, scale])
  const [from, to] = [left - beyond, left + model.width.value + beyond]
  const seen = barsWithin(bars, from, to)
  const signs = marks.filter(({ x }) => x >= from && x <= to)
  const texts = seen.map((bar) => barText(bar.spans, time))
  const labels = placeLabels(
    seen.map((bar, place) => ({
      x: bar.x,
      width: bar.width,
      main: texts[place]?.durationWidth ?? 0,
      detail: texts[place]?.linesWidth ?? 0,
    })),
    { from: left, to: left + model.width.value, marks: marks.map(({ x }) => x) },
  )
  const hover =
    (bar: Bar<TimelineSpan> | null, mark: PlacedMark<TimelineMark> | null) => (event: PointerEvent) =>
      card.show({ row, spans: bar?.spans ?? [], marks: mark?.marks ?? [], box: boxOf(event) })
  return (
    <div class="chart-line" aria-hidden="true">
      {seen.map((bar, place) => {
        const status = barStatus(bar.spans)
        const { main, detail } = labels[place] ?? { main: null, detail: null }
        const text = texts[place]
        const first = bar.spans[0]?.attempt
        return (
          <Fragment key={first?.id}>
            <span
              class="bar-box"
              data-colour={colourOf[status] ?? 'done'}
              data-status={status}
              data-proof={first?.verification ?? (bar.running ? 'running' : 'none')}
              style={{ transform: `translateX(${bar.x}px)`, width: `${bar.width}px` }}
              onPointerEnter={hover(bar, null)}
              onPointerLeave={card.hide}
            />
            {text && main && (
              <span
                class="bar-text"
                data-inside={main.inside}
                style={{ transform: `translateX(${main.x}px)` }}
              >
                {text.duration}
              </span>
            )}
            {text?.lines && detail && (
              <span class="bar-lines" style={{ transform: `translateX(${detail.x}px)` }}>
                <span class="added">{text.lines.added}</span>{' '}
                <span class="deleted">{text.lines.deleted}</span>
                {text.lines.out !== '' && (
                  <span class="out">
                    <StatusIcon status="blocked" named={false} />
                    {text.lines.out}
                  </span>
                )}
              </span>
            )}
          </Fragment>
        )
      })}
      {signs.map((mark) => (
        <MarkSign
          key={mark.marks[0]?.said.id}
          kind={mark.kind}
          count={mark.marks.length}
          x={mark.x}
          onEnter={hover(null, mark)}
          onLeave={card.hide}
        />
      ))}
      {row.spans.length === 0 && row.task.status === 'ready' && model.running.value && (
        <span class="bar-ready" style={{ transform: `translateX(${contentX(scale, now.peek()) + 6}px)` }}>
          ready
        </span>
      )}
    </div>
  )
}

const colourOf: Readonly<Record<string, string>> = {
  active: 'active',
  failed: 'blocked',
  dropped: 'planned',
  partial: 'done',
  done: 'done',
}

function boxOf(event: PointerEvent) {
  const target = event.currentTarget
  const { left, right, bottom, top } =
    target instanceof Element ? target.getBoundingClientRect() : new DOMRect()
  // Under the pointer where the bar is wide.
  const x = Math.min(Math.max(event.clientX - 24, left), right)
  return { x, top, bottom }
}

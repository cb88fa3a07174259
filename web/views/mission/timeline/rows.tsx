import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { needsYouText } from '../../../../src/inbox/domain/inbox-item.ts'
import {
  type Bar,
  barsWithin,
  layoutBars,
  layoutMarks,
  type PositionedMark,
  placeLabels,
} from '../../../geometry/bar-layout.ts'
import type { GroupRow, LaneGrouping, TaskRow } from '../../../geometry/lane-rows.ts'
import { contentX } from '../../../geometry/time-scale.ts'
import { Agent } from '../../../parts/agent.tsx'
import { type Status, StatusIcon } from '../../../parts/status.tsx'
import { now } from '../../../parts/time.tsx'
import { href } from '../../../router/location.ts'
import { useTimeline } from './model.ts'
import { barStatus, barText, describeSpan, MarkSign } from './signs.tsx'
import type { TaskMarkPoint, TimelineLaneTask, TimelineSpan } from './source.ts'

interface TimelineRowProps {
  readonly id: string
  /** 0 for the first. */
  readonly place: number
  readonly top: number
}

/** A row of the timeline. It draws again when its own data changed, not when another row did. */
export function TimelineRow({ id, place, top }: TimelineRowProps) {
  const { model } = useTimeline()
  const row = model.rows.row(id)?.value
  if (!row) return null
  const selected = model.selected.value === id
  return (
    <li
      class="timeline-row"
      data-row={id}
      data-kind={row.kind}
      aria-setsize={model.rows.order.value.length}
      aria-posinset={place + 1}
      {...(selected && { 'aria-current': 'true' as const })}
      style={{ transform: `translateY(${top}px)` }}
    >
      {row.kind === 'group' ? <Group row={row} /> : <TaskLane row={row} />}
    </li>
  )
}

function Group({ row }: { readonly row: GroupRow }) {
  const { model } = useTimeline()
  const status = groupStatus(row)
  const scale = model.content.value
  const extent = row.extent
  const from = extent ? contentX(scale, extent.from) : 0
  const to = extent ? contentX(scale, row.running ? now.value : extent.to) : 0
  return (
    <>
      <div class="name-cell">
        <button
          type="button"
          class="fold-button"
          aria-expanded={!row.folded}
          aria-label={groupName(row, model.grouping.value)}
          data-folded={row.folded}
          onClick={() => model.fold(row.id)}
        >
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <path d="M3 2 7 5 3 8" />
          </svg>
        </button>
        {model.grouping.value === 'agent' && row.name !== null ? (
          <Agent name={row.name} />
        ) : (
          <>
            <StatusIcon status={status} />
            <span class="cut">{groupName(row, model.grouping.value)}</span>
          </>
        )}
        <span class="count push">
          {row.done} / {row.tasks}
          {row.doneWaiting > 0 && <span class="count-waiting">{needsYouText(row.doneWaiting)}</span>}
        </span>
      </div>
      <div class="chart-cell">
        {extent && (
          <div class="chart-line" aria-hidden="true">
            <span
              class="group-bar"
              data-colour={status === 'active' ? 'active' : 'planned'}
              style={{ transform: `translateX(${from}px)`, width: `${Math.max(to - from, 4)}px` }}
            />
          </div>
        )}
      </div>
    </>
  )
}

function TaskLane({ row }: { readonly row: TaskRow<TimelineLaneTask, TimelineSpan> }) {
  const { model } = useTimeline()
  const { task } = row
  return (
    <>
      <div class="name-cell">
        <StatusIcon status={task.status} />
        <a class="cut task-link" href={href(`/tasks/${task.id}`)} title={task.name}>
          {task.name}
        </a>
        {model.grouping.value === 'phase' && task.agent !== null && (
          <span class="push">
            <Agent name={task.agent} />
          </span>
        )}
      </div>
      <div class="chart-cell">
        <span class="visually-hidden">
          {row.spans.length === 0
            ? 'Not started.'
            : row.spans.map((span) => describeSpan(span, now.peek())).join('. ')}
          {task.marks.map(({ data }) => ` ${data.kind}: ${data.text}.`)}
        </span>
        <ChartRow row={row} />
      </div>
    </>
  )
}

/** Drawn beyond the edges of the visible part, in pixels. */
const beyond = 200

/** The bars and marks of a task. The row has the same in words for screen readers. */
function ChartRow({ row }: { readonly row: TaskRow<TimelineLaneTask, TimelineSpan> }) {
  const { model, card } = useTimeline()
  const scale = model.content.value
  const left = model.scale.value.left
  const time = row.spans.some(({ to }) => to === null) ? now.value : now.peek()
  const bars = useMemo(() => layoutBars(row.spans, scale, { now: time }), [row.spans, scale, time])
  const marks = useMemo(() => layoutMarks(row.task.marks, scale), [row.task.marks, scale])
  const [from, to] = [left - beyond, left + model.width.value + beyond]
  const visible = barsWithin(bars, from, to)
  const signs = marks.filter(({ x }) => x >= from && x <= to)
  const texts = visible.map((bar) => barText(bar.spans, time))
  const labels = placeLabels(
    visible.map((bar, place) => ({
      x: bar.x,
      width: bar.width,
      main: texts[place]?.durationWidth ?? 0,
      detail: texts[place]?.linesWidth ?? 0,
      short: texts[place]?.shortWidth ?? 0,
    })),
    {
      from: left,
      to: left + model.width.value,
      marks: [...marks.map(({ x }) => x), ...(model.running.value ? [contentX(scale, time)] : [])].sort(
        (a, b) => a - b,
      ),
    },
  )
  const hover =
    (bar: Bar<TimelineSpan> | null, mark: PositionedMark<TaskMarkPoint> | null) => (event: PointerEvent) =>
      card.show({ row, spans: bar?.spans ?? [], marks: mark?.marks ?? [], box: boxOf(event) })
  return (
    <div class="chart-line" aria-hidden="true">
      {visible.map((bar, place) => {
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
              data-proof={first?.measurement ?? (bar.running ? 'running' : 'none')}
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
                    {detail.isShort ? null : text.lines.out}
                  </span>
                )}
              </span>
            )}
          </Fragment>
        )
      })}
      {signs.map((mark) => (
        <MarkSign
          key={mark.marks[0]?.data.id}
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
  contradicted: 'blocked',
  unproven: 'planned',
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

function groupStatus({ done, doneWaiting, tasks, running, extent }: GroupRow): Status {
  if (running) return 'active'
  if (tasks > 0 && done - doneWaiting === tasks) return 'done'
  return extent === null ? 'planned' : 'active'
}

function groupName({ name }: GroupRow, grouping: LaneGrouping): string {
  if (name !== null) return name
  return grouping === 'phase' ? 'Without a phase' : 'Unclaimed'
}

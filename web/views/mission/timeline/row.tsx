import type { GroupRow, TaskRow } from '../../../geometry/lane-rows.ts'
import { contentX } from '../../../geometry/time-scale.ts'
import { now } from '../../../live/now.ts'
import { Agent } from '../../../parts/agent.tsx'
import { StatusIcon } from '../../../parts/status-icon.tsx'
import { href } from '../../../router/location.ts'
import { inWords } from './bar-text.ts'
import { ChartRow } from './chart-row.tsx'
import { useTimeline } from './context.ts'
import { groupName, groupStatus } from './group.ts'
import type { TimelineSpan, TimelineTask } from './source.ts'

interface RowProps {
  readonly id: string
  /** 0 for the first. */
  readonly place: number
  readonly top: number
}

/** A row of the timeline: it draws itself anew when what it shows changed, not when another row did. */
export function TimelineRow({ id, place, top }: RowProps) {
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
      {row.kind === 'group' ? <Group row={row} /> : <Task row={row} />}
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
        </span>
      </div>
      <div class="chart-cell">
        {extent && (
          <div class="chart-line" aria-hidden="true">
            <span
              class="group-bar"
              data-colour={status === 'active' ? 'active' : status === 'done' ? 'done' : 'planned'}
              style={{ transform: `translateX(${from}px)`, width: `${Math.max(to - from, 4)}px` }}
            />
          </div>
        )}
      </div>
    </>
  )
}

function Task({ row }: { readonly row: TaskRow<TimelineTask, TimelineSpan> }) {
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
            : row.spans.map((span) => inWords(span, now.peek())).join('. ')}
          {task.marks.map(({ said }) => ` ${said.kind}: ${said.text}.`)}
        </span>
        <ChartRow row={row} />
      </div>
    </>
  )
}

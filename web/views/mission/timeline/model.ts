import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Timeline } from '../../../api/entities.ts'
import { type LaneGrouping, type LaneRow, laneRows, type TaskRow } from '../../../geometry/lane-rows.ts'
import {
  centeredView,
  clampView,
  fitView,
  intervalsOf,
  type TimelineInterval,
  type TimelineViewport,
  type TimeScale,
  timeScale,
  unfoldIntervals,
  zoomAroundPoint,
} from '../../../geometry/time-scale.ts'
import { createRows, type Rows } from '../../../live/rows.ts'
import { now } from '../../../parts/time.tsx'
import { query, setQuery } from '../../../router/location.ts'
import { sourceOf, type TaskMarkPoint, type TimelineLaneTask, type TimelineSpan } from './source.ts'

export type TimelineLaneRow = LaneRow<TimelineLaneTask, TimelineSpan>

/** What the timeline shows, and what is done to it. Each part is a signal of its own, so that little is drawn anew. */
export interface TimelineModel {
  readonly rows: Rows<TimelineLaneRow>
  readonly scale: ReadonlySignal<TimeScale>
  /** The same from the beginning of the time on: panning does not change it. */
  readonly content: ReadonlySignal<TimeScale>
  readonly grouping: ReadonlySignal<LaneGrouping>
  /** Idle time is folded. */
  readonly folding: ReadonlySignal<boolean>
  /** The mission goes on: there is a line for now, and open bars grow. */
  readonly running: ReadonlySignal<boolean>
  /** Of the chart, in pixels. */
  readonly width: Signal<number>
  readonly selected: ReadonlySignal<string | null>
  fold(id: string): void
  select(id: string | null): void
  zoom(factor: number, x?: number): void
  pan(pixels: number): void
  fit(): void
  toNow(): void
  readonly stop: () => void
}

/** Room behind the end of the time for the texts after the last bars. */
const roomAfter = 130

export function createTimeline(answer: ReadonlySignal<Timeline | null>): TimelineModel {
  const width = signal(800)
  const view = signal<TimelineViewport | null>(null)
  const folded = signal<ReadonlySet<string>>(new Set())
  const source = computed(() =>
    answer.value ? sourceOf(answer.value) : { phases: [], tasks: [], spans: [] },
  )
  const grouping = computed((): LaneGrouping => (query.value.get('by') === 'agent' ? 'agent' : 'phase'))
  const folding = computed(() => query.value.get('idle') !== 'shown')
  const selected = computed(() => query.value.get('select'))
  const running = computed(() => answer.value !== null && answer.value.completed_at === null)
  const begun = computed(() => Date.parse(answer.value?.created_at ?? '') || 0)
  const end = computed(() => (running.value ? timelineEnd(now.value, begun.value) : 0))
  // Time in which a turn ran is not idle; of a turn that began before the mission, the part in it.
  const captured = computed(() => {
    const last = running.value ? end.value : Date.parse(answer.value?.completed_at ?? '')
    return (answer.value?.captured ?? []).map(({ opened_at, closed_at }) => ({
      from: Math.max(Date.parse(opened_at), begun.value),
      to: Math.min(closed_at === null ? last : Date.parse(closed_at), last),
    }))
  })
  const intervals = computed((): readonly TimelineInterval[] => {
    const { spans } = source.value
    const busy = [...spans.map(({ from, to }) => ({ from, to: to ?? end.value })), ...captured.value]
    if (running.value || busy.length === 0)
      busy.push({ from: Math.max(begun.value, end.value), to: end.value || begun.value })
    const found = intervalsOf(busy, { margin: marginOf(busy) })
    return folding.value ? found : unfoldIntervals(found)
  })
  const shown = computed(() => view.value ?? fitView(intervals.value, width.value, roomAfter))
  const perMs = computed(() => shown.value.perMs)
  const scale = computed(() => timeScale(intervals.value, shown.value))
  const content = computed(() => timeScale(intervals.value, { perMs: perMs.value, left: 0 }))
  const rows = createRows<TimelineLaneRow>(({ id }) => id)
  const stop = effect(() => {
    // Extents of running groups end at the horizon, so that rows change only when something happened.
    rows.update(laneRows(source.value, { grouping: grouping.value, folded: folded.value, now: end.value }))
  })
  const show = (next: TimelineViewport): void => {
    view.value = clampView(intervals.value, next, width.value)
  }
  return {
    rows,
    scale,
    content,
    grouping,
    folding,
    running,
    width,
    selected,
    fold: (id) => {
      const next = new Set(folded.value)
      if (!next.delete(id)) next.add(id)
      rows.hold(false)
      folded.value = next
    },
    select: (id) => setQuery({ select: id }),
    zoom: (factor, x = width.value / 2) => show(zoomAroundPoint(intervals.value, scale.value, { x, factor })),
    pan: (pixels) => show({ perMs: scale.value.perMs, left: scale.value.left + pixels }),
    fit: () => {
      view.value = null
    },
    toNow: () => show(centeredView(intervals.value, scale.value, { at: now.peek(), width: width.value })),
    stop,
  }
}

/** A little after now, in steps: the picture stands still while time goes on, and moves on now and then. */
function timelineEnd(at: number, begun: number): number {
  const step = Math.max(10_000, (at - begun) / 40)
  const round = 10 ** Math.floor(Math.log10(step))
  return Math.ceil(at / (5 * round)) * 5 * round
}

/** Quiet around busy time, in proportion to it. */
function marginOf(busy: readonly { readonly from: number; readonly to: number }[]): number {
  const whole = busy.reduce((sum, { from, to }) => sum + Math.max(to - from, 0), 0)
  return Math.min(Math.max(whole / 200, 2_000), 120_000)
}

/** What the card tells of, and where that is on the screen. */
interface CardSubject {
  readonly row: TaskRow<TimelineLaneTask, TimelineSpan>
  readonly spans: readonly TimelineSpan[]
  readonly marks: readonly TaskMarkPoint[]
  readonly box: { readonly x: number; readonly top: number; readonly bottom: number }
}

export interface HoverCardState {
  readonly subject: ReadonlySignal<CardSubject | null>
  readonly show: (subject: CardSubject) => void
  readonly hide: () => void
}

/** A pointer that only passes opens nothing; milliseconds. */
const patience = 90

export function createCard(): HoverCardState {
  const subject = signal<CardSubject | null>(null)
  let waiting = 0
  return {
    subject,
    show: (next) => {
      clearTimeout(waiting)
      waiting = setTimeout(
        () => {
          subject.value = next
        },
        subject.value ? 0 : patience,
      )
    },
    hide: () => {
      clearTimeout(waiting)
      waiting = setTimeout(() => {
        subject.value = null
      }, patience)
    },
  }
}

interface TimelineContext {
  readonly model: TimelineModel
  readonly card: HoverCardState
}

export const Context = createContext<TimelineContext | null>(null)

export function useTimeline(): TimelineContext {
  const context = useContext(Context)
  if (!context) throw new Error('A row of the timeline is drawn outside of a timeline.')
  return context
}

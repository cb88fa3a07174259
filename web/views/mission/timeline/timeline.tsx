import { computed, type ReadonlySignal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { formatCount } from '../../../../src/kernel/text.ts'
import type { Timeline } from '../../../api/entities.ts'
import { rowTops, rowWindow } from '../../../geometry/lane-rows.ts'
import { ticksOf, viewX } from '../../../geometry/time-scale.ts'
import { holdWhilePointerMoves } from '../../../live/rows.ts'
import { clockText, durationText } from '../../../parts/duration.ts'
import { KeyCap } from '../../../parts/key-cap.tsx'
import { now } from '../../../parts/time.tsx'
import { href, setQuery } from '../../../router/location.ts'
import { HoverCard } from './card.tsx'
import { usePointer, useTimelineKeys } from './input.ts'
import { Context, createCard, createTimeline, useTimeline } from './model.ts'
import { TimelineRow } from './rows.tsx'
import { Diamond } from './signs.tsx'
import './timeline.css'
import './bars.css'

const rowHeight = 30

/** The attempts at tasks over time. Only the visible part is drawn. */
export function MissionTimeline({ answer }: { readonly answer: ReadonlySignal<Timeline | null> }) {
  const model = useMemo(() => createTimeline(answer), [answer])
  const card = useMemo(createCard, [])
  const context = useMemo(() => ({ model, card }), [model, card])
  const pointing = useMemo(() => holdWhilePointerMoves(model.rows), [model])
  const body = useRef<HTMLDivElement>(null)
  const axis = useRef<HTMLDivElement>(null)
  const scrolled = useSignal(0)
  const height = useSignal(600)
  useEffect(() => model.stop, [model])
  useLayoutEffect(() => {
    const measure = (): void => {
      // Less what a scrollbar takes from the rows.
      model.width.value = (body.current?.clientWidth ?? 1000) - (axis.current?.offsetLeft ?? 200)
      height.value = body.current?.clientHeight ?? 600
    }
    const observer = new ResizeObserver(measure)
    if (axis.current) observer.observe(axis.current)
    if (body.current) observer.observe(body.current)
    measure()
    return () => observer.disconnect()
  }, [model, height])
  usePointer(body, model)
  useTimelineKeys({ model, card, body, rowHeight })
  const { tops, first, end } = useMemo(() => {
    const all = computed(() => rowTops(model.rows.order.value.map(() => rowHeight)))
    const seen = computed(() => rowWindow(all.value, { top: scrolled.value, height: height.value }))
    return { tops: all, first: computed(() => seen.value.first), end: computed(() => seen.value.end) }
  }, [model, scrolled, height])
  const order = model.rows.order.value
  return (
    <Context.Provider value={context}>
      <div class="timeline">
        <div class="timeline-head">
          <TimelineTools />
          <div class="axis-cell" ref={axis}>
            <Axis />
            <CapturedTurns turns={answer.value?.captured ?? []} />
          </div>
        </div>
        <div
          class="timeline-body"
          ref={body}
          onScroll={(event) => {
            scrolled.value = event.currentTarget.scrollTop
            card.hide()
          }}
          {...pointing}
        >
          <div
            class="timeline-sheet"
            role="presentation"
            style={{ height: `${tops.value.tops.at(-1) ?? 0}px` }}
          >
            <GridLines />
            <PannedArea>
              {order.slice(first.value, end.value).map((id, place) => (
                <TimelineRow
                  key={id}
                  id={id}
                  place={first.value + place}
                  top={tops.value.tops[first.value + place] ?? 0}
                />
              ))}
            </PannedArea>
            <NowLine />
          </div>
        </div>
        <Legend />
        <WaitingMarks />
        <HoverCard />
      </div>
    </Context.Provider>
  )
}

/** The legend of bars and marks. */
function Legend() {
  return (
    <ul class="timeline-legend" aria-label="Legend">
      {bars.map(({ word, proof, colour }) => (
        <li key={word}>
          <span class="bar-box" data-proof={proof} data-colour={colour} aria-hidden="true" />
          {word}
        </li>
      ))}
      {signs.map(({ kind, word }) => (
        <li key={kind}>
          <Diamond kind={kind} />
          {word}
        </li>
      ))}
    </ul>
  )
}

const bars = [
  { word: 'Proven', proof: 'exact', colour: 'done' },
  { word: 'Unproven', proof: 'exact', colour: 'planned' },
  { word: 'Contradicted or failed', proof: 'exact', colour: 'blocked' },
  { word: 'Partly measured', proof: 'partial', colour: 'planned' },
  { word: 'Not measured', proof: 'none', colour: 'planned' },
  { word: 'Working', proof: 'running', colour: 'active' },
] as const

const signs = [
  { kind: 'decision', word: 'Decision' },
  { kind: 'issue', word: 'Issue' },
  { kind: 'progress', word: 'Progress' },
] as const

/** The tools of the timeline: grouping, idle time, zoom. */
function TimelineTools() {
  const { model } = useTimeline()
  const grouping = model.grouping.value
  return (
    <div class="timeline-tools" role="toolbar" aria-label="Timeline">
      <fieldset class="segments" aria-label="Rows">
        {(['phase', 'agent'] as const).map((by) => (
          <button
            key={by}
            type="button"
            aria-pressed={grouping === by}
            onClick={() => setQuery({ by: by === 'phase' ? null : by })}
          >
            {by === 'phase' ? 'Phases' : 'Agents'}
          </button>
        ))}
      </fieldset>
      <button
        type="button"
        class="tool"
        aria-pressed={model.folding.value}
        title="Hide idle time"
        onClick={() => setQuery({ idle: model.folding.value ? 'shown' : null })}
      >
        Fold idle
      </button>
      <span class="push tool-group">
        <button
          type="button"
          class="tool"
          aria-label="Zoom out"
          title="Zoom out (-)"
          onClick={() => model.zoom(1 / 1.5)}
        >
          −
        </button>
        <button
          type="button"
          class="tool"
          aria-label="Zoom in"
          title="Zoom in (+)"
          onClick={() => model.zoom(1.5)}
        >
          +
        </button>
        <button type="button" class="tool" title="Fit to the window" onClick={() => model.fit()}>
          Fit <KeyCap keys="z" />
        </button>
      </span>
    </div>
  )
}

/** The offset of local time from UTC, in minutes. */
const minutesAheadOfUtc = (at: number): number => -new Date(at).getTimezoneOffset()

/** The times, and the length of folded idle time. */
function Axis() {
  const { model } = useTimeline()
  const scale = model.scale.value
  const width = model.width.value
  const ticks = ticksOf(scale, { width, ahead: minutesAheadOfUtc })
  const folds = scale.pieces.filter((piece) => piece.folded && isVisibleBar(piece.x - scale.left, width))
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

/** The recorded turns, below the times: the work of agents without calls, from their clients' hooks. */
function CapturedTurns({ turns }: { readonly turns: Timeline['captured'] }) {
  const { model } = useTimeline()
  const scale = model.scale.value
  const width = model.width.value
  const time = turns.some(({ closed_at }) => closed_at === null) ? now.value : now.peek()
  const placed = turns.map((turn) => {
    const [from, to] = [
      Date.parse(turn.opened_at),
      turn.closed_at === null ? time : Date.parse(turn.closed_at),
    ]
    const x = viewX(scale, from)
    return {
      turn,
      x,
      width: Math.max(viewX(scale, to) - x, 3),
      words: turnInWords(turn, { from, to, now: time }),
    }
  })
  return (
    <ul class="captured" aria-label="Recorded turns">
      {placed
        .filter((one) => one.x + one.width > 0 && one.x < width)
        // A short one is on top of a long one.
        .toSorted((a, b) => b.width - a.width)
        .map(({ turn, x, width: long, words }) => (
          <li key={turn.id} style={{ transform: `translateX(${x}px)`, width: `${long}px` }}>
            <a href={href(`/history?of=sessions&session=${turn.session_id}&turn=${turn.id}`)} title={words}>
              <span class="visually-hidden">{words}</span>
            </a>
          </li>
        ))}
    </ul>
  )
}

function turnInWords(
  turn: Timeline['captured'][number],
  { from, to, now: time }: { readonly from: number; readonly to: number; readonly now: number },
): string {
  const { agent, number, counts, added_lines, deleted_lines } = turn
  const files = counts === null ? 0 : counts.added + counts.modified + counts.deleted + counts.renamed
  const lines =
    added_lines === null || deleted_lines === null
      ? ', lines not counted'
      : ` +${added_lines} −${deleted_lines}`
  const changed = counts === null ? 'not measured' : `${formatCount(files, 'file')}${lines}`
  const measured = turn.closed_at === null ? 'working' : changed
  return `Turn ${number} of ${agent}, ${clockText(from, time)}, ${durationText(to - from)}: ${measured}`
}

/** Lines behind all rows: the ticks and the folded idle time. */
function GridLines() {
  const { model } = useTimeline()
  const scale = model.scale.value
  const width = model.width.value
  return (
    <div class="grid-lines" aria-hidden="true">
      {ticksOf(scale, { width, ahead: minutesAheadOfUtc }).map(({ at, x }) => (
        <span key={at} class="grid-line" style={{ transform: `translateX(${x}px)` }} />
      ))}
      {scale.pieces
        .filter((piece) => piece.folded && isVisibleBar(piece.x - scale.left, width))
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

function NowLine() {
  const { model } = useTimeline()
  if (!model.running.value) return null
  const x = viewX(model.scale.value, now.value)
  if (!isVisibleBar(x, model.width.value)) return null
  return (
    <div class="grid-lines over" aria-hidden="true">
      <span class="now-line" style={{ transform: `translateX(${x}px)` }} />
    </div>
  )
}

function isVisibleBar(x: number, width: number): boolean {
  return x > -60 && x < width + 60
}

/** Moves all charts at once: panning draws only what comes into sight. */
function PannedArea({ children }: { readonly children: ComponentChildren }) {
  const { model } = useTimeline()
  return (
    <ul class="panned" aria-label="Timeline" style={{ '--left': `${-model.scale.value.left}px` }}>
      {children}
    </ul>
  )
}

/** The number of rows that wait until the pointer leaves: nothing moves under it. */
function WaitingMarks() {
  const { model } = useTimeline()
  const { arrived } = model.rows.held.value
  if (arrived === 0) return null
  return (
    <p class="rows-waiting" aria-live="polite">
      {formatCount(arrived, 'new row')} shown when the pointer rests or leaves.
    </p>
  )
}

import { computed, type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { rowTops, rowWindow } from '../../../geometry/virtual-rows.ts'
import { Axis, GridLines, NowLine } from './axis.tsx'
import { HoverCard } from './card.tsx'
import { createCard } from './card-state.ts'
import { Context } from './context.ts'
import { createTimeline } from './model.ts'
import { Panned, Waiting } from './panned.tsx'
import { usePointer } from './pointer.ts'
import { TimelineRow } from './row.tsx'
import type { Timeline } from './source.ts'
import { useTimelineKeys } from './timeline-keys.ts'
import { TimelineTools } from './tools.tsx'
import './timeline.css'
import './bars.css'

const rowHeight = 30

/** Who worked on what when. Only what is seen is drawn. */
export function MissionTimeline({ answer }: { readonly answer: ReadonlySignal<Timeline | null> }) {
  const model = useMemo(() => createTimeline(answer), [answer])
  const card = useMemo(createCard, [])
  const context = useMemo(() => ({ model, card }), [model, card])
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
          </div>
        </div>
        <div
          class="timeline-body"
          ref={body}
          onScroll={(event) => {
            scrolled.value = event.currentTarget.scrollTop
            card.hide()
          }}
          onPointerEnter={() => model.rows.hold(true)}
          onPointerLeave={() => model.rows.hold(false)}
        >
          <div
            class="timeline-sheet"
            role="presentation"
            style={{ height: `${tops.value.tops.at(-1) ?? 0}px` }}
          >
            <GridLines />
            <Panned>
              {order.slice(first.value, end.value).map((id, place) => (
                <TimelineRow
                  key={id}
                  id={id}
                  place={first.value + place}
                  top={tops.value.tops[first.value + place] ?? 0}
                />
              ))}
            </Panned>
            <NowLine />
          </div>
        </div>
        <Waiting />
        <HoverCard />
      </div>
    </Context.Provider>
  )
}

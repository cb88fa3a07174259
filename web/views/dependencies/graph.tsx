import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { GraphNode, GraphPicture } from '../../geometry/dependency-graph.ts'
import type { LayeredLayout, PositionedEdge, PositionedNode } from '../../geometry/layered-layout.ts'
import {
  addLooseNodes,
  type Direction,
  type Flow,
  flowPath,
  neighborOf,
  transposeLayout,
} from '../../geometry/plane.ts'
import { useCommands } from '../../keys/commands.ts'
import { markStatus, StatusIcon } from '../../parts/status.tsx'
import { href, query, setQuery } from '../../router/location.ts'

interface GraphProps {
  readonly picture: GraphPicture
  readonly fold: (phase: string | null) => void
}

/** Layers: each task stands right of, or below, what it waits for. */
export function Graph({ picture, fold }: GraphProps) {
  const frame = useRef<HTMLDivElement>(null)
  const { layout, flow } = useLayout(picture, frame)
  const near = useSignal<string | null>(null)
  const { zoom, fit, zoomBy } = useZoom(frame, layout)
  const selected = query.value.get('select')
  useGraphKeys({ frame, layout, fit, zoomBy })
  useLayoutEffect(() => {
    if (layout && frame.current)
      scrollToNode(frame.current, { layout, zoom, wanted: selected ?? frontierOf(picture) })
  }, [layout])
  if (!layout) return <div class="graph-frame" ref={frame} />
  const boxes = new Map(layout.nodes.map((box) => [box.id, box]))
  const edges = new Map(picture.edges.map((edge) => [edge.id, edge]))
  const lit = near.value ?? selected
  const size = { width: `${layout.width}px`, height: `${layout.height}px` }
  return (
    <div
      class="graph-frame"
      ref={frame}
      onPointerOver={({ target }) => {
        near.value =
          target instanceof Element
            ? (target.closest('[data-node]')?.getAttribute('data-node') ?? null)
            : null
      }}
      onPointerLeave={() => {
        near.value = null
      }}
    >
      <div
        class="graph-room"
        style={{ width: `${layout.width * zoom}px`, height: `${layout.height * zoom}px` }}
      >
        <div class="graph-sheet" style={{ ...size, transform: `scale(${zoom})` }}>
          <svg class="graph-edges" viewBox={`0 0 ${layout.width} ${layout.height}`} aria-hidden="true">
            <defs>
              <marker
                id="arrow"
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                markerUnits="userSpaceOnUse"
                orient="auto"
              >
                <path d="M0 1 7 4 0 7z" fill="context-stroke" />
              </marker>
            </defs>
            {layout.edges.map((edge) => (
              <GraphEdgePath
                key={edge.id}
                edge={edge}
                flow={flow}
                critical={edges.get(edge.id)?.critical ?? false}
                lit={edge.from === lit || edge.to === lit}
              />
            ))}
          </svg>
          {picture.nodes.map((node) => {
            const box = boxes.get(node.id)
            return (
              box && (
                <GraphNodeBox
                  key={node.id}
                  node={node}
                  box={box}
                  selected={node.id === selected}
                  fold={fold}
                />
              )
            )
          })}
        </div>
      </div>
    </div>
  )
}

interface GraphViewport {
  readonly layout: LayeredLayout
  readonly zoom: number
  /** The node that is brought in sight. */
  readonly wanted: string | null
}

/** Where the work is: what is begun or ready, on the critical path first. */
function frontierOf({ nodes }: GraphPicture): string | null {
  const tasks = nodes.flatMap((node) => (node.kind === 'task' ? [node.task] : []))
  const open = tasks.filter(({ mark }) => mark === 'in_progress' || mark === 'ready')
  return (open.find(({ critical }) => critical) ?? open[0])?.id ?? null
}

/** Where phases unfold, things go far: what is wanted stays in sight, or else any node. */
function scrollToNode(frame: HTMLElement, { layout, zoom, wanted }: GraphViewport): void {
  const inSight = ({ x, y }: PositionedNode): boolean => {
    const [left, top] = [x * zoom - frame.scrollLeft, y * zoom - frame.scrollTop]
    return left > 0 && left < frame.clientWidth && top > 0 && top < frame.clientHeight
  }
  const chosen = layout.nodes.find(({ id }) => id === wanted)
  if (chosen ? inSight(chosen) : layout.nodes.some(inSight)) return
  const node = chosen ?? layout.nodes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0]
  if (node) frame.scrollTo(node.x * zoom - frame.clientWidth / 4, node.y * zoom - frame.clientHeight / 2)
}

interface EdgeProps {
  readonly edge: PositionedEdge
  readonly flow: Flow
  readonly critical: boolean
  readonly lit: boolean
}

function GraphEdgePath({ edge, flow, critical, lit }: EdgeProps) {
  return (
    <path
      class="edge"
      d={flowPath(edge.points, flow)}
      data-critical={critical}
      data-lit={lit}
      marker-end="url(#arrow)"
    />
  )
}

interface GraphNodeProps {
  readonly node: GraphNode
  readonly box: PositionedNode
  readonly selected: boolean
  readonly fold: (phase: string | null) => void
}

const nodeSize = { width: 204, height: 34 } as const

/** A task, or a folded phase with how its tasks stand. */
function GraphNodeBox({ node, box, selected, fold }: GraphNodeProps) {
  const place = {
    transform: `translate(${box.x - box.width / 2}px, ${box.y - box.height / 2}px)`,
    width: `${box.width}px`,
    height: `${box.height}px`,
  }
  const current = selected && { 'aria-current': 'true' as const }
  if (node.kind === 'phase') {
    const { done, in_progress, ready, blocked } = node.marks
    const total = done + in_progress + ready + blocked
    const name = node.name ?? 'Without a phase'
    return (
      <button
        type="button"
        class="node"
        data-node={node.id}
        data-mark="phase"
        data-critical={node.critical}
        title={`${name}: unfold`}
        style={place}
        onClick={() => fold(node.id === 'phase:' ? null : node.id.slice('phase:'.length))}
        {...current}
      >
        <span class="cut">{name}</span>
        <span class="count">
          {done} / {total}
        </span>
      </button>
    )
  }
  const { task } = node
  return (
    <a
      class="node"
      data-node={node.id}
      data-mark={task.mark}
      data-critical={task.critical}
      {...(task.outside && { 'data-outside': '' })}
      data-colour={markStatus(task.mark)}
      title={task.outside ? `${task.title}: outside this plan` : task.title}
      style={place}
      href={href(`/tasks/${task.id}`)}
      {...current}
    >
      <StatusIcon status={markStatus(task.mark)} />
      <span class="cut" {...(task.mark === 'dropped' && { 'data-dropped': '' })}>
        {task.title}
      </span>
      {task.critical && <span class="visually-hidden">, on the critical path</span>}
    </a>
  )
}

interface GraphLayout {
  readonly layout: LayeredLayout | null
  readonly flow: Flow
}

/**
 * The places of nodes and edges, from left to right, or from the top down where more of it fits the window so. What lays
 * them out is loaded when it is first needed; it keeps what was there.
 */
function useLayout({ nodes, edges }: GraphPicture, frame: RefObject<HTMLDivElement | null>): GraphLayout {
  const [placed, setPlaced] = useState<GraphLayout>({ layout: null, flow: 'right' })
  const before = useRef<Readonly<Record<Flow, LayeredLayout | null>>>({ right: null, down: null })
  const structure = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ id }) => id)])
  useEffect(() => {
    let ended = false
    void import('../../geometry/layered-layout.ts').then(({ layeredLayout }) => {
      if (ended) return
      const width = frame.current?.clientWidth ?? 1000
      const tied = new Set(edges.flatMap(({ from, to }) => [from, to]))
      const boxes = nodes.map(({ id }) => ({ id, ...nodeSize }))
      const lay = (flow: Flow): LayeredLayout =>
        layeredLayout({
          nodes: boxes
            .filter(({ id }) => tied.has(id))
            .map((box) => (flow === 'right' ? box : transposeBox(box))),
          edges: edges.map(({ id, from, to }) => ({ id, from, to })),
          before: before.current[flow],
        })
      const right = lay('right')
      const down = right.width * readable > width ? lay('down') : null
      before.current = { right, down }
      const flow = down !== null && down.height < right.width ? 'down' : 'right'
      const loose = boxes.filter(({ id }) => !tied.has(id))
      const layout = flow === 'down' && down !== null ? transposeLayout(down) : right
      setPlaced({ flow, layout: addLooseNodes(layout, loose, Math.max(layout.width, width / readable)) })
    })
    return () => {
      ended = true
    }
  }, [structure])
  return placed
}

function transposeBox<Box extends { readonly width: number; readonly height: number }>(box: Box): Box {
  return { ...box, width: box.height, height: box.width }
}

interface Zoom {
  readonly zoom: number
  readonly fit: () => void
  readonly zoomBy: (factor: number) => void
}

/** Smaller than this only by the reader's own choice. */
const readable = 0.85
const nearest = 2
const farthest = 0.1

/** How large the picture is: fitted at first, but never enlarged and never so small that it cannot be read. */
function useZoom(frame: RefObject<HTMLDivElement | null>, layout: LayeredLayout | null): Zoom {
  const [chosen, setChosen] = useState<number | null>(null)
  const [fitting, setFitting] = useState(1)
  const { width = 0, height = 0 } = layout ?? {}
  useEffect(() => {
    const element = frame.current
    if (!element || width === 0) return
    const measure = (): void => {
      const whole = Math.min(element.clientWidth / width, element.clientHeight / height)
      setFitting(Math.min(1, Math.max(whole, readable)))
    }
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [frame, width, height])
  const zoom = chosen ?? fitting
  const zoomBy = (factor: number): void => setChosen(Math.min(nearest, Math.max(farthest, zoom * factor)))
  useEffect(() => {
    const element = frame.current
    if (!element) return
    const onWheel = (event: WheelEvent): void => {
      if (!event.ctrlKey && !event.metaKey) return
      event.preventDefault()
      zoomBy(Math.exp(-event.deltaY / 300))
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  })
  return {
    zoom,
    fit: () => {
      const element = frame.current
      if (element && width > 0)
        setChosen(Math.min(1, element.clientWidth / width, element.clientHeight / height))
    },
    zoomBy,
  }
}

interface GraphKeys {
  readonly frame: RefObject<HTMLDivElement | null>
  readonly layout: LayeredLayout | null
  readonly fit: () => void
  readonly zoomBy: (factor: number) => void
}

/** Arrow keys go to the nearest node in their direction. */
function useGraphKeys({ frame, layout, fit, zoomBy }: GraphKeys): void {
  const nodeOf = (id: string): HTMLElement | null =>
    frame.current?.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`) ?? null
  const go = (direction: Direction) => (): void => {
    const boxes = layout?.nodes ?? []
    const from = boxes.find(({ id }) => id === query.peek().get('select'))
    const next = from
      ? neighborOf(boxes, from, direction)
      : (boxes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0] ?? null)
    if (!next) return
    setQuery({ select: next.id })
    const node = nodeOf(next.id)
    node?.focus({ preventScroll: true })
    node?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  useCommands({
    left: go('left'),
    right: go('right'),
    previous: go('up'),
    next: go('down'),
    open: () => nodeOf(query.peek().get('select') ?? '')?.click(),
    close: () => setQuery({ select: null }),
    fit,
    'zoom in': () => zoomBy(1.25),
    'zoom out': () => zoomBy(0.8),
  })
}

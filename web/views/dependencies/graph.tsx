import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  type DependencyPlan,
  foldings,
  type GraphNode,
  type GraphPicture,
  graphPicture,
} from '../../geometry/dependency-graph.ts'
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
  readonly plan: DependencyPlan
  /** The folded phases; null until they are chosen. */
  readonly folded: ReadonlySet<string | null> | null
  readonly settle: (folded: ReadonlySet<string | null>) => void
  readonly fold: (phase: string | null) => void
}

/** A graph in layers: each task is right of, or below, the tasks that it depends on. */
export function Graph(props: GraphProps) {
  const { fold } = props
  const frame = useRef<HTMLDivElement>(null)
  const result = useLayout(props, frame)
  const layout = result?.layout ?? null
  const near = useSignal<string | null>(null)
  const { zoom, fit, zoomBy } = useZoom(frame, layout)
  const selected = query.value.get('select')
  useGraphKeys({ frame, layout, fit, zoomBy })
  useLayoutEffect(() => {
    if (result && frame.current)
      scrollToNode(frame.current, {
        layout: result.layout,
        zoom,
        target: selected ?? frontierOf(result.picture),
      })
  }, [layout])
  if (result === null || layout === null) return <div class="graph-frame" ref={frame} aria-busy="true" />
  const { picture, flow } = result
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
  /** The node to bring in sight. */
  readonly target: string | null
}

/** The task to look at first: in progress or ready, on the critical path if there is one. */
function frontierOf({ nodes }: GraphPicture): string | null {
  const tasks = nodes.flatMap((node) => (node.kind === 'task' ? [node.task] : []))
  const open = tasks.filter(({ mark }) => mark === 'in_progress' || mark === 'ready')
  return (open.find(({ critical }) => critical) ?? open[0])?.id ?? null
}

/** Keeps the wanted node in sight, or else any node: unfolding a phase moves nodes far. */
function scrollToNode(frame: HTMLElement, { layout, zoom, target }: GraphViewport): void {
  const inSight = ({ x, y }: PositionedNode): boolean => {
    const [left, top] = [x * zoom - frame.scrollLeft, y * zoom - frame.scrollTop]
    return left > 0 && left < frame.clientWidth && top > 0 && top < frame.clientHeight
  }
  const chosen = layout.nodes.find(({ id }) => id === target)
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

/** Two lines of a title. */
const nodeSize = { width: 188, height: 44 } as const

/** A task, or a folded phase with the number of its done tasks. */
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
        onClick={() => fold(node.phase)}
        {...current}
      >
        <span class="node-title">{name}</span>
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
      data-colour={markStatus(task.mark, task.failed)}
      title={task.outside ? `${task.title}: outside this plan` : task.title}
      style={place}
      href={href(`/tasks/${task.id}`)}
      {...current}
    >
      <StatusIcon status={markStatus(task.mark, task.failed)} />
      <span class="node-title" {...(task.mark === 'dropped' && { 'data-dropped': '' })}>
        {task.title}
      </span>
      {task.critical && <span class="visually-hidden">, on the critical path</span>}
    </a>
  )
}

interface GraphLayout {
  readonly picture: GraphPicture
  readonly layout: LayeredLayout
  readonly flow: Flow
}

interface FrameSize {
  readonly width: number
  readonly height: number
}

/**
 * The places of nodes and edges, from left to right or from the top down, whichever fits the window better. Without a
 * choice of the reader, phases fold until the graph fits. The code of the layout loads on first use.
 */
function useLayout({ plan, folded, settle }: GraphProps, frame: RefObject<HTMLDivElement | null>) {
  const [result, setResult] = useState<GraphLayout | null>(null)
  const before = useRef<Readonly<Record<Flow, LayeredLayout | null>>>({ right: null, down: null })
  const structure = JSON.stringify([
    plan.nodes.map(({ id, phase_id }) => [id, phase_id]),
    plan.edges.map(({ from, to }) => [from, to]),
    folded && [...folded],
  ])
  useEffect(() => {
    let ended = false
    void import('../../geometry/layered-layout.ts').then(({ layeredLayout }) => {
      if (ended) return
      const size = { width: frame.current?.clientWidth ?? 1000, height: frame.current?.clientHeight ?? 600 }
      const choices = folded === null ? foldings(plan, query.peek().get('select')) : [folded]
      for (const [at, choice] of choices.entries()) {
        const picture = graphPicture(plan, choice)
        const candidate = layOut(picture, { size, layeredLayout, before: before.current })
        if (fitZoom(candidate.layout, size) < readable && at < choices.length - 1) continue
        before.current = candidate.flows
        if (folded === null) settle(choice)
        setResult({ picture, layout: candidate.layout, flow: candidate.flow })
        return
      }
    })
    return () => {
      ended = true
    }
  }, [structure])
  // The marks of the tasks change without a new layout.
  const shown = useMemo(() => (folded === null ? null : graphPicture(plan, folded)), [plan, folded])
  return result && { ...result, picture: shown ?? result.picture }
}

interface LayoutOptions {
  readonly size: FrameSize
  readonly layeredLayout: typeof import('../../geometry/layered-layout.ts').layeredLayout
  readonly before: Readonly<Record<Flow, LayeredLayout | null>>
}

/** Lays a graph out in both directions, and chooses the one that fits better. */
function layOut({ nodes, edges }: GraphPicture, { size, layeredLayout, before }: LayoutOptions) {
  const connected = new Set(edges.flatMap(({ from, to }) => [from, to]))
  const boxes = nodes.map(({ id }) => ({ id, ...nodeSize }))
  const loose = boxes.filter(({ id }) => !connected.has(id))
  const layOutFlow = (flow: Flow): LayeredLayout =>
    layeredLayout({
      nodes: boxes
        .filter(({ id }) => connected.has(id))
        .map((box) => (flow === 'right' ? box : transposeBox(box))),
      edges: edges.map(({ id, from, to }) => ({ id, from, to })),
      before: before[flow],
    })
  const flows = { right: layOutFlow('right'), down: layOutFlow('down') }
  const withLoose = (layout: LayeredLayout) =>
    addLooseNodes(layout, loose, Math.max(layout.width, size.width / readable))
  const [right, down] = [withLoose(flows.right), withLoose(transposeLayout(flows.down))]
  const isDown = fitZoom(down, size) > fitZoom(right, size)
  return { flows, layout: isDown ? down : right, flow: isDown ? ('down' as const) : ('right' as const) }
}

function transposeBox<Box extends { readonly width: number; readonly height: number }>(box: Box): Box {
  return { ...box, width: box.height, height: box.width }
}

/** The zoom at which a graph fits a frame; never enlarged. */
function fitZoom({ width, height }: FrameSize, frame: FrameSize): number {
  return Math.min(1, frame.width / Math.max(width, 1), frame.height / Math.max(height, 1))
}

interface Zoom {
  readonly zoom: number
  readonly fit: () => void
  readonly zoomBy: (factor: number) => void
}

/** Titles are readable down to this zoom. */
const readable = 0.8
const maxZoom = 2
const minZoom = 0.1

/** The zoom of the graph: fitted at first, but never so small that titles cannot be read. */
function useZoom(frame: RefObject<HTMLDivElement | null>, layout: LayeredLayout | null): Zoom {
  const [chosen, setChosen] = useState<number | null>(null)
  const [fitting, setFitting] = useState(1)
  const { width = 0, height = 0 } = layout ?? {}
  const fittingZoom = ({ clientWidth, clientHeight }: HTMLElement) =>
    fitZoom({ width, height }, { width: clientWidth, height: clientHeight })
  useLayoutEffect(() => {
    const element = frame.current
    if (!element || width === 0) return
    const measure = (): void => setFitting(Math.max(fittingZoom(element), readable))
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [frame, width, height])
  const zoom = chosen ?? fitting
  const zoomBy = (factor: number): void => setChosen(Math.min(maxZoom, Math.max(minZoom, zoom * factor)))
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
      if (frame.current && width > 0) setChosen(fittingZoom(frame.current))
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

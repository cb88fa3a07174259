import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { GraphPicture } from '../../geometry/dependency-graph.ts'
import type { LayeredLayout, PlacedEdge, PlacedNode } from '../../geometry/layered-layout.ts'
import { flowPath } from '../../geometry/plane.ts'
import { query } from '../../router/location.ts'
import { useGraphKeys } from './graph-keys.ts'
import { GraphNodeBox } from './graph-node.tsx'
import { useLayout } from './use-layout.ts'
import { useZoom } from './use-zoom.ts'

interface GraphProps {
  readonly picture: GraphPicture
  readonly fold: (phase: string | null) => void
}

/** Layers from left to right: each task stands right of what it waits for. */
export function Graph({ picture, fold }: GraphProps) {
  const frame = useRef<HTMLDivElement>(null)
  const layout = useLayout(picture, frame)
  const near = useSignal<string | null>(null)
  const { zoom, fit, zoomBy } = useZoom(frame, layout)
  const selected = query.value.get('select')
  useGraphKeys({ frame, layout, fit, zoomBy })
  useLayoutEffect(() => {
    if (layout && frame.current)
      lookAt(frame.current, { layout, zoom, wanted: selected ?? frontierOf(picture) })
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
              <Edge
                key={edge.id}
                edge={edge}
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

interface Looking {
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
function lookAt(frame: HTMLElement, { layout, zoom, wanted }: Looking): void {
  const inSight = ({ x, y }: PlacedNode): boolean => {
    const [left, top] = [x * zoom - frame.scrollLeft, y * zoom - frame.scrollTop]
    return left > 0 && left < frame.clientWidth && top > 0 && top < frame.clientHeight
  }
  const chosen = layout.nodes.find(({ id }) => id === wanted)
  if (chosen ? inSight(chosen) : layout.nodes.some(inSight)) return
  const node = chosen ?? layout.nodes.toSorted((a, b) => a.x - b.x || a.y - b.y)[0]
  if (node) frame.scrollTo(node.x * zoom - frame.clientWidth / 4, node.y * zoom - frame.clientHeight / 2)
}

interface EdgeProps {
  readonly edge: PlacedEdge
  readonly critical: boolean
  readonly lit: boolean
}

function Edge({ edge, critical, lit }: EdgeProps) {
  return (
    <path
      class="edge"
      d={flowPath(edge.points)}
      data-critical={critical}
      data-lit={lit}
      marker-end="url(#arrow)"
    />
  )
}

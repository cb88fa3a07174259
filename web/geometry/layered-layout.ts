import { type EdgeLabel, Graph, type GraphLabel, layout, type NodeLabel } from '@dagrejs/dagre'
import type { Point } from './plane.ts'

export interface LayoutNode {
  readonly id: string
  readonly width: number
  readonly height: number
}

export interface LayoutEdge {
  /** Distinct among the edges. */
  readonly id: string
  readonly from: string
  readonly to: string
  /** The room that the edge's text takes; absent for none. */
  readonly label?: { readonly width: number; readonly height: number }
}

export interface PositionedNode extends LayoutNode {
  /** The centre. */
  readonly x: number
  readonly y: number
}

export interface PositionedEdge extends LayoutEdge {
  /** From the border of one node over the bends to the border of the other. */
  readonly points: readonly Point[]
  /** The centre of the text. */
  readonly labelAt: Point | null
}

export interface LayeredLayout {
  readonly width: number
  readonly height: number
  readonly nodes: readonly PositionedNode[]
  readonly edges: readonly PositionedEdge[]
}

export interface LayoutRequest {
  readonly nodes: readonly LayoutNode[]
  /** Both ends have to be among the nodes. */
  readonly edges: readonly LayoutEdge[]
  /** Nodes that were here before stay in the order in which they were. */
  readonly before?: LayeredLayout | null
}

const spacing = { rankdir: 'LR', nodesep: 14, edgesep: 12, ranksep: 46, marginx: 16, marginy: 16 } as const

/** Nodes in layers from left to right, each right of what leads to it; edges of a circle lead back. */
export function layeredLayout({ nodes, edges, before = null }: LayoutRequest): LayeredLayout {
  const graph = new Graph<Shape, Shape, Shape>({ multigraph: true })
  graph.setGraph({ ...spacing })
  graph.setDefaultEdgeLabel(() => ({}))
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height })
  for (const { id, from, to, label } of edges) {
    graph.setEdge(from, to, { labelpos: 'c', width: 0, height: 0, ...label }, id)
  }
  layout(graph, { customOrder: keepOrder(before) })
  const { width = 0, height = 0 } = graph.graph()
  const placed = nodes.map((node) => ({ ...node, ...pointOf(graph.node(node.id)) }))
  const boxes = new Map(placed.map((node) => [node.id, node]))
  return {
    width: Math.max(width, 0),
    height: Math.max(height, 0),
    nodes: placed,
    edges: edges.map((edge) => {
      const { points = [], ...middle } = graph.edge(edge.from, edge.to, edge.id)
      const ends = { from: boxes.get(edge.from), to: boxes.get(edge.to) }
      const labelAt = edge.label ? pointOf(middle) : null
      return {
        ...edge,
        points: bendsOf(ends, points.map(pointOf), { middle: pointOf(middle), labelAt }),
        labelAt,
      }
    }),
  }
}

interface EdgeEnds {
  readonly from: PositionedNode | undefined
  readonly to: PositionedNode | undefined
}

/** An edge to the right leaves and arrives in the middle of a side; it bends only where it must. */
function bendsOf(
  { from, to }: EdgeEnds,
  points: readonly Point[],
  { middle, labelAt }: { readonly middle: Point; readonly labelAt: Point | null },
): readonly Point[] {
  if (!from || !to) return points
  if (from === to) return loopOf(from, middle)
  if (to.x <= from.x) return points
  const bends = points.slice(1, -1)
  const direct = bends.length <= 1 && labelAt === null
  const [begin, end] = [
    { x: from.x + from.width / 2, y: from.y },
    { x: to.x - to.width / 2, y: to.y },
  ]
  return [begin, ...(direct ? [] : bends), end]
}

/** What dagre reads and writes on graphs, nodes and edges. */
interface Shape {
  readonly x?: number
  readonly y?: number
  readonly width?: number
  readonly height?: number
  readonly points?: readonly Point[]
  readonly [setting: string]: unknown
}

function pointOf({ x = 0, y = 0 }: { readonly x?: number; readonly y?: number }): Point {
  return { x, y }
}

/** From a node's side over the place that dagre kept free for its loop, and back. */
function loopOf({ x, y, width, height }: PositionedNode, middle: Point): readonly Point[] {
  const border = middle.y > y ? y + height / 2 : y - height / 2
  return [
    { x: x - width / 4, y: border },
    { x: x - width / 4, y: middle.y },
    { x: x + width / 4, y: middle.y },
    { x: x + width / 4, y: border },
  ]
}

type Layers = InstanceType<typeof Graph<GraphLabel, NodeLabel, EdgeLabel>>

/** Lets dagre order the layers, then gives the places of known nodes to them in the order that they had. */
function keepOrder(before: LayeredLayout | null) {
  return (layers: Layers, order: (layers: Layers) => void): void => {
    order(layers)
    if (!before) return
    const known = new Map(before.nodes.map(({ id, y }) => [id, y]))
    const ids = layers.nodes().filter((id) => known.has(id))
    for (const rank of Map.groupBy(ids, (id) => layers.node(id)?.rank).values()) {
      const places = rank.map((id) => layers.node(id)?.order ?? 0).sort((a, b) => a - b)
      const stayed = rank.toSorted((a, b) => (known.get(a) ?? 0) - (known.get(b) ?? 0))
      for (const [index, id] of stayed.entries()) {
        const label = layers.node(id)
        if (label) label.order = places[index] ?? 0
      }
    }
  }
}

import type { LayeredLayout, LayoutNode, PositionedNode } from './layered-layout.ts'

export interface Point {
  readonly x: number
  readonly y: number
}

/** A box by its centre. */
export interface Box extends Point {
  readonly id: string
  readonly width: number
  readonly height: number
}

export type Direction = 'left' | 'right' | 'up' | 'down'

const ways: Readonly<Record<Direction, Point>> = {
  left: { x: -1, y: 0 },
  right: { x: 1, y: 0 },
  up: { x: 0, y: -1 },
  down: { x: 0, y: 1 },
}

/** The nearest box in a direction: within 45° of it, and being aside counts twice as much as being far. */
export function neighborOf<B extends Box>(boxes: readonly B[], from: Box, direction: Direction): B | null {
  const way = ways[direction]
  let nearest: { box: B; distance: number } | null = null
  for (const box of boxes) {
    if (box.id === from.id) continue
    const [dx, dy] = [box.x - from.x, box.y - from.y]
    const along = dx * way.x + dy * way.y
    const aside = Math.abs(dx * way.y) + Math.abs(dy * way.x)
    if (along <= 0 || aside > along + Math.max(box.height, box.width)) continue
    const distance = along + 2 * aside
    if (!nearest || distance < nearest.distance) nearest = { box, distance }
  }
  return nearest?.box ?? null
}

/** An SVG path through points, with its corners rounded. */
export function roundedPath(points: readonly Point[], radius = 8): string {
  const [first, ...rest] = points
  if (!first) return ''
  const parts = [`M${show(first)}`]
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1]
    if (!next) {
      parts.push(`L${show(point)}`)
      continue
    }
    const before = pointTowards(point, points[index] ?? point, radius)
    const after = pointTowards(point, next, radius)
    parts.push(`L${show(before)}Q${show(point)} ${show(after)}`)
  }
  return parts.join('')
}

export type Flow = 'right' | 'down'

/** An SVG path through points that leaves and reaches each of them level, as a river would; or upright, as it falls. */
export function flowPath(points: readonly Point[], flow: Flow = 'right'): string {
  const [first, ...rest] = points
  if (!first) return ''
  let [path, at] = [`M${show(first)}`, first]
  for (const point of rest) {
    const [middle, half] = [(at.x + point.x) / 2, (at.y + point.y) / 2]
    const straight = Math.abs(flow === 'right' ? at.y - point.y : at.x - point.x) < 0.5
    const bends =
      flow === 'right'
        ? [
            { x: middle, y: at.y },
            { x: middle, y: point.y },
          ]
        : [
            { x: at.x, y: half },
            { x: point.x, y: half },
          ]
    path += straight ? `L${show(point)}` : `C${bends.map(show).join(' ')} ${show(point)}`
    at = point
  }
  return path
}

/** What lies from left to right, from the top down. */
export function transposeLayout(layout: LayeredLayout): LayeredLayout {
  const turn = ({ x, y }: Point): Point => ({ x: y, y: x })
  return {
    width: layout.height,
    height: layout.width,
    nodes: layout.nodes.map((node) => ({ ...node, ...turn(node), width: node.height, height: node.width })),
    edges: layout.edges.map((edge) => ({
      ...edge,
      points: edge.points.map(turn),
      labelAt: edge.labelAt && turn(edge.labelAt),
    })),
  }
}

function pointTowards(from: Point, to: Point, length: number): Point {
  const distance = Math.hypot(to.x - from.x, to.y - from.y)
  const share = distance === 0 ? 0 : Math.min(length, distance / 2) / distance
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share }
}

function show({ x, y }: Point): string {
  return `${roundToTenth(x)},${roundToTenth(y)}`
}

function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10
}

const gap = 16
const margin = 16
const above = 34

/** A layout with nodes that nothing leads to or from in rows below it; `width` is that of what is looked at. */
export function addLooseNodes(
  layout: LayeredLayout,
  loose: readonly LayoutNode[],
  width: number,
): LayeredLayout {
  if (loose.length === 0) return layout
  const nodes: PositionedNode[] = []
  const top = layout.nodes.length === 0 ? margin : layout.height - margin + above
  const room = Math.max(layout.width, width) - margin
  let [x, y, right] = [margin, top, 0]
  for (const node of loose) {
    if (x > margin && x + node.width > room) [x, y] = [margin, y + node.height + gap]
    nodes.push({ ...node, x: x + node.width / 2, y: y + node.height / 2 })
    right = Math.max(right, x + node.width)
    x += node.width + gap
  }
  const height = Math.max(...nodes.map((node) => node.y + node.height / 2)) + margin
  return {
    ...layout,
    nodes: [...layout.nodes, ...nodes],
    width: Math.max(layout.width, right + margin),
    height,
  }
}

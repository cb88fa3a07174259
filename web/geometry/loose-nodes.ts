import type { LayeredLayout, LayoutNode, PlacedNode } from './layered-layout.ts'

const gap = 16
const margin = 16
const above = 34

/** A layout with nodes that nothing leads to or from in rows below it; `width` is that of what is looked at. */
export function withLoose(layout: LayeredLayout, loose: readonly LayoutNode[], width: number): LayeredLayout {
  if (loose.length === 0) return layout
  const nodes: PlacedNode[] = []
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

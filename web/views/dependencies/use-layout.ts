import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { GraphPicture } from '../../geometry/dependency-graph.ts'
import type { LayeredLayout } from '../../geometry/layered-layout.ts'
import { withLoose } from '../../geometry/loose-nodes.ts'
import { nodeSize } from './graph-node.tsx'

/** The places of nodes and edges. What lays them out is loaded when it is first needed; it keeps what was there. */
export function useLayout(
  { nodes, edges }: GraphPicture,
  frame: RefObject<HTMLDivElement | null>,
): LayeredLayout | null {
  const [layout, setLayout] = useState<LayeredLayout | null>(null)
  const before = useRef<LayeredLayout | null>(null)
  const structure = JSON.stringify([nodes.map(({ id }) => id), edges.map(({ id }) => id)])
  useEffect(() => {
    let ended = false
    void import('../../geometry/layered-layout.ts').then(({ layeredLayout }) => {
      if (ended) return
      const tied = new Set(edges.flatMap(({ from, to }) => [from, to]))
      const boxes = nodes.map(({ id }) => ({ id, ...nodeSize }))
      const placed = layeredLayout({
        nodes: boxes.filter(({ id }) => tied.has(id)),
        edges: edges.map(({ id, from, to }) => ({ id, from, to })),
        before: before.current,
      })
      before.current = placed
      const loose = boxes.filter(({ id }) => !tied.has(id))
      setLayout(withLoose(placed, loose, frame.current?.clientWidth ?? 1000))
    })
    return () => {
      ended = true
    }
  }, [structure])
  return layout
}

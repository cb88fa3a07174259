import { expect, test } from 'vitest'
import { layeredLayout } from './layered-layout.ts'
import { flowPath, transposeLayout } from './plane.ts'

const request = {
  nodes: ['a', 'b', 'c'].map((id) => ({ id, width: 34, height: 204 })),
  edges: [
    { id: 'ab', from: 'a', to: 'b' },
    { id: 'bc', from: 'b', to: 'c' },
  ],
}

test('a layout that is transposeLayout lies from the top down, with its nodes upright and in their order', () => {
  const layout = layeredLayout(request)
  const { nodes, edges, width, height } = transposeLayout(layout)
  expect([width, height]).toEqual([layout.height, layout.width])
  expect(nodes.map((node) => [node.width, node.height])).toEqual(request.nodes.map(() => [204, 34]))
  const tops = nodes.map(({ y }) => y)
  expect(tops).toEqual(tops.toSorted((a, b) => a - b))
  expect(edges[0]?.points[0]).toEqual({ x: nodes[0]?.x, y: (nodes[0]?.y ?? 0) + 17 })
  expect(transposeLayout(transposeLayout(layout))).toEqual(layout)
})

test('an edge that falls leaves and arrives upright', () => {
  const points = [
    { x: 0, y: 0 },
    { x: 40, y: 100 },
  ]
  expect(flowPath(points, 'down')).toBe('M0,0C0,50 40,50 40,100')
  expect(flowPath(points)).toBe('M0,0C20,0 20,100 40,100')
})

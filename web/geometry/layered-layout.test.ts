import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TaskMark } from '../../src/plan/domain/readiness.ts'
import { graphPicture } from './dependency-graph.ts'
import { type LayeredLayout, layeredLayout, type PositionedNode } from './layered-layout.ts'
import { addLooseNodes, flowPath, neighborOf, type Point, roundedPath } from './plane.ts'
import { stateDiagram } from './state-diagram.ts'

const size = { width: 120, height: 30 }
const most = 14
/** Dependencies lead from an earlier to a later task: no circle. */
const dependencies = fc
  .array(fc.tuple(fc.nat(most - 1), fc.nat(most - 1)), { maxLength: 24 })
  .map((pairs) => [
    ...new Map(
      pairs
        .filter(([a, b]) => a < b)
        .map(([a, b]) => [`${a} ${b}`, { id: `${a} ${b}`, from: `t${a}`, to: `t${b}` }]),
    ).values(),
  ])
const nodesOf = (count: number) => Array.from({ length: count }, (_, place) => ({ id: `t${place}`, ...size }))

function isOverlap(a: PositionedNode, b: PositionedNode): boolean {
  return Math.abs(a.x - b.x) * 2 < a.width + b.width && Math.abs(a.y - b.y) * 2 < a.height + b.height
}

function isOnBorder({ x, y }: Point, box: PositionedNode): boolean {
  return Math.abs(x - box.x) * 2 <= box.width + 1 && Math.abs(y - box.y) * 2 <= box.height + 1
}

function expectWellDrawn({ nodes, edges, width, height }: LayeredLayout): void {
  for (const [place, node] of nodes.entries()) {
    for (const other of nodes.slice(place + 1)) expect(isOverlap(node, other)).toBe(false)
    expect(node.x - node.width / 2 >= 0 && node.x + node.width / 2 <= width + 0.01).toBe(true)
    expect(node.y - node.height / 2 >= 0 && node.y + node.height / 2 <= height + 0.01).toBe(true)
  }
  const byId = new Map(nodes.map((node) => [node.id, node]))
  for (const { from, to, points } of edges) {
    const [begin, end] = [byId.get(from), byId.get(to)]
    if (!begin || !end) throw new Error(`${from} ${to}`)
    expect(points.length).toBeGreaterThan(1)
    expect(isOnBorder(points[0] ?? begin, begin)).toBe(true)
    expect(isOnBorder(points.at(-1) ?? end, end)).toBe(true)
  }
}

describe('a layered layout', () => {
  test('puts no node on another, and each right of what it depends on', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: most }), dependencies, (count, all) => {
        const nodes = nodesOf(count)
        const edges = all.filter(
          ({ from, to }) => nodes.some(({ id }) => id === from) && nodes.some(({ id }) => id === to),
        )
        const placed = layeredLayout({ nodes, edges })
        expectWellDrawn(placed)
        const x = new Map(placed.nodes.map((node) => [node.id, node.x]))
        for (const { from, to } of edges) expect(x.get(from) ?? 0).toBeLessThan(x.get(to) ?? 0)
      }),
    )
  })

  test('keeps the order of nodes that stay in a layer when others are added', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: most - 1 }),
        fc.integer({ min: 1, max: 4 }),
        dependencies,
        (count, more, all) => {
          const within = (limit: number) =>
            all.filter(({ from, to }) => Math.max(Number(from.slice(1)), Number(to.slice(1))) < limit)
          const before = layeredLayout({ nodes: nodesOf(count), edges: within(count) })
          const after = layeredLayout({ nodes: nodesOf(count + more), edges: within(count + more), before })
          expectWellDrawn(after)
          const now = new Map(after.nodes.map((node) => [node.id, node]))
          const layer = (a: PositionedNode, b: PositionedNode): boolean => Math.abs(a.x - b.x) < 1
          for (const one of before.nodes) {
            for (const other of before.nodes) {
              const [a, b] = [now.get(one.id), now.get(other.id)]
              if (a && b && layer(a, b) && one.y < other.y - 1) expect(a.y).toBeLessThanOrEqual(b.y)
            }
          }
        },
      ),
    )
  })
})

describe('nodes without edges', () => {
  test('stand below the others, in rows that are not wider than what is seen', () => {
    fc.assert(
      fc.property(fc.nat(6), fc.nat(20), fc.integer({ min: 200, max: 1500 }), (count, more, width) => {
        const loose = Array.from({ length: more }, (_, place) => ({ id: `loose ${place}`, ...size }))
        const layout = layeredLayout({ nodes: nodesOf(count), edges: [] })
        const whole = addLooseNodes(layout, loose, width)
        expectWellDrawn(whole)
        expect(whole.nodes).toHaveLength(count + more)
        expect(whole.width).toBeLessThanOrEqual(Math.max(layout.width, width))
        expect(whole.nodes.slice(0, count)).toEqual(layout.nodes)
      }),
    )
  })
})

describe('the picture of a plan', () => {
  const task = fc.record({
    phase_id: fc.constantFrom('p-1', 'p-2', null),
    mark: fc.constantFrom<TaskMark>('done', 'ready', 'blocked'),
    critical: fc.boolean(),
    outside: fc.constant(false),
  })
  const phases = [
    { id: 'p-1', name: 'Explore' },
    { id: 'p-2', name: 'Build' },
  ]
  test('has every task once, alone or in its folded phase, and every dependency between two nodes', () => {
    fc.assert(
      fc.property(
        fc.array(task, { minLength: most, maxLength: most }),
        dependencies,
        fc.subarray<string | null>(['p-1', 'p-2', null]),
        (tasks, all, folded) => {
          const nodes = tasks.map((one, place) => ({ id: `t${place}`, title: 'T', ...one }))
          const edges = all.map(({ from, to }) => ({ from, to, critical: false }))
          const picture = graphPicture({ phases, nodes, edges }, new Set(folded))
          const counted = picture.nodes.reduce(
            (sum, node) =>
              sum + (node.kind === 'task' ? 1 : Object.values(node.marks).reduce((a, b) => a + b)),
            0,
          )
          expect(counted).toBe(most)
          const home = new Map(
            nodes.map(({ id, phase_id }) => [id, folded.includes(phase_id) ? phase_id : id]),
          )
          const between = edges.filter(({ from, to }) => home.get(from) !== home.get(to))
          expect(picture.edges.reduce((sum, { count }) => sum + count, 0)).toBe(between.length)
          const ids = new Set(picture.nodes.map(({ id }) => id))
          for (const { from, to } of picture.edges) expect(ids.has(from) && ids.has(to)).toBe(true)
        },
      ),
    )
  })
})

describe('a state diagram', () => {
  const state = fc.constantFrom('frame', 'implement', 'review', 'merge', 'released')
  const transitions = fc
    .array(fc.record({ from: state, to: state }), { maxLength: 14 })
    .map((list) => list.map((one, place) => ({ id: `go_${place}`, ...one })))

  test('draws every transition between its states, with loops and ways back, and no text on a state', () => {
    fc.assert(
      fc.property(transitions, state, fc.array(fc.nat(13), { maxLength: 8 }), (list, current, steps) => {
        const states = ['frame', 'implement', 'review', 'merge', 'released'].map((id) => ({
          id,
          final: id === 'released',
        }))
        const taken = steps.flatMap((step) => list[step]?.id ?? [])
        const diagram = stateDiagram({ states, transitions: list }, { current, taken })
        expectWellDrawn({ ...diagram, nodes: diagram.states, edges: diagram.transitions })
        for (const { labelAt, label } of diagram.transitions) {
          if (!labelAt || !label) throw new Error('no text')
          const box = { id: '', ...labelAt, ...label }
          for (const one of diagram.states) expect(isOverlap(box, one)).toBe(false)
        }
        expect(diagram.transitions.reduce((sum, { times }) => sum + times, 0)).toBe(taken.length)
        expect(diagram.states.filter(({ part }) => part === 'current').map(({ id }) => id)).toEqual([current])
        for (const { from, part } of diagram.transitions) expect(part === 'next').toBe(from === current)
      }),
    )
  })

  test('tells what was done, what comes next, and what cannot be reached any more', () => {
    const { states, transitions: drawn } = stateDiagram(
      {
        states: ['frame', 'implement', 'review', 'abandoned'].map((id) => ({
          id,
          final: id === 'abandoned',
        })),
        transitions: [
          { id: 'plan', from: 'frame', to: 'implement' },
          { id: 'abandon', from: 'frame', to: 'abandoned' },
          { id: 'submit', from: 'implement', to: 'review' },
          { id: 'elsewhere', from: 'review', to: 'unknown' },
        ],
      },
      { current: 'implement', taken: ['plan'] },
    )
    expect(states.map(({ id, part }) => `${id} ${part}`)).toEqual([
      'frame visited',
      'implement current',
      'review reachable',
      'abandoned out_of_reach',
    ])
    expect(drawn.map(({ id, part }) => `${id} ${part}`)).toEqual([
      'plan taken',
      'abandon out_of_reach',
      'submit next',
    ])
  })
})

describe('the plane', () => {
  const boxes = fc
    .uniqueArray(fc.record({ x: fc.nat(20), y: fc.nat(20) }), {
      selector: ({ x, y }) => x * 100 + y,
      maxLength: 20,
    })
    .map((list) =>
      list.map(({ x, y }, place) => ({ id: `${place}`, x: x * 100, y: y * 40, width: 80, height: 30 })),
    )
  test('an arrow leads to a box in its direction', () => {
    fc.assert(
      fc.property(boxes, fc.constantFrom('left', 'right', 'up', 'down'), (list, direction) => {
        for (const box of list) {
          const next = neighborOf(list, box, direction)
          if (direction === 'left' && next) expect(next.x).toBeLessThan(box.x)
          if (direction === 'right' && next) expect(next.x).toBeGreaterThan(box.x)
          if (direction === 'up' && next) expect(next.y).toBeLessThan(box.y)
          if (direction === 'down' && next) expect(next.y).toBeGreaterThan(box.y)
          const straight = list.some((one) => one.y === box.y && one.x > box.x)
          if (direction === 'right' && straight) expect(next).not.toBeNull()
        }
      }),
    )
  })

  test('a path goes through its points with rounded corners', () => {
    expect(roundedPath([])).toBe('')
    expect(flowPath([])).toBe('')
    expect(
      flowPath([
        { x: 0, y: 0 },
        { x: 10, y: 20 },
        { x: 30, y: 20 },
      ]),
    ).toBe('M0,0C5,0 5,20 10,20L30,20')
    expect(
      roundedPath([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
      ]),
    ).toBe('M0,0L10,0')
    expect(
      roundedPath(
        [
          { x: 0, y: 0 },
          { x: 40, y: 0 },
          { x: 40, y: 40 },
        ],
        8,
      ),
    ).toBe('M0,0L32,0Q40,0 40,8L40,40')
  })
})

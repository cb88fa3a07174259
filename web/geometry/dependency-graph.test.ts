import { expect, test } from 'vitest'
import { type DependencyNode, type DependencyPlan, foldings, graphPicture } from './dependency-graph.ts'

const node = (id: string, phase_id: string, mark: DependencyNode['mark']): DependencyNode => ({
  id,
  title: id,
  phase_id,
  mark,
  critical: false,
  outside: false,
})

const plan: DependencyPlan = {
  phases: ['P1', 'P2', 'P3'].map((id) => ({ id, name: id })),
  nodes: [node('a', 'P1', 'done'), node('b', 'P2', 'ready'), node('c', 'P3', 'blocked')],
  edges: [
    { from: 'a', to: 'b', critical: false },
    { from: 'b', to: 'c', critical: true },
  ],
}

test('folds finished phases first, then those without open work, then all', () => {
  expect(foldings(plan, null).map((folded) => [...folded])).toEqual([
    [],
    ['P1'],
    ['P1', 'P3'],
    ['P1', 'P2', 'P3'],
  ])
})

test('never folds the phase of the selected task', () => {
  expect(foldings(plan, 'c').map((folded) => folded.has('P3'))).toEqual([false, false, false, false])
})

test('does not lay out a very large plan task by task', () => {
  const nodes = Array.from({ length: 151 }, (_, at) => node(`t-${at}`, 'P1', 'done'))
  expect(foldings({ ...plan, nodes, edges: [] }, null).map((folded) => [...folded])[0]).toEqual(['P1'])
})

test('a folded phase is one node with the critical edge of its tasks', () => {
  const { nodes, edges } = graphPicture(plan, new Set(['P2', 'P3']))
  expect(nodes.map(({ id }) => id)).toEqual(['phase:P2', 'phase:P3', 'a'])
  expect(edges.map(({ from, to, critical }) => [from, to, critical])).toEqual([
    ['a', 'phase:P2', false],
    ['phase:P2', 'phase:P3', true],
  ])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edgesAmong } from '../../../test/support/graph-tasks.ts'
import { aDocument, aDocumentTask } from '../../../test/support/plan-documents.ts'
import { everyCycle } from './cycles.ts'
import type { PlanDocument } from './document.ts'
import { documentProblems } from './document.ts'

const phase = { key: 'P1', name: 'Design', status: 'to_do', sortOrder: null, foreignId: null } as const
const milestone = {
  key: 'M1',
  phase: 'P1',
  name: 'Alpha',
  criterion: null,
  reached: false,
  foreignId: null,
} as const

test('a sound document has no problems', () => {
  const tasks = [
    aDocumentTask('a', { phase: 'P1', milestone: 'M1', status: 'done', resolution: 'dropped' }),
    aDocumentTask('b', { parent: 'a', dependsOn: ['a'] }),
  ]
  expect(documentProblems(aDocument(tasks, { phases: [phase], milestones: [milestone] }))).toEqual([])
})

test('every problem is named at once, each with its place', () => {
  const document: PlanDocument = {
    phases: [phase, phase, { ...phase, key: '', name: ' ' }],
    milestones: [{ ...milestone, phase: 'P9' }, milestone],
    tasks: [
      aDocumentTask('a', { phase: 'P8', milestone: 'M8', parent: 'zz', dependsOn: ['x', 'b', 'b'] }),
      aDocumentTask('b', { title: '', resolution: 'dropped' }),
      aDocumentTask('a', { milestone: 'M1' }),
      aDocumentTask('self', { dependsOn: ['self'] }),
    ],
  }
  expect(documentProblems(document)).toEqual([
    'phases[1]: the key "P1" belongs to another phase already (phases[0]).',
    'phases[2]: the phase has an empty key.',
    'milestones[1]: the key "M1" belongs to another milestone already (milestones[0]).',
    'tasks[2]: the key "a" belongs to another task already (tasks[0]).',
    'phases[2]: the phase "" has an empty name.',
    'tasks[1]: the task "b" has an empty title.',
    'milestones[0]: the milestone "M1" belongs to the unknown phase "P9".',
    'tasks[0]: the task "a" is in the unknown phase "P8".',
    'tasks[0]: the task "a" leads to the unknown milestone "M8".',
    'tasks[0]: the task "a" has the unknown parent "zz".',
    'tasks[0]: the task "a" depends on "x", which is not in the plan.',
    'tasks[0]: the task "a" names its dependency "b" twice.',
    'tasks[1]: the task "b" is to_do, but has the resolution "dropped" of a done task.',
    'tasks[2]: the task "a" is in no phase, and its milestone "M1" belongs to "P1".',
    'tasks[3]: tasks depend on each other in a circle: self → self.',
  ])
})

test('every circle of dependencies or parents is shown, with the places of its file', () => {
  const tasks = [
    aDocumentTask('a', { dependsOn: ['b'], parent: 'b' }),
    aDocumentTask('b', { dependsOn: ['a'], parent: 'a' }),
    aDocumentTask('c', { dependsOn: ['d', 'a'] }),
    aDocumentTask('d', { dependsOn: ['c'] }),
  ]
  const places = { phases: [], milestones: [], tasks: ['line 3', 'line 5', 'line 7', 'line 9'] }
  expect(documentProblems(aDocument(tasks), places)).toEqual([
    'line 3: tasks depend on each other in a circle: a → b → a.',
    'line 7: tasks depend on each other in a circle: c → d → c.',
    'line 3: tasks are parts of each other in a circle: a → b → a.',
  ])
})

test('a circle of 100,000 tasks is found without recursion', () => {
  const size = 100_000
  const edges = new Map(Array.from({ length: size }, (_, place) => [`t${place}`, [`t${(place + 1) % size}`]]))
  expect(everyCycle(edges, 20).map((cycle) => cycle.length)).toEqual([size + 1])
})

test('circles are named exactly when taking dependencies away one by one gets stuck, and each of them exists', () => {
  fc.assert(
    fc.property(edgesAmong(7), (wanted) => {
      const edges = new Map(
        Array.from({ length: 7 }, (_, place) => [
          `t${place}`,
          wanted.filter(([from]) => from === place).map(([, to]) => `t${to}`),
        ]),
      )
      const cycles = everyCycle(edges, 20)
      expect(cycles.length > 0).toBe([...edges.keys()].some((id) => hasCycleFrom(edges, id)))
      for (const cycle of cycles) {
        expect(cycle[0]).toBe(cycle.at(-1))
        expect(cycle.slice(1).every((to, at) => edges.get(cycle[at] ?? '')?.includes(to))).toBe(true)
      }
    }),
  )
})

function hasCycleFrom(edges: ReadonlyMap<string, readonly string[]>, start: string): boolean {
  const seen = new Set(edges.get(start))
  for (const id of seen) for (const next of edges.get(id) ?? []) seen.add(next)
  return seen.has(start)
}

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edgesAmong } from '../../../test/support/graph-tasks.ts'
import { cycleText, everyCycle } from './cycles.ts'

test('a cycle is shown from a task back to it, and no task is in two of them', () => {
  const edges = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a', 'd']],
    ['d', ['d', 'gone']],
    ['e', ['a']],
  ])
  expect(everyCycle(edges, 10).map(cycleText)).toEqual(['a → b → c → a', 'd → d'])
  expect(everyCycle(edges, 1).map(cycleText)).toEqual(['a → b → c → a'])
})

test('there is a cycle exactly where tasks cannot be put in order, and it is made of edges that exist', () => {
  fc.assert(
    fc.property(edgesAmong(8), (wanted) => {
      const edges = new Map<string, string[]>(Array.from({ length: 8 }, (_, at) => [`t${at}`, []]))
      for (const [one, other] of wanted) edges.get(`t${one}`)?.push(`t${other}`)
      const cycles = everyCycle(edges, 100)
      expect(cycles.length === 0).toBe(canBeSorted(edges))
      for (const cycle of cycles) {
        expect(cycle.at(-1)).toBe(cycle[0])
        for (const [at, id] of cycle.slice(0, -1).entries()) expect(edges.get(id)).toContain(cycle[at + 1])
      }
    }),
  )
})

/** Takes away what depends on nothing that is left, until nothing is left or nothing can be taken. */
function canBeSorted(edges: ReadonlyMap<string, readonly string[]>): boolean {
  const left = new Map(edges)
  for (;;) {
    const free = [...left.keys()].filter((id) => left.get(id)?.every((to) => !left.has(to)))
    if (free.length === 0) return left.size === 0
    for (const id of free) left.delete(id)
  }
}

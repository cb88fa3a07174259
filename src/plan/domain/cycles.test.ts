import fc from 'fast-check'
import { expect, test } from 'vitest'
import { edgesAmong } from '../../../test/support/graph-tasks.ts'
import { cycleText, findCycle } from './cycles.ts'

const chain = new Map([
  ['b', ['c']],
  ['c', ['a', 'd']],
])

test('the cycle that a dependency would close is shown from its task back to it', () => {
  const cycle = findCycle(chain, 'a', 'b')
  expect(cycleText(cycle ?? [])).toBe('a → b → c → a')
})

test('a dependency that leads nowhere back closes no cycle', () => {
  expect(findCycle(chain, 'd', 'e')).toBeNull()
  expect(findCycle(chain, 'b', 'd')).toBeNull()
})

test('a task that depends on itself is a cycle of one', () => {
  expect(findCycle(chain, 'a', 'a')).toEqual(['a', 'a'])
})

test('of several cycles the shortest is shown', () => {
  const edges = new Map([
    ['b', ['c', 'd']],
    ['c', ['d']],
    ['d', ['a']],
  ])
  expect(findCycle(edges, 'a', 'b')).toEqual(['a', 'b', 'd', 'a'])
})

test('a cycle that is already there does not hide the answer', () => {
  const edges = new Map([
    ['b', ['c']],
    ['c', ['b', 'a']],
  ])
  expect(findCycle(edges, 'a', 'b')).toEqual(['a', 'b', 'c', 'a'])
  expect(findCycle(edges, 'x', 'b')).toBeNull()
})

test('dependencies admitted one by one never form a cycle, and a refusal shows edges that exist', () => {
  fc.assert(
    fc.property(edgesAmong(8), (wanted) => {
      const edges = new Map<string, readonly string[]>()
      for (const [one, other] of wanted) {
        const [from, to] = [`t${one}`, `t${other}`]
        const cycle = findCycle(edges, from, to)
        if (cycle) {
          expect([cycle[0], cycle[1], cycle.at(-1)]).toEqual([from, to, from])
          const known = cycle.slice(1, -1).map((id, place) => edges.get(id)?.includes(cycle[place + 2] ?? ''))
          expect(known.every((edge) => edge === true)).toBe(true)
          continue
        }
        edges.set(from, [...(edges.get(from) ?? []), to])
      }
      expect(canBeSorted(edges)).toBe(true)
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

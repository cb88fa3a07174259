import fc from 'fast-check'
import { expect, test } from 'vitest'
import { stateDiagram } from './state-diagram.ts'

const names = ['frame', 'implement', 'review', 'merge', 'released']
const states = names.map((id) => ({ id, final: id === 'released' }))
const state = fc.constantFrom(...names)
const transitions = fc
  .array(fc.record({ from: state, to: state }), { maxLength: 14 })
  .map((list) => list.map((one, place) => ({ id: `go_${place}`, ...one })))
const steps = fc.array(fc.nat(13), { maxLength: 8 })

test('nothing moves in the picture when the run does', () => {
  fc.assert(
    fc.property(transitions, fc.tuple(state, state), steps, (list, [before, after], walked) => {
      const taken = walked.flatMap((step) => list[step]?.id ?? [])
      const begun = placesIn(stateDiagram({ states, transitions: list }, { current: before, taken: [] }))
      const moved = placesIn(stateDiagram({ states, transitions: list }, { current: after, taken }))
      expect(moved).toEqual(begun)
    }),
  )
})

test('every way is drawn once, and from the border of its state, also where many lead the same way', () => {
  fc.assert(
    fc.property(transitions, state, (list, current) => {
      const diagram = stateDiagram({ states, transitions: list }, { current, taken: [] })
      expect(diagram.transitions.map(({ id }) => id)).toEqual(list.map(({ id }) => id))
      for (const { from, to, points, path } of diagram.transitions) {
        expect(path.startsWith('M')).toBe(true)
        const ends = [
          [from, points.at(0)],
          [to, points.at(-1)],
        ] as const
        for (const [id, point] of ends) {
          const box = diagram.states.find((placed) => placed.id === id)
          if (!box || !point) throw new Error(`${id} has no place`)
          const [across, down] = [Math.abs(point.x - box.x), Math.abs(point.y - box.y)]
          // On a side, neither inside nor beside it.
          const edge = Math.max(across - box.width / 2, down - box.height / 2)
          expect(Math.abs(edge)).toBeLessThan(1)
        }
      }
    }),
  )
})

function placesIn({ width, height, states: placed, transitions: drawn }: ReturnType<typeof stateDiagram>) {
  return {
    width,
    height,
    states: placed.map(({ id, x, y }) => ({ id, x, y })),
    ways: drawn.map(({ id, path, labelAt }) => ({ id, path, labelAt })),
  }
}

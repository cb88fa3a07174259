import fc from 'fast-check'
import type { TaskInPlan } from '../../src/plan/domain/outline.ts'
import type { GraphTask } from '../../src/plan/domain/readiness.ts'

/** A task to do that depends on nothing, unless a test says otherwise. */
export function aGraphTask(id: string, changes: Partial<GraphTask> = {}): GraphTask {
  return {
    id,
    dependsOn: [],
    status: 'to_do',
    claimed: false,
    role: null,
    phaseOrder: null,
    sortOrder: 0,
    createdOrder: 0,
    ...changes,
  }
}

/** A task of the outline that stands nowhere in particular, unless a test says otherwise. */
export function aPlacedTask(id: string, changes: Partial<TaskInPlan> = {}): TaskInPlan {
  return {
    ...aGraphTask(id, changes),
    title: id,
    missionId: null,
    phaseId: null,
    milestoneId: null,
    parentId: null,
    ...changes,
  }
}

/** Pairs of places in a list of a given length. */
export function edgesAmong(size: number): fc.Arbitrary<readonly (readonly [number, number])[]> {
  const place = fc.nat({ max: size - 1 })
  return fc.array(fc.tuple(place, place), { maxLength: size * 3 })
}

/** Tasks in every state whose dependencies have no cycle; their order in the list says nothing about them. */
export const acyclicTasks: fc.Arbitrary<readonly GraphTask[]> = fc
  .integer({ min: 1, max: 12 })
  .chain((size) =>
    fc
      .tuple(
        edgesAmong(size),
        fc.array(graphTask, { minLength: size, maxLength: size }),
        fc.shuffledSubarray([...Array(size).keys()], { minLength: size }),
      )
      .map(([edges, tasks, shuffle]) => {
        const made = tasks.map((task, place) => ({
          ...task,
          id: `t${place}`,
          dependsOn: edges.filter(([from, to]) => from === place && to < from).map(([, to]) => `t${to}`),
        }))
        return shuffle.flatMap((place) => made[place] ?? [])
      }),
  )

const graphTask: fc.Arbitrary<GraphTask> = fc.record({
  id: fc.constant(''),
  dependsOn: fc.constant([]),
  status: fc.constantFrom('to_do' as const, 'to_do' as const, 'in_progress' as const, 'done' as const),
  claimed: fc.boolean(),
  role: fc.constantFrom(null, 'developer', 'reviewer'),
  phaseOrder: fc.option(fc.nat({ max: 2 })),
  sortOrder: fc.nat({ max: 2 }),
  createdOrder: fc.nat({ max: 3 }),
})

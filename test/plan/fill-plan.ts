import type { NewProjectEvent } from '../../src/events/domain/project-event.ts'
import type { PhaseId, TaskId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import type { Task } from '../../src/track/domain/task.ts'
import { agent, aTask } from '../support/entities.ts'

const batch = 1000
const roles = ['developer', 'qa-engineer', 'project-manager', 'software-architect', 'documentation-writer']

/** Plans tasks in phase P1, every second of which waits for the one before. Answers their ids. */
export async function fillPlan(store: Store, tasks: number, phases: readonly string[] = ['P1']) {
  const ids: TaskId[] = []
  for (let made = 0; made < tasks; made += batch) {
    const events: NewProjectEvent[] = []
    for (let number = made; number < Math.min(made + batch, tasks); number += 1) {
      const before = ids.at(-1)
      const phase = phases[number % phases.length] ?? 'P1'
      const task = plannedTask(number, phase as PhaseId) // a brand
      ids.push(task.id)
      events.push({ kind: 'task.planned', task })
      if (number % 2 === 1 && before) {
        events.push({ kind: 'dependency.added', taskId: task.id, dependsOnId: before })
      }
    }
    await store.record({ actor: agent, at: Date.now(), decide: async () => ({ events, answer: null }) })
  }
  return ids
}

function plannedTask(number: number, phaseId: PhaseId): Task {
  return aTask({
    id: randomIds.next('task'),
    missionId: null,
    phaseId,
    name: `Task number ${number}`,
    goal: `Implement the thing number ${number}, with tests and docs.`,
    role: roles[number % roles.length] ?? null,
    status: 'to_do',
    sortOrder: number,
    createdAt: Date.now(),
    updatedAt: Date.now(),
  })
}

import { z } from 'zod'
import { excerpt } from '../../domain/budget.ts'
import type { PlacedTask } from '../../domain/plan/outline.ts'
import { standings } from '../../domain/plan/standing.ts'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { findPlanned } from '../plan/find.ts'
import { planSource } from '../plan/plan-source.ts'

export const links = defineOperation({
  name: 'task_links',
  command: 'task links',
  screen: true,
  toolset: 'plan',
  audience: 'person',
  title: 'What a task depends on and blocks',
  description: 'The tasks around one task: what it depends on, what waits for it, its parent and subtasks.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({ id: identifier('Task ID') }),
  output: z.looseObject({
    depends_on: z.array(z.looseObject({})),
    blocks: z.array(z.looseObject({})),
    subtasks: z.array(z.looseObject({})),
    phase: z.looseObject({}).nullable(),
  }),
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const { task } = await findPlanned(reads, input.id)
    const { tasks } = await planSource(reads, task.missionId, clock.now())
    const marks = standings(tasks)
    const entries = (isIt: (other: PlacedTask) => boolean) =>
      tasks.flatMap((other, place) =>
        isIt(other)
          ? [{ id: other.id, title: excerpt(other.title, 160), mark: marks[place]?.mark ?? 'blocked' }]
          : [],
      )
    const own = tasks.find(({ id }) => id === task.id)
    const place = own === undefined ? undefined : marks[tasks.indexOf(own)]
    const mission = task.missionId === null ? null : await reads.missions.find(task.missionId)
    const phase = task.phaseId === null ? null : await reads.plan.phase(task.phaseId)
    return {
      depends_on: entries(({ id }) => own?.dependsOn.includes(id) === true),
      blocks: entries(({ dependsOn }) => dependsOn.includes(task.id)),
      subtasks: entries(({ parentId }) => parentId === task.id),
      parent: task.parentTaskId === null ? null : (entries(({ id }) => id === task.parentTaskId)[0] ?? null),
      mark: place?.mark ?? null,
      critical: place?.critical ?? false,
      mission: mission && { id: mission.id, name: excerpt(mission.name, 120) },
      phase: phase && { id: phase.id, name: phase.name },
    }
  }),
)

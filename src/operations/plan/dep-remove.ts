import type { PlanHappening } from '../../domain/plan/happening.ts'
import { defineOperation } from '../operation.ts'
import { briefTask, orBrief } from './brief.ts'
import { dependencyFields } from './dependency-fields.ts'
import { findPlanned } from './find.ts'
import { foreseen } from './foreseen.ts'
import { printEntity } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'
import { waits } from './waits.ts'

export const depRemove = defineOperation({
  name: 'taskman_task_dep_remove',
  tool: 'taskman_task_dep_remove',
  command: 'task dep remove',
  toolset: 'plan',
  audience: 'both',
  title: 'Remove a dependency',
  description: 'Remove a dependency between two tasks',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['task-id', 'dep-id'],
  synonyms: { id: 'task-id', depends_on: 'dep-id', depends_on_id: 'dep-id', dependency_id: 'dep-id' },
  input: dependencyFields,
  output: orBrief(taskFields),
  brief: briefTask,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input['task-id'])
    const taskId = planned.task.id
    const dependsOnId = planned.dependsOn.find((id) => id === input['dep-id'])
    // As taskman: what is not there need not be removed.
    if (dependsOnId === undefined) return { happenings: [], answer: taskShape(planned, setting.at) }
    const happening: PlanHappening = { kind: 'dependency.removed', taskId, dependsOnId }
    const after = foreseen(planned, [happening], setting)
    const answer = taskShape({ ...after, blocked: await waits(reads, after) }, setting.at)
    return { happenings: [happening], answer }
  }),
)

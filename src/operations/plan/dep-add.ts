import { addDependency } from '../../domain/plan/add-dependency.ts'
import { defineOperation } from '../operation.ts'
import { briefTask, orBrief } from './brief.ts'
import { dependencyFields } from './dependency-fields.ts'
import { findPlanned } from './find.ts'
import { foreseen } from './foreseen.ts'
import { printEntity } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'
import { waits } from './waits.ts'

export const depAdd = defineOperation({
  name: 'taskman_task_dep_add',
  tool: 'taskman_task_dep_add',
  command: 'task dep add',
  toolset: 'plan',
  audience: 'both',
  title: 'Add a dependency',
  description: 'Make a task wait for another one; a cycle is refused',
  kind: 'command',
  positional: ['task-id', 'dep-id'],
  synonyms: { id: 'task-id', depends_on: 'dep-id', depends_on_id: 'dep-id', dependency_id: 'dep-id' },
  input: dependencyFields,
  output: orBrief(taskFields),
  brief: briefTask,
  print: printEntity,
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input['task-id'])
    const dependency = await findPlanned(reads, input['dep-id'])
    const [taskId, dependsOnId] = [planned.task.id, dependency.task.id]
    const happening = addDependency(taskId, dependsOnId, {
      known: await reads.plan.dependsOn(taskId, dependsOnId),
      wayBack: await reads.plan.chain(dependsOnId, taskId),
    })
    const after = foreseen(planned, [happening], setting)
    const answer = taskShape({ ...after, blocked: await waits(reads, after) }, setting.at)
    return { happenings: [happening], answer }
  }),
)

import { z } from 'zod'
import { dropTask } from '../../domain/plan/drop-task.ts'
import { identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { findPlanned } from './find.ts'
import { foreseen } from './foreseen.ts'
import { printEntity } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'

export const taskDrop = defineOperation({
  name: 'task_drop',
  command: 'task drop',
  toolset: 'plan',
  audience: 'both',
  title: 'Drop a task',
  description: 'Give a task up for good, with a reason: what waits for it waits no longer',
  kind: 'command',
  destructive: true,
  positional: ['id', 'reason'],
  input: z.strictObject({
    id: identifier('Task ID'),
    reason: text('Why it is given up'),
  }),
  output: taskFields,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input.id)
    const openAttempt = await reads.tasks.openAttempt(planned.task.id)
    const by = { actor, agentName: null }
    const happenings = dropTask({ planned, openAttempt }, { reason: input.reason, by }, setting)
    return { happenings, answer: taskShape(foreseen(planned, happenings, setting), setting.at) }
  }),
)

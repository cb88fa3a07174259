import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { missionDetail } from './mission-detail.ts'
import { taskDetail } from './task-detail.ts'

export const show = defineOperation({
  name: 'show',
  command: 'show',
  toolset: 'track',
  audience: 'both',
  title: 'Show a mission or a task',
  description:
    'Everything recorded about one mission, workflow or task: what was measured, and what was said.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({ id: identifier('A mission, workflow or task (m-…, w-…, t-…)') }),
  output: z.looseObject({ kind: z.string(), id: z.string() }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const mission = await reads.missions.find(input.id)
    if (mission) return missionDetail(reads, mission)
    const task = await reads.tasks.find(input.id)
    if (task) return taskDetail(reads, task)
    throw new Failure('NOT_FOUND', `mission or task not found: ${input.id}`, {
      hint: 'list_missions names the missions; get_context { include: ["tasks"] } the tasks of one.',
    })
  }),
)

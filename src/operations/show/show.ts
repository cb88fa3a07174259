import { z } from 'zod'
import { answerBudget, fitLists, inExcerpts } from '../../domain/budget.ts'
import { Failure } from '../../domain/failure.ts'
import type { Reads } from '../../ports/store.ts'
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
  input: z.strictObject({
    id: identifier('A mission, workflow or task (m-…, w-…, t-…)'),
    brief: z.boolean().describe('Cut the lists to what fits an agent’s context').optional(),
  }),
  output: z.looseObject({ kind: z.string(), id: z.string() }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const detail = await detailOf(reads, input.id)
    return input.brief ? { ...detail, ...fitLists(inExcerpts(detail), answerBudget) } : detail
  }),
)

async function detailOf(reads: Reads, id: string) {
  const mission = await reads.missions.find(id)
  if (mission) return missionDetail(reads, mission)
  const task = await reads.tasks.find(id)
  if (task) return taskDetail(reads, task)
  throw new Failure('NOT_FOUND', `mission or task not found: ${id}`, {
    hint: 'list_missions names the missions; get_context { include: ["tasks"] } the tasks of one.',
  })
}

import { z } from 'zod'
import type { PlanFilter } from '../../ports/reads/plan-reads.ts'
import type { Reads } from '../../ports/store.ts'
import { count, identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { noticeExpiredClaims } from './expired-claims.ts'
import { assertRole, formatField, missionField, roleField, statusField } from './fields.ts'
import { findMilestone, findPhase, findPlanned, ownerOf } from './find.ts'
import { printList } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'

/** What the command line lists where no limit is named: a person pipes it on. */
const everything = 1_000_000

const inputFields = z.strictObject({
  phase: identifier('Filter by phase ID').optional(),
  status: statusField('Filter by status').optional(),
  role: roleField.optional(),
  milestone: identifier('Filter by milestone ID').optional(),
  ready: z.boolean().describe('Only what can be begun: to do, not held, dependencies done').optional(),
  blocked: z.boolean().describe('Only tasks with, or without, an open dependency').optional(),
  unassigned: z.boolean().describe('Only tasks without a role').optional(),
  search: text('Words in title or description').optional(),
  mission: missionField.optional(),
  limit: count('How many; default 20', 1000).optional(),
  cursor: identifier('next_cursor of the answer before').optional(),
  format: formatField.optional(),
})

export const taskList = defineOperation({
  name: 'taskman_task_list',
  tool: 'taskman_task_list',
  command: 'task list',
  toolset: 'plan',
  audience: 'both',
  title: 'List tasks',
  description: 'List tasks of the plan, filtered, in order of phase, sort order and creation',
  kind: 'query',
  input: inputFields,
  output: z.looseObject({ tasks: z.array(taskFields), total: z.int(), next_cursor: z.string().nullable() }),
  print: printList('tasks'),
}).handler(async (handling, input) => {
  await noticeExpiredClaims(handling)
  const { store, clock, actor } = handling
  return store.view(async (reads) => {
    const now = clock.now()
    const limit = input.limit ?? (actor.channel === 'cli' ? everything : 20)
    const after = input.cursor === undefined ? null : await findPlanned(reads, input.cursor)
    const filter = await filterOf(reads, input, now)
    const { tasks, total } = await reads.plan.tasks(filter, {
      limit: limit + 1,
      ...(after && { after: after.task.id }),
    })
    const shown = tasks.slice(0, limit)
    return {
      tasks: shown.map((planned) => taskShape(planned, now)),
      total,
      next_cursor: tasks.length > limit ? (shown.at(-1)?.task.id ?? null) : null,
    }
  })
})

async function filterOf(reads: Reads, input: z.output<typeof inputFields>, now: number): Promise<PlanFilter> {
  await assertRole(reads, input.role)
  return {
    now,
    ...(input.phase === undefined
      ? { owner: await ownerOf(reads, input.mission) }
      : { phaseId: (await findPhase(reads, input.phase)).id }),
    ...(input.milestone !== undefined && { milestoneId: (await findMilestone(reads, input.milestone)).id }),
    ...(input.status !== undefined && { status: input.status }),
    ...(input.role !== undefined && { role: input.role }),
    ...(input.ready !== undefined && { ready: input.ready }),
    ...(input.blocked !== undefined && { blocked: input.blocked }),
    ...(input.unassigned !== undefined && { unassigned: input.unassigned }),
    ...(input.search !== undefined && { search: input.search }),
  }
}

import { z } from 'zod'
import type { Actor } from '../../kernel/actor.ts'
import { findMilestone, findPhase, findPlanned, spanOf } from '../../kernel/operations/find.ts'
import { choice, identifier, text, unlistedField } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { printEntity, printList } from '../../kernel/operations/print.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { taskHistoryAnswer, taskHistoryFields } from '../../track/operations/task-history.ts'
import type { PlanFilter } from '../ports/plan-reads.ts'
import { doneWhenEntry, promisesOf } from './done-when.ts'
import { assertRole, formatField, roleField, spanField, statusFilterField } from './fields.ts'
import { listedOfTask, PlannedTaskEntry, plannedTaskEntry } from './plan-answer.ts'

const inputFields = z.strictObject({
  phase: identifier('Phase, by id or name').optional(),
  status: statusFilterField.optional(),
  role: roleField.optional(),
  milestone: identifier('Milestone ID').optional(),
  ready: z.boolean().describe('Only tasks that are ready').optional(),
  blocked: z.boolean().describe('Only tasks that wait for another').optional(),
  'blocked-filter': unlistedField(
    choice(['blocked', 'unblocked'], 'As in taskman: true for blocked tasks, false for all others'),
  ).optional(),
  dropped: unlistedField(z.boolean().describe('Only dropped tasks')).optional(),
  unassigned: z.boolean().describe('Only without a role').optional(),
  search: text('Words in title or description').optional(),
  mission: spanField.optional(),
  ...pageFields(1000),
  format: formatField.optional(),
})

/** The maximum of tasks that a list counts where the number is not stored. */
const maxCounted = 1000

export const taskList = defineOperation({
  name: 'taskman_task_list',
  tool: 'taskman_task_list',
  command: 'task list',
  synonyms: { phase_id: 'phase', milestone_id: 'milestone', mission_id: 'mission', workflow_id: 'mission' },
  toolset: 'plan',
  audience: 'both',
  title: 'List tasks',
  description: 'List the tasks of the plan, in order',
  kind: 'query',
  input: inputFields,
  output: z.object({
    tasks: list(PlannedTaskEntry),
    ...page,
    /** There are more than `total`: no further ones were counted. */
    total_is_minimum: z.literal(true).optional(),
    /** Such tasks of ended missions, which are only listed with that mission. */
    in_ended_missions: z.int().optional(),
  }),
  print: printList('tasks'),
}).handler(({ store, clock, actor }, input) =>
  store.view(async (reads) => {
    const now = clock.now()
    const paging = new Paging('taskman_task_list', input, actor)
    const last = paging.after()
    const after = last === undefined ? null : await findPlanned(reads, last)
    const filter = await filterOf(reads, input, now)
    const { tasks, total, isMore } = await reads.plan.tasks(filter, {
      limit: paging.limit + 1,
      // A search reads the text of each task, so it stops behind its page.
      countTo: input.search === undefined ? maxCounted : paging.limit,
      ...(after && { after: after.task.id }),
    })
    const entries = paging.fit(tasks.map((planned) => taskListEntry(plannedTaskEntry(planned, now), actor)))
    return {
      tasks: entries,
      total,
      ...(isMore && { total_is_minimum: isMore }),
      ...(!isMore && (await endedCount(reads, filter))),
      next_cursor: paging.next(tasks, entries.length, ({ task }) => task.id),
    }
  }),
)

/** How many tasks of ended missions a list without other filters leaves out, by stored counts. */
async function endedCount(reads: Reads, filter: PlanFilter) {
  const { owner, status, now, dropped: _, ...others } = filter
  const isPlain = Object.keys(others).length === 0 && (status === undefined || status === 'done')
  if (owner !== 'open' || !isPlain) return {}
  const asked = { now, ...(status && { status }) }
  const all = await reads.plan.tasks(asked, { limit: 0 })
  const open = await reads.plan.tasks({ ...asked, owner }, { limit: 0, countTo: maxCounted })
  return all.total > open.total ? { in_ended_missions: all.total - open.total } : {}
}

/** Long descriptions are cut in lists for agents; the task itself has them whole. */
function taskListEntry(task: PlannedTaskEntry, { channel }: Actor): PlannedTaskEntry {
  if (channel === 'cli' || task.description === null) return task
  const description = excerpt(task.description)
  return description === task.description ? task : { ...task, description }
}

async function filterOf(reads: Reads, input: z.output<typeof inputFields>, now: number): Promise<PlanFilter> {
  await assertRole(reads, input.role)
  return {
    now,
    ...((input.phase === undefined || input.mission !== undefined) && {
      owner: await spanOf(reads, input.mission),
    }),
    ...(input.phase !== undefined && { phaseId: (await findPhase(reads, input.phase)).id }),
    ...(input.milestone !== undefined && { milestoneId: (await findMilestone(reads, input.milestone)).id }),
    ...(input.status !== undefined && { status: input.status }),
    ...(input.status === 'done' && { dropped: false }),
    ...(input.dropped && { dropped: true }),
    ...(input.role !== undefined && { role: input.role }),
    ...(input.ready !== undefined && { ready: input.ready }),
    ...(input.blocked !== undefined && { blocked: input.blocked }),
    ...(input['blocked-filter'] === 'blocked' && { blocked: true }),
    ...(input['blocked-filter'] === 'unblocked' && { unblocked: true }),
    ...(input.unassigned !== undefined && { unassigned: input.unassigned }),
    ...(input.search !== undefined && { search: input.search }),
  }
}

const maxNotes = 50

export const taskGet = defineOperation({
  name: 'taskman_task_get',
  tool: 'taskman_task_get',
  command: 'task get',
  synonyms: { task_id: 'id' },
  toolset: 'plan',
  audience: 'both',
  title: 'Show a task of the plan',
  description: 'Show a task of the plan, its dependencies and earlier attempts',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({ id: identifier('Task ID'), format: formatField.optional() }),
  output: PlannedTaskEntry.extend({ note_ids: strings.optional(), ...taskHistoryFields }),
  listedOutput: listedOfTask,
  print: printEntity,
}).handler(({ store, clock }, input) =>
  store.view(async (reads) => {
    const planned = await findPlanned(reads, input.id)
    const notes = await reads.plan.notes(planned.task.id, { limit: maxNotes })
    const ids = notes.items.map(({ item }) => item.id)
    const doneWhen = doneWhenEntry(await promisesOf(reads, planned.task))
    return {
      ...plannedTaskEntry(planned, clock.now()),
      // With the promises of its mission and project.
      ...(doneWhen && { done_when: doneWhen }),
      ...(ids.length > 0 && { note_ids: ids }),
      ...(await taskHistoryAnswer(reads, planned)),
    }
  }),
)

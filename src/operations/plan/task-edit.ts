import { z } from 'zod'
import { editTask } from '../../domain/plan/edit-task.ts'
import type { TaskChanges } from '../../domain/plan/happening.ts'
import type { Milestone } from '../../domain/plan/plan.ts'
import type { Reads } from '../../ports/store.ts'
import { identifier, name, text, unlisted } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { briefField, briefTask, orBrief } from './brief.ts'
import { assertRole, assigneeField, formatField, roleField, sortOrderField, statusField } from './fields.ts'
import { findMilestone, findPhase, findPlanned } from './find.ts'
import { foreseen } from './foreseen.ts'
import { printEdited } from './print-edited.ts'
import { taskFields, taskShape } from './shapes.ts'
import { waits } from './waits.ts'

const clearable = ['description', 'role', 'assignee', 'milestone', 'sort-order'] as const

const inputFields = z.strictObject({
  id: identifier('Task ID'),
  title: name('Title').optional(),
  description: text('Description').optional(),
  status: statusField(
    'in_progress claims the task, to_do releases your claim; done is unverified, so prefer complete_task',
  ).optional(),
  role: roleField.optional(),
  assignee: unlisted(assigneeField).optional(),
  creator: unlisted(name('Who asks for it')).optional(),
  milestone: identifier('Milestone of the phase').optional(),
  phase: identifier('Phase to move to').optional(),
  'sort-order': sortOrderField.optional(),
  clear: z.array(z.enum(clearable)).describe('Fields to empty').optional(),
  agent_name: name('Who claims it').optional(),
  brief: briefField.optional(),
  format: formatField.optional(),
})

export const taskEdit = defineOperation({
  name: 'taskman_task_edit',
  tool: 'taskman_task_edit',
  command: 'task edit',
  synonyms: {
    task_id: 'id',
    name: 'title',
    phase_id: 'phase',
    milestone_id: 'milestone',
    goal: 'description',
  },
  toolset: 'plan',
  audience: 'both',
  title: 'Edit a task',
  description: 'Change fields of a task; what is not given stays',
  kind: 'command',
  destructive: true,
  idempotent: true,
  positional: ['id'],
  input: inputFields,
  output: orBrief(taskFields),
  brief: briefTask,
  print: printEdited,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const planned = await findPlanned(reads, input.id)
    const milestone = input.milestone === undefined ? null : await findMilestone(reads, input.milestone)
    await assertRole(reads, input.role)
    const asked = input.status ?? null
    const openAttempt = asked === null ? null : await reads.tasks.openAttempt(planned.task.id)
    const happenings = editTask(
      { changes: await changesOf(reads, input, milestone), status: asked },
      { planned, openAttempt, milestone },
      { actor, agentName: input.agent_name ?? null },
      setting,
    )
    const after = foreseen(planned, happenings, setting)
    const blocked = planned.task.status === 'done' ? await waits(reads, after) : after.blocked
    return { happenings, answer: taskShape({ ...after, blocked }, setting.at) }
  }),
)

async function changesOf(
  reads: Reads,
  input: z.output<typeof inputFields>,
  milestone: Milestone | null,
): Promise<TaskChanges> {
  const clears = (field: (typeof clearable)[number]) => input.clear?.includes(field) === true
  return {
    ...(input.title !== undefined && { name: input.title }),
    ...(input.description !== undefined && { goal: input.description }),
    ...(input.role !== undefined && { role: input.role }),
    ...(input.assignee !== undefined && { assignee: input.assignee }),
    ...(input.creator !== undefined && { creator: input.creator }),
    ...(milestone && { milestoneId: milestone.id }),
    ...(input.phase !== undefined && { phaseId: (await findPhase(reads, input.phase)).id }),
    ...(input['sort-order'] !== undefined && { sortOrder: input['sort-order'] }),
    ...(clears('description') && { goal: null }),
    ...(clears('role') && { role: null }),
    ...(clears('assignee') && { assignee: null }),
    ...(clears('milestone') && { milestoneId: null }),
    ...(clears('sort-order') && { sortOrder: null }),
  }
}

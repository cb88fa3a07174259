import { z } from 'zod'
import type { TaskId } from '../../domain/id.ts'
import { notOfPhase } from '../../domain/plan/edit-task.ts'
import type { Task } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { identifier, name, text, texts, unlisted } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'
import { briefField, briefTask, orBrief } from './brief.ts'
import { assertRole, assigneeField, formatField, roleField, sortOrderField } from './fields.ts'
import { findMilestone, findPhase, findPlanned } from './find.ts'
import { printEntity } from './print.ts'
import { taskFields, taskShape } from './shapes.ts'
import { waits } from './waits.ts'

export const taskAdd = defineOperation({
  name: 'taskman_task_add',
  tool: 'taskman_task_add',
  command: 'task add',
  synonyms: { name: 'title', phase_id: 'phase', milestone_id: 'milestone', goal: 'description' },
  toolset: 'plan',
  audience: 'both',
  title: 'Plan a task',
  description: 'Add a task to a phase of the plan',
  kind: 'command',
  input: z.strictObject({
    title: name('What is to be done'),
    phase: identifier('Phase ID'),
    description: text('How, and what done means').optional(),
    role: roleField.optional(),
    areas: texts('Code areas, as in start_task').optional(),
    assignee: assigneeField.optional(),
    depends_on: texts('Task ids').optional(),
    milestone: identifier('Milestone of the phase').optional(),
    creator: unlisted(name('Who asks for it; default the caller')).optional(),
    'sort-order': sortOrderField.optional(),
    brief: briefField.optional(),
    format: formatField.optional(),
  }),
  output: orBrief(taskFields),
  brief: briefTask,
  print: printEntity,
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const phase = await findPhase(reads, input.phase)
    const milestone = input.milestone === undefined ? null : await findMilestone(reads, input.milestone)
    if (milestone && milestone.phaseId !== phase.id) throw notOfPhase(milestone, phase.id)
    await assertRole(reads, input.role)
    const task: Task = {
      id: setting.ids.next('task'),
      missionId: phase.missionId,
      phaseId: phase.id,
      milestoneId: milestone?.id ?? null,
      parentTaskId: null,
      name: input.title,
      goal: input.description ?? null,
      step: null,
      role: input.role ?? null,
      ...(input.assignee !== undefined && { assignee: input.assignee }),
      areas: input.areas ?? [],
      status: 'to_do',
      resolution: null,
      sortOrder: input['sort-order'] ?? null,
      creator: input.creator ?? actor.name,
      createdAt: setting.at,
      updatedAt: setting.at,
    }
    const dependsOn = await dependenciesOf(reads, input.depends_on)
    const blocked = await waits(reads, { task, dependsOn })
    const planned = { task, dependsOn, unsettled: false, blocked, claim: null }
    return {
      happenings: [
        { kind: 'task.planned', task },
        ...dependsOn.map((dependsOnId) => ({
          kind: 'dependency.added' as const,
          taskId: task.id,
          dependsOnId,
        })),
      ],
      answer: taskShape(planned, setting.at),
    }
  }),
)

/** Each once, and each a task that there is. */
async function dependenciesOf(reads: Reads, ids: readonly string[] = []): Promise<readonly TaskId[]> {
  const found = await Promise.all([...new Set(ids)].map((id) => findPlanned(reads, id)))
  return found.map(({ task }) => task.id)
}

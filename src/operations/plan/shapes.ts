import { z } from 'zod'
import type { TaskId } from '../../domain/id.ts'
import { instant } from '../../domain/instant.ts'
import {
  isHeld,
  type Milestone,
  type Note,
  type PlannedTask,
  type PlanOwner,
  phaseWord,
  planStatus,
} from '../../domain/plan/plan.ts'
import type { Phase } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { findPlanned } from '../find.ts'
import { unlisted } from '../input/fields.ts'
import type { Answer } from '../operation.ts'

/** Entities in taskman's words and order of fields. Absent values are null. */

export const phaseFields = z.looseObject({
  id: z.string(),
  name: z.string(),
  status: z.string(),
  sort_order: z.int().nullable(),
})

export function phaseShape(phase: Phase): z.output<typeof phaseFields> {
  return {
    id: phase.id,
    name: phase.name,
    status: phaseWord(phase.status),
    sort_order: phase.sortOrder,
    mission_id: phase.missionId,
    number: phase.number,
    created_at: instant(phase.createdAt),
    completed_at: phase.completedAt === null ? null : instant(phase.completedAt),
  }
}

export const milestoneFields = z.looseObject({
  id: z.string(),
  phase_id: z.string(),
  name: z.string().nullable(),
  criterion: z.string().nullable(),
  reached: z.int(),
})

export function milestoneShape(milestone: Milestone, missionId: PlanOwner): z.output<typeof milestoneFields> {
  const { id, phaseId, name, criterion, reached, createdAt } = milestone
  return {
    id,
    phase_id: phaseId,
    name,
    criterion,
    reached: reached ? 1 : 0,
    mission_id: missionId,
    created_at: instant(createdAt),
  }
}

export const taskFields = z.looseObject({ id: z.string(), title: z.string(), status: z.string() })

export function taskShape(planned: PlannedTask, now: number) {
  const { task, dependsOn, unsettled, blocked, claim } = planned
  return {
    id: task.id,
    mission_id: task.missionId,
    phase_id: task.phaseId,
    milestone_id: task.milestoneId,
    title: task.name,
    description: task.goal,
    status: planStatus(planned, now),
    sort_order: task.sortOrder,
    role: task.role,
    ...(task.assignee && { assignee: task.assignee }),
    creator: task.creator,
    depends_on: [...dependsOn],
    blocked,
    claimed_by: isHeld(claim, now) ? (claim?.agent ?? null) : null,
    ...(unsettled && { settled: false }),
    ...(task.resolution === 'dropped' && { resolution: 'dropped' }),
    ...(task.resolution === 'claimed' && { verified: false }),
    created_at: instant(task.createdAt),
    updated_at: instant(task.updatedAt),
  }
}

/** The task as it is once what was decided about it is recorded. */
export function taskAnswer(id: TaskId, now: number) {
  return async (after: Reads) => taskShape(await findPlanned(after, id), now)
}

export const noteFields = z.looseObject({ id: z.string(), task_id: z.string(), content: z.string() })

export function noteShape(note: Note) {
  const { id, taskId, content, kind, role, createdAt } = note
  return { id, task_id: taskId, content, kind, role, created_at: instant(createdAt) }
}

export const briefField = z.boolean().describe('Return only id, ready, blocked')

/** The same for phases and milestones, whose answers are short anyway. */
export const briefIdField = unlisted(z.boolean().describe('Answer only the id'))

/** The fields of an answer, none but the id certain: a brief one leaves the others out. */
export function orBrief<Fields extends z.ZodObject>(fields: Fields) {
  return z.looseObject({ ...fields.partial().shape, id: z.string(), ready: z.boolean().optional() })
}

export function briefTask(task: Answer): Answer {
  const { id, status, blocked, claimed_by } = task
  return { id, ready: status === 'to_do' && blocked === false && claimed_by === null, blocked }
}

export function briefEntity({ id }: Answer): Answer {
  return { id }
}

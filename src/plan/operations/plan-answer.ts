import { z } from 'zod'
import type { TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { findPlanned } from '../../kernel/operations/find.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Phase } from '../../track/domain/mission.ts'
import { isHeld, planStatus } from '../domain/claims.ts'
import {
  type Milestone,
  type Note,
  noteKinds,
  type PlannedTask,
  type PlanOwner,
  phaseWord,
  taskStatuses,
} from '../domain/plan.ts'

import { DoneWhenEntry, doneWhenEntry } from './done-when.ts'

/** The entities of a plan for every surface, in taskman's words and order. Absent values are null. */

export const PhaseEntry = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(taskStatuses),
  sort_order: z.int().nullable(),
  mission_id: z.string().nullable(),
  number: z.int().nullable(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
})
export type PhaseEntry = z.output<typeof PhaseEntry>

/** The entity, or only its id in a brief answer. */
export const PhaseOrBrief = PhaseEntry.partial().required({ id: true })

export function phaseEntry(phase: Phase): PhaseEntry {
  return {
    id: phase.id,
    name: phase.name,
    status: phaseWord(phase.status),
    sort_order: phase.sortOrder,
    mission_id: phase.missionId,
    number: phase.number,
    created_at: instant(phase.createdAt),
    completed_at: instantOrNull(phase.completedAt),
  }
}

export const MilestoneEntry = z.object({
  id: z.string(),
  phase_id: z.string(),
  name: z.string().nullable(),
  criterion: z.string().nullable(),
  reached: z.union([z.literal(0), z.literal(1)]),
  mission_id: z.string().nullable(),
  created_at: z.string(),
})
export type MilestoneEntry = z.output<typeof MilestoneEntry>

export const MilestoneOrBrief = MilestoneEntry.partial().required({ id: true })

export function milestoneEntry(milestone: Milestone, missionId: PlanOwner): MilestoneEntry {
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

export const PlannedTaskEntry = z.object({
  id: z.string(),
  mission_id: z.string().nullable(),
  phase_id: z.string().nullable(),
  milestone_id: z.string().nullable(),
  title: z.string(),
  description: z.string().nullable(),
  status: z.enum(taskStatuses),
  sort_order: z.int().nullable(),
  role: z.string().nullable(),
  assignee: z.string().optional(),
  /** Its scope. */
  areas: strings.optional(),
  /** What it promises itself. */
  done_when: DoneWhenEntry.optional(),
  creator: z.string().nullable(),
  depends_on: strings,
  blocked: z.boolean(),
  claimed_by: z.string().nullable(),
  /** Done, but its dependents wait for a person. */
  settled: z.literal(false).optional(),
  resolution: z.literal('dropped').optional(),
  /** Marked done without a measured attempt. */
  is_unmeasured: z.literal(true).optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type PlannedTaskEntry = z.output<typeof PlannedTaskEntry>

/** The task, or its brief form. */
export const TaskOrBrief = PlannedTaskEntry.partial()
  .required({ id: true })
  .extend({ ready: z.boolean().optional() })

/** The listed fields of an answered task. */
export const listedOfTask = ['id', 'title', 'status'] as const

export function plannedTaskEntry(planned: PlannedTask, now: number): PlannedTaskEntry {
  const { task, dependsOn, unsettled, blocked, claim } = planned
  const doneWhen = doneWhenEntry(task.doneWhen)
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
    ...(task.areas.length > 0 && { areas: task.areas }),
    ...(doneWhen && { done_when: doneWhen }),
    creator: task.creator,
    depends_on: dependsOn,
    blocked,
    claimed_by: isHeld(claim, now) ? (claim?.agent ?? null) : null,
    ...(unsettled && { settled: false }),
    ...(task.resolution === 'dropped' && { resolution: 'dropped' }),
    ...(task.resolution === 'unmeasured' && { is_unmeasured: true }),
    created_at: instant(task.createdAt),
    updated_at: instant(task.updatedAt),
  }
}

/** The task after the decided events are recorded. */
export function taskAnswer(id: TaskId, now: number) {
  return async (after: Reads) => plannedTaskEntry(await findPlanned(after, id), now)
}

export const NoteEntry = z.object({
  id: z.string(),
  task_id: z.string(),
  content: z.string(),
  kind: z.enum(noteKinds).nullable(),
  role: z.string().nullable(),
  author: z.string(),
  created_at: z.string(),
})
export type NoteEntry = z.output<typeof NoteEntry>

export function noteEntry({ id, taskId, content, kind, role, author, createdAt }: Note): NoteEntry {
  return { id, task_id: taskId, content, kind, role, author, created_at: instant(createdAt) }
}

import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { instant, instantOrNull, secondsBetween } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import { DoneWhenEntry } from '../../plan/operations/done-when.ts'
import type { TaskLine } from '../../plan/ports/task-reads.ts'
import { landedStates } from '../domain/landed.ts'
import {
  isEnded,
  type LeftWork,
  type Mission,
  type PhaseStatus,
  type Profile,
  phaseProgress,
  shownStatus,
} from '../domain/mission.ts'
import { type Attempt, callerTypes, type Task, type TaskHistory } from '../domain/task.ts'
import { verdictValues } from '../domain/verdict.ts'
import type { MissionCounts, MissionListing } from '../ports/mission-reads.ts'
import { ChangeCounts, UndoneEntry } from './attempt-answer.ts'

/** Missions, and the tasks, phases and runs of a mission. */

export const missionKind = z.enum(['mission', 'workflow'])
export const missionStatus = z.enum(['PENDING', 'IN_PROGRESS', 'COMPLETED', 'FAILED', 'PARTIAL', 'BLOCKED'])
/** A profile, as Mission Control spells it. */
export const profileWords = {
  simple: 'SIMPLE',
  standard: 'STANDARD',
  complex: 'COMPLEX',
} as const satisfies Record<Profile, string>
export const LeftWorkEntry = z.object({ not_done: z.int(), to_do_again: z.int(), contradicted: z.int() })
/** The work that an ended mission left; absent if there is none. */
export const leftWorkFields = { left: LeftWorkEntry.optional() }

export function leftWork(
  mission: Mission,
  { toDoTasks, left: { toDoAgain, contradicted } }: MissionCounts,
): { readonly left?: LeftWork } {
  if (!isEnded(mission) || toDoTasks + contradicted === 0) return {}
  return { left: { not_done: toDoTasks, to_do_again: toDoAgain, contradicted } }
}

/** Phase statuses as Mission Control spells them. */
export const phaseWords = {
  pending: 'PENDING',
  in_progress: 'IN_PROGRESS',
  completed: 'COMPLETED',
  failed: 'FAILED',
} as const satisfies Record<PhaseStatus, string>

export const MissionEntry = z.object({
  mission_id: z.string(),
  kind: missionKind,
  name: z.string(),
  objective: z.string().nullable(),
  status: missionStatus,
  current_phase: z.int(),
  total_phases: z.int(),
  /** In progress now. */
  open_tasks: z.int(),
  /** Without an open attempt. */
  to_do_tasks: z.int(),
  done_tasks: z.int(),
  open_blockers: z.int(),
  /** Open inbox items of every kind. */
  open_items: z.int(),
  created_at: z.string(),
  completed_at: z.string().nullable(),
  ...leftWorkFields,
})
export type MissionEntry = z.output<typeof MissionEntry>

export function missionEntry({ mission, now, phases }: MissionListing): MissionEntry {
  return {
    mission_id: mission.id,
    kind: mission.kind,
    name: excerpt(mission.name, 120),
    objective: mission.objective === null ? null : excerpt(mission.objective, 160),
    status: shownStatus(mission, now),
    ...phaseProgress(mission, phases),
    open_tasks: now.openAttempts,
    to_do_tasks: now.toDoTasks,
    done_tasks: now.doneTasks,
    open_blockers: now.openBlockers,
    open_items: now.openItems,
    created_at: instant(mission.createdAt),
    completed_at: instantOrNull(mission.completedAt),
    ...leftWork(mission, now),
  }
}

/** Task statuses as Mission Control spells them. */
export const taskWord = z.enum(['TO_DO', 'IN_PROGRESS', 'SUCCESS', 'PARTIAL_SUCCESS', 'FAILED', 'DROPPED'])

/** The status of the last attempt, or of the task before one. */
export function taskWordOf(task: Task, attempt: Attempt | null): z.output<typeof taskWord> {
  if (task.resolution === 'partial_success') return 'PARTIAL_SUCCESS'
  if (task.resolution === 'dropped') return 'DROPPED'
  if (task.resolution !== null) return 'SUCCESS'
  if (task.status === 'in_progress') return 'IN_PROGRESS'
  return attempt?.status === 'failed' ? 'FAILED' : 'TO_DO'
}

/** A task of a mission with its last attempt and, for agents, the details to resume it. */
export const TaskEntry = z.object({
  id: z.string(),
  name: z.string(),
  status: taskWord,
  /** Marked done without a measured attempt. */
  is_unmeasured: z.literal(true).optional(),
  phase_number: z.int().nullable(),
  parent_task_id: z.string().nullable(),
  agent_name: z.string().nullable(),
  caller_type: z.enum(callerTypes).nullable(),
  started_at: z.string().nullable(),
  duration_seconds: z.int().nullable(),
  files_changed: ChangeCounts.nullable(),
  scope_match: z.boolean().nullable(),
  goal: z.string().optional(),
  depends_on: strings.optional(),
  blocked: z.boolean().optional(),
  settled: z.literal(false).optional(),
  claim: z.object({ agent: z.string(), expires_at: z.string().nullable() }).optional(),
  attempts: z.int().optional(),
  /** The outcome of the last ended attempt, and its author. */
  summary: z.string().optional(),
  summary_by: z.string().optional(),
  /** What the measurement says about that outcome. */
  verdict: z.enum(verdictValues).optional(),
  /** Who accepted it although it is not proven. */
  accepted_by: z.string().optional(),
  /** A person took its changes back. */
  undone: UndoneEntry.optional(),
  /** Where its lines were when they were last measured, if it is done. */
  landed: z.enum(landedStates).optional(),
  correction: z.string().optional(),
  corrected_by: z.string().optional(),
  files: strings.optional(),
  /** What it promises, if it is in progress. */
  done_when: DoneWhenEntry.optional(),
})
export type TaskEntry = z.output<typeof TaskEntry>

export function taskEntry(
  { task, phaseNumber, attempt, counts, scopeMatches }: TaskLine,
  history?: TaskHistory,
): TaskEntry {
  return {
    id: task.id,
    name: excerpt(task.name, 120),
    status: taskWordOf(task, attempt),
    ...(task.resolution === 'unmeasured' && { is_unmeasured: true }),
    phase_number: phaseNumber,
    parent_task_id: task.parentTaskId,
    agent_name: attempt && displayName(attempt),
    caller_type: attempt?.callerType ?? null,
    started_at: instantOrNull(attempt?.openedAt ?? null),
    duration_seconds:
      attempt === null || attempt.closedAt === null
        ? null
        : secondsBetween(attempt.openedAt, attempt.closedAt),
    files_changed: counts,
    scope_match: scopeMatches,
    ...(attempt !== null && attempt.number > 1 && { attempts: attempt.number }),
    ...(history && taskHistoryFields(task, history)),
  }
}

/** Details for an agent that is new or lost its context; empty parts are left out. */
function taskHistoryFields({ name, goal, status }: Task, history: TaskHistory): Partial<TaskEntry> {
  const { dependsOn, unsettled, blocked, claim, summary, verdict, acceptedBy, correction, files } = history
  return {
    ...(goal !== null && goal !== name && { goal: excerpt(goal, 300) }),
    ...(dependsOn.length > 0 && { depends_on: dependsOn.slice(0, 10), blocked }),
    ...(unsettled && { settled: false }),
    ...(claim && { claim: { agent: claim.agent, expires_at: instantOrNull(claim.expiresAt) } }),
    ...(summary !== null && { summary: excerpt(summary.text), summary_by: summary.author }),
    // That of an earlier attempt says nothing about what is to do.
    ...(status === 'done' && verdict !== null && { verdict }),
    ...(status === 'done' && acceptedBy !== null && { accepted_by: acceptedBy }),
    ...(correction !== null && { correction: excerpt(correction.text), corrected_by: correction.author }),
    ...(files.length > 0 && { files }),
  }
}

/** One line for each phase. A running phase's duration counts to its last completion. */
export const PhaseSummary = z.object({
  phase_number: z.int().nullable(),
  phase_id: z.string(),
  name: z.string(),
  status: z.enum(phaseWords),
  tasks_count: z.int(),
  duration_seconds: z.int(),
})
export type PhaseSummary = z.output<typeof PhaseSummary>

/** The runs that gate a mission, newest first, and the failed runs of a completed one. */
export const missionRunsFields = {
  runs: list(
    z.object({
      run_id: z.string(),
      process_id: z.string(),
      process_name: z.string(),
      status: z.string(),
      current_state: z.string(),
      /** The latest remarks of people about it. */
      messages: list(
        z.object({
          author: z.string(),
          did: z.string(),
          words: z.string(),
          created_at: z.string(),
          to: z.string().nullable(),
        }),
      ).optional(),
    }),
  ),
  runs_total: z.int(),
  completed_despite: strings,
}

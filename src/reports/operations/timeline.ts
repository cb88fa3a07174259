import { z } from 'zod'
import { tasksToReview } from '../../inbox/operations/item-answer.ts'
import type { MissionId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { count, identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import { DoneWhenEntry, doneWhenEntry } from '../../plan/operations/done-when.ts'
import { agentOfTurn } from '../../sessions/operations/hook-evidence.ts'
import type { TurnSummary } from '../../sessions/ports/capture-reads.ts'
import type { Reads } from '../../store/ports/store.ts'
import { phaseStatuses, shownStatus } from '../../track/domain/mission.ts'
import { attemptStatuses, resolutions } from '../../track/domain/task.ts'
import { verdictValues } from '../../track/domain/verdict.ts'
import { ChangeCounts, measurementLevel } from '../../track/operations/attempt-answer.ts'
import {
  leftWork,
  leftWorkFields,
  missionRunsFields,
  missionStatus,
} from '../../track/operations/mission-answer.ts'
import { missionRuns } from '../../track/operations/summary.ts'
import { undoneTasks } from '../../track/operations/tree-write.ts'
import type { ChangedLines, TimelineAttempt, TimelineTask } from '../ports/timeline-reads.ts'

const TimelineTaskEntry = z.object({
  id: z.string(),
  name: z.string(),
  phase_id: z.string().nullable(),
  parent_task_id: z.string().nullable(),
  status: z.enum(['ready', 'blocked', 'in_progress', 'done']),
  resolution: z.enum(resolutions).nullable(),
  /** It waits for a person's review, as on the board. */
  needs_review: z.literal(true).optional(),
  /** A person took its changes back. */
  is_undone: z.literal(true).optional(),
})

/** Lines, and files out of scope. */
const Lines = z.object({
  added: z.int().nullable(),
  deleted: z.int().nullable(),
  out_of_scope: z.int(),
  /** Of these, the files that a person approved. */
  out_of_scope_accepted: z.int(),
})

const TimelineAttemptEntry = z.object({
  id: z.string(),
  task_id: z.string(),
  number: z.int(),
  agent: z.string().nullable(),
  status: z.enum(attemptStatuses),
  opened_at: z.string(),
  closed_at: z.string().nullable(),
  counts: ChangeCounts.nullable(),
  lines: Lines.nullable(),
  scope_match: z.boolean().nullable(),
  measurement: measurementLevel.nullable(),
  verdict: z.enum(verdictValues).nullable(),
})

const TimelineMark = z.object({
  id: z.string(),
  kind: z.enum(['decision', 'issue', 'progress']),
  task_id: z.string(),
  agent: z.string().nullable(),
  text: z.string(),
  created_at: z.string(),
})
type TimelineMark = z.output<typeof TimelineMark>

/** Recorded turns in that time that changed something, or are open. */
const TimelineTurn = z.object({
  id: z.string(),
  session_id: z.string(),
  number: z.int(),
  agent: z.string(),
  status: z.enum(['open', 'ended', 'failed']),
  opened_at: z.string(),
  closed_at: z.string().nullable(),
  counts: ChangeCounts.nullable(),
  added_lines: z.int().nullable(),
  deleted_lines: z.int().nullable(),
})

export const missionTimeline = defineOperation({
  name: 'mission_timeline',
  command: 'mission timeline',
  toolset: 'track',
  audience: 'both',
  title: 'Show the timeline of a mission',
  description:
    'Show the phases, tasks and attempts of a mission with their times, measurements and log entries.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission or workflow (m-…, w-…)'),
    limit: count(
      'How many of the last attempts, and of each kind of log entry; default 2000',
      10_000,
    ).optional(),
  }),
  output: z.object({
    id: z.string(),
    name: z.string(),
    objective: z.string().nullable(),
    description: z.string().nullable(),
    scope: z.string().nullable(),
    constraints: z.string().nullable(),
    /** Promised by each of its tasks. */
    done_when: DoneWhenEntry.nullable(),
    status: missionStatus,
    ...leftWorkFields,
    created_at: z.string(),
    completed_at: z.string().nullable(),
    completed_by: z.string().nullable(),
    /** What was accomplished, as whoever completed it says. */
    summary: z.string().nullable(),
    phases: list(Named.extend({ status: z.enum(phaseStatuses) })),
    tasks: list(TimelineTaskEntry),
    attempts: list(TimelineAttemptEntry),
    marks: list(TimelineMark),
    captured: list(TimelineTurn),
    ...missionRunsFields,
    totals: Lines.extend({
      /** Without dropped ones. */
      tasks: z.int(),
      /** Without undone ones. */
      done: z.int(),
      /** How many of them wait for a person. */
      done_waiting: z.int(),
      attempts: z.int(),
      files_changed: z.int(),
      decisions: z.int(),
      issues: z.int(),
    }),
  }),
}).handler(({ store, clock }, input) =>
  store.view((reads) => timelineOf(reads, input.id, { limit: input.limit ?? 2000, now: clock.now() })),
)

async function timelineOf(
  reads: Reads,
  id: string,
  { limit, now: until }: { readonly limit: number; readonly now: number },
) {
  const mission = await findMission(reads, id)
  const phases = await reads.missions.phases(mission.id)
  const now = await reads.missions.now(mission.id)
  const whole = await reads.missions.lines(mission.id)
  const tasks = await reads.timeline.tasks(mission.id, limit)
  const attempts = await reads.timeline.attempts(mission.id, limit)
  const lines = await reads.timeline.lines(mission.id, limit)
  const marks = await timelineMarks(reads, mission.id, limit)
  const waiting = await tasksToReview(reads, mission.id)
  const finished = tasks.filter(({ status, resolution }) => status === 'done' && resolution !== 'dropped')
  const lastAttempts = new Map(
    attempts.toSorted((a, b) => a.number - b.number).map((one) => [one.taskId, one]),
  )
  const undone = await undoneTasks(
    reads,
    new Map(finished.map((task) => [task.id, lastAttempts.get(task.id) ?? null])),
  )
  const done = finished.filter((task) => !undone.has(task.id))
  const sums = [...lines.values()]
  const captured = await reads.capture.turnsBetween(mission.createdAt, mission.completedAt ?? until)
  return {
    id: mission.id,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    scope: mission.scope,
    constraints: mission.constraints,
    done_when: doneWhenEntry(mission.doneWhen),
    status: shownStatus(mission, now),
    ...leftWork(mission, now),
    created_at: instant(mission.createdAt),
    completed_at: instantOrNull(mission.completedAt),
    completed_by: await reads.missions.endedBy(mission),
    summary: mission.summary,
    phases: phases.map((phase) => ({ id: phase.id, name: phase.name, status: phase.status })),
    tasks: tasks.map((task) => timelineTask(task, { waiting, undone })),
    attempts: attempts.map((attempt) => timelineAttempt(attempt, lines.get(attempt.id))),
    marks: marks.marks,
    captured: captured.map(timelineTurn),
    ...(await missionRuns(reads, mission)),
    totals: {
      tasks: tasks.filter(({ resolution }) => resolution !== 'dropped').length,
      done: done.length,
      done_waiting: done.filter((task) => waiting.has(task.id)).length,
      attempts: await reads.timeline.attemptsTotal(mission.id),
      files_changed: whole.files,
      decisions: marks.decisions,
      issues: marks.issues,
      added: whole.added,
      deleted: whole.deleted,
      out_of_scope: sums.reduce((sum, { outOfScope }) => sum + outOfScope, 0),
      out_of_scope_accepted: sums.reduce((sum, { outOfScopeAccepted }) => sum + outOfScopeAccepted, 0),
    },
  }
}

function timelineTask(
  task: TimelineTask,
  {
    waiting,
    undone,
  }: { readonly waiting: ReadonlySet<string>; readonly undone: ReadonlyMap<string, unknown> },
): z.output<typeof TimelineTaskEntry> {
  return {
    id: task.id,
    name: excerpt(task.name, 120),
    phase_id: task.phaseId,
    parent_task_id: task.parentTaskId,
    status: task.status,
    resolution: task.resolution,
    ...(waiting.has(task.id) && { needs_review: true as const }),
    ...(undone.has(task.id) && { is_undone: true as const }),
  }
}

function timelineAttempt(
  attempt: TimelineAttempt,
  lines: ChangedLines = { added: 0, deleted: 0, outOfScope: 0, outOfScopeAccepted: 0 },
): z.output<typeof TimelineAttemptEntry> {
  const isMeasured = attempt.counts !== null && attempt.measurement !== 'unknown'
  return {
    id: attempt.id,
    task_id: attempt.taskId,
    number: attempt.number,
    agent: attempt.agentName,
    status: attempt.status,
    opened_at: instant(attempt.openedAt),
    closed_at: instantOrNull(attempt.closedAt),
    counts: attempt.counts,
    lines: isMeasured
      ? {
          added: lines.added,
          deleted: lines.deleted,
          out_of_scope: lines.outOfScope,
          out_of_scope_accepted: lines.outOfScopeAccepted,
        }
      : null,
    scope_match: attempt.scopeMatches,
    measurement: attempt.measurement,
    verdict: attempt.verdict,
  }
}

function timelineTurn({
  turn,
  counts,
  addedLines,
  deletedLines,
}: TurnSummary): z.output<typeof TimelineTurn> {
  return {
    id: turn.id,
    session_id: turn.sessionId,
    number: turn.number,
    agent: agentOfTurn(turn),
    status: turn.status,
    opened_at: instant(turn.openedAt),
    closed_at: instantOrNull(turn.closedAt),
    counts,
    added_lines: addedLines,
    deleted_lines: deletedLines,
  }
}

/** The records of a mission, newest first, and the total of each kind. */
async function timelineMarks({ records }: Reads, missionId: MissionId, limit: number) {
  const decisions = await records.decisions({ missionId }, { limit })
  const issues = await records.issues({ missionId }, { limit })
  const progress = await records.progress({ missionId }, { limit })
  const marks = [
    ...decisions.items.map(({ item }) => markOf('decision', item, `${item.question} ${item.chosen}`)),
    ...issues.items.map(({ item }) => markOf('issue', item, item.description)),
    ...progress.items.map(({ item }) => markOf('progress', item, item.message)),
  ]
  return {
    marks: marks.toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1)),
    decisions: decisions.total,
    issues: issues.total,
  }
}

interface TimelineRecord {
  readonly id: string
  readonly taskId: string
  readonly agentName: string | null
  readonly createdAt: number
}

function markOf(kind: TimelineMark['kind'], record: TimelineRecord, text: string): TimelineMark {
  return {
    id: record.id,
    kind,
    task_id: record.taskId,
    agent: record.agentName,
    text: excerpt(text, 160),
    created_at: instant(record.createdAt),
  }
}

import type { Timeline } from '../../../api/entities.ts'
import type { BarMark } from '../../../geometry/bar-layout.ts'
import type { LaneSource, LaneSpan, LaneTask } from '../../../geometry/lane-rows.ts'
import { type Status, statusOf } from '../../../parts/status.tsx'

export type TimelineAttemptData = Timeline['attempts'][number]
type TimelineMarkData = Timeline['marks'][number]

export interface TimelineLaneTask extends LaneTask {
  readonly name: string
  readonly status: Status
  readonly isUndone: boolean
  /** The agent of the last attempt. */
  readonly agent: string | null
  readonly marks: readonly TaskMarkPoint[]
}

export interface TimelineSpan extends LaneSpan {
  readonly attempt: TimelineAttemptData
}

export interface TaskMarkPoint extends BarMark {
  readonly data: TimelineMarkData
}

type TimelineSource = LaneSource<TimelineLaneTask, TimelineSpan>

/** The rows of the timeline, from the answer of the operation. */
export function sourceOf(timeline: Timeline): TimelineSource {
  const spans = timeline.attempts.map(
    (attempt): TimelineSpan => ({
      id: attempt.id,
      taskId: attempt.task_id,
      agent: attempt.agent,
      from: Date.parse(attempt.opened_at),
      to: attempt.closed_at === null ? null : Date.parse(attempt.closed_at),
      attempt,
    }),
  )
  const last = new Map(timeline.attempts.map((attempt) => [attempt.task_id, attempt]))
  // The answer has the newest first; a row is read in the order of time.
  const marks = Map.groupBy(timeline.marks.toReversed(), ({ task_id }) => task_id)
  const tasks = timeline.tasks.map(
    (task): TimelineLaneTask => ({
      id: task.id,
      name: task.name,
      phaseId: task.phase_id,
      isDone: task.status === 'done' && task.is_undone !== true,
      isUndone: task.is_undone === true,
      needsReview: task.needs_review === true,
      status: taskStatus(task, last.get(task.id) ?? null),
      agent: last.get(task.id)?.agent ?? null,
      marks: (marks.get(task.id) ?? []).map((data) => ({
        kind: data.kind,
        at: Date.parse(data.created_at),
        data,
      })),
    }),
  )
  return { phases: timeline.phases, tasks, spans }
}

/** A task to do whose last attempt failed counts as failed. */
function taskStatus(task: Timeline['tasks'][number], last: TimelineAttemptData | null): Status {
  if (task.needs_review) return 'review'
  if (task.is_undone) return statusOf('dropped')
  if (task.status === 'done') return statusOf(task.resolution ?? 'done')
  if (task.status === 'in_progress') return 'active'
  if (last?.status === 'failed') return 'failed'
  return task.status === 'ready' ? 'ready' : 'planned'
}

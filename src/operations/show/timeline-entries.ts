import type { z } from 'zod'
import { excerpt } from '../../domain/budget.ts'
import type { MissionId } from '../../domain/id.ts'
import { instant, instantOrNull } from '../../domain/instant.ts'
import type { ChangedLines, TimelineAttempt, TimelineTask } from '../../ports/reads/timeline-reads.ts'
import type { Reads } from '../../ports/store.ts'
import type { attemptFields, markFields, timelineTaskFields } from './timeline-fields.ts'

export function timelineTask(task: TimelineTask): z.output<typeof timelineTaskFields> {
  return {
    id: task.id,
    name: excerpt(task.name, 120),
    phase_id: task.phaseId,
    parent_task_id: task.parentTaskId,
    standing: task.standing,
    resolution: task.resolution,
  }
}

export function timelineAttempt(
  attempt: TimelineAttempt,
  lines: ChangedLines = { added: 0, deleted: 0, outOfScope: 0 },
): z.output<typeof attemptFields> {
  const measured = attempt.counts !== null
  return {
    id: attempt.id,
    task_id: attempt.taskId,
    number: attempt.number,
    agent: attempt.agentName,
    status: attempt.status,
    opened_at: instant(attempt.openedAt),
    closed_at: instantOrNull(attempt.closedAt),
    counts: attempt.counts === null ? null : { ...attempt.counts },
    lines: measured ? { added: lines.added, deleted: lines.deleted, out_of_scope: lines.outOfScope } : null,
    scope_match: attempt.scopeMatches,
    verification: attempt.verification,
  }
}

type TimelineMark = z.output<typeof markFields>

/** What was said in a mission, newest first, and how much of each kind there is in all. */
export async function timelineMarks({ records }: Reads, missionId: MissionId, limit: number) {
  const decisions = await records.decisions({ missionId }, { limit })
  const issues = await records.issues({ missionId }, { limit })
  const progress = await records.progress({ missionId }, { limit })
  const marks = [
    ...decisions.items.map(({ item }) => markOf('decision', item, `${item.question} ${item.chosen}`)),
    ...issues.items.map(({ item }) => markOf('issue', item, item.description)),
    ...progress.items.map(({ item }) => markOf('progress', item, item.message)),
  ]
  return {
    marks: marks.toSorted((a, b) => (a.at < b.at ? 1 : -1)),
    decisions: decisions.total,
    issues: issues.total,
  }
}

interface Said {
  readonly id: string
  readonly taskId: string
  readonly agentName: string | null
  readonly createdAt: number
}

function markOf(kind: TimelineMark['kind'], said: Said, text: string): TimelineMark {
  return {
    id: said.id,
    kind,
    task_id: said.taskId,
    agent: said.agentName,
    text: excerpt(text, 160),
    at: instant(said.createdAt),
  }
}

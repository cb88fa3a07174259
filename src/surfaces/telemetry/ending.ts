import type { Happening } from '../../domain/fact.ts'
import type { RunStatus } from '../../domain/gate/run-record.ts'
import type { SpanStatus } from './span.ts'

/** What came to its end with a fact: only then its span is complete. */
export type Ending =
  | { readonly of: 'attempt'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'phase'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'mission'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'run'; readonly id: string; readonly status: SpanStatus }

export function endingOf(happening: Happening): Ending | null {
  switch (happening.kind) {
    case 'attempt.closed': {
      const { attemptId: id, status, outcome } = happening
      return { of: 'attempt', id, status: status === 'failed' ? failed(outcome.summary) : { is: 'ok' } }
    }
    case 'attempt.abandoned':
      return { of: 'attempt', id: happening.attemptId, status: failed(happening.reason) }
    case 'phase.completed':
      if (happening.missionId === null) return null
      return { of: 'phase', id: happening.phaseId, status: { is: 'ok' } }
    case 'mission.ended': {
      const { missionId: id, status, summary } = happening
      if (status === 'failed') return { of: 'mission', id, status: failed(summary ?? 'The mission failed.') }
      return { of: 'mission', id, status: { is: status === 'completed' ? 'ok' : 'unset' } }
    }
    case 'run.advanced':
    case 'run.migrated':
      return runEnding(happening.runId, happening.status)
    case 'run.cancelled':
      return { of: 'run', id: happening.runId, status: failed(happening.event.event) }
    case 'project.created':
    case 'mission.started':
    case 'mission.extended':
    case 'mission.reopened':
    case 'phase.created':
    case 'phase.edited':
    case 'phase.reopened':
    case 'milestone.created':
    case 'milestone.edited':
    case 'task.planned':
    case 'task.edited':
    case 'task.marked':
    case 'task.dropped':
    case 'task.forced':
    case 'task.claimed':
    case 'claim.ended':
    case 'dependency.added':
    case 'dependency.removed':
    case 'attempt.opened':
    case 'attempt.corrected':
    case 'attempt.continued':
    case 'decision.logged':
    case 'issue.logged':
    case 'progress.logged':
    case 'note.added':
    case 'hold.opened':
    case 'hold.closed':
    case 'role.declared':
    case 'process.kept':
    case 'run.created':
    case 'run.refused':
    case 'run.approved':
    case 'setting.changed':
    case 'command.revoked':
    case 'command.started':
    case 'command.ended':
      return null
  }
}

function runEnding(id: string, status: RunStatus): Ending | null {
  if (status === 'active') return null
  const ended = status === 'succeeded' ? ({ is: 'ok' } as const) : failed('The run ended in a failed state.')
  return { of: 'run', id, status: ended }
}

function failed(message: string): SpanStatus {
  return { is: 'error', message: message.slice(0, 500) }
}

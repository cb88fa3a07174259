import type { Happening } from '../../domain/fact.ts'
import type { SpanStatus } from './span.ts'

/** What came to its end with a fact: only then its span is complete. */
export type Ending =
  | { readonly of: 'attempt'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'phase'; readonly id: string; readonly status: SpanStatus }
  | { readonly of: 'mission'; readonly id: string; readonly status: SpanStatus }

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
    case 'attempt.continued':
    case 'decision.logged':
    case 'issue.logged':
    case 'progress.logged':
    case 'note.added':
    case 'hold.opened':
    case 'hold.closed':
    case 'role.declared':
      return null
  }
}

function failed(message: string): SpanStatus {
  return { is: 'error', message: message.slice(0, 500) }
}

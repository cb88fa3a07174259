import type { Decision, Issue, Progress } from '../../domain/track/records.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { known, type SpanEvent } from './span.ts'

/** Of each kind, the last ones. */
const mostOfEach = 100

/** What was said during an attempt, in order. */
export async function saidDuring({ records }: Reads, attempt: Attempt): Promise<readonly SpanEvent[]> {
  const about = { taskId: attempt.taskId, since: attempt.openedAt }
  const page = { limit: mostOfEach }
  const decisions = await records.decisions(about, page)
  const issues = await records.issues(about, page)
  const progress = await records.progress(about, page)
  const own = ({ item }: { readonly item: { readonly attemptId: string | null } }) =>
    item.attemptId === attempt.id
  return [
    ...decisions.items.filter(own).map(({ seq, item }) => ({ seq, event: decisionEvent(item) })),
    ...issues.items.filter(own).map(({ seq, item }) => ({ seq, event: issueEvent(item) })),
    ...progress.items.filter(own).map(({ seq, item }) => ({ seq, event: progressEvent(item) })),
  ]
    .sort((a, b) => a.seq - b.seq)
    .map(({ event }) => event)
}

function decisionEvent(decision: Decision): SpanEvent {
  return {
    name: 'decision',
    at: decision.createdAt,
    attributes: known({
      'waymark.decision.id': decision.id,
      'waymark.decision.category': decision.category,
      'waymark.decision.question': decision.question,
      'waymark.decision.chosen': decision.chosen,
      'waymark.decision.reasoning': decision.reasoning,
    }),
  }
}

function issueEvent(issue: Issue): SpanEvent {
  return {
    name: 'issue',
    at: issue.createdAt,
    attributes: known({
      'waymark.issue.id': issue.id,
      'waymark.issue.type': issue.type,
      'waymark.issue.description': issue.description,
      'waymark.issue.resolution': issue.resolution,
      'waymark.issue.requires_human_review': issue.requiresHumanReview,
    }),
  }
}

function progressEvent(progress: Progress): SpanEvent {
  return {
    name: 'progress',
    at: progress.createdAt,
    attributes: known({
      'waymark.progress.id': progress.id,
      'waymark.progress.message': progress.message,
      'waymark.progress.percent': progress.progress,
    }),
  }
}

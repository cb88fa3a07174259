import type { Happening } from '../fact.ts'
import type { Setting } from '../id.ts'
import type { Hold, Issue, Whereabouts } from './records.ts'

/** An issue; with `requires_human_review` it is a blocker until a person resolves its hold. */
export function logIssue(
  said: Pick<Issue, 'type' | 'description' | 'resolution' | 'requiresHumanReview'>,
  where: Whereabouts,
  by: { readonly setting: Setting; readonly actorName: string },
): { readonly issue: Issue; readonly happenings: readonly Happening[] } {
  const { setting, actorName } = by
  const issue: Issue = { id: setting.ids.next('issue'), ...where, ...said, createdAt: setting.at }
  if (!issue.requiresHumanReview) return { issue, happenings: [{ kind: 'issue.logged', issue }] }
  const hold: Hold = {
    ...openHold(
      { kind: 'blocker', reason: issue.description, openedBy: where.agentName ?? actorName },
      where,
      setting,
    ),
    issueId: issue.id,
  }
  return {
    issue,
    happenings: [
      { kind: 'issue.logged', issue },
      { kind: 'hold.opened', hold },
    ],
  }
}

/** A hold that waits for a person, open from now on. */
export function openHold(
  about: Pick<Hold, 'kind' | 'reason' | 'openedBy'>,
  where: Omit<Whereabouts, 'agentName'>,
  setting: Setting,
): Hold {
  return {
    id: setting.ids.next('hold'),
    kind: about.kind,
    missionId: where.missionId,
    phaseId: where.phaseId,
    taskId: where.taskId,
    attemptId: where.attemptId,
    issueId: null,
    runId: null,
    request: null,
    reason: about.reason,
    paths: [],
    openedBy: about.openedBy,
    openedAt: setting.at,
    status: 'open',
    answer: null,
    closedBy: null,
    closedAt: null,
  }
}

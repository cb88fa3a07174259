import type { Outcome } from '../../domain/fact.ts'
import { instant, instantOrNull, secondsBetween } from '../../domain/instant.ts'
import { changeDetail, sharedTree } from '../../domain/track/completion-report.ts'
import type { Issue } from '../../domain/track/records.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { holdEntry } from '../hold/inbox.ts'
import { decisionEntry, issueTypeShown, milestoneEntry, taskStatusShown } from '../mission/context-entries.ts'
import { correctionEntry } from '../task/task-story.ts'

/** One task: its attempts with what was measured and what was claimed, and what was said about it. */
export async function taskDetail(reads: Reads, task: Task) {
  const { tasks, records, holds } = reads
  const filter = { taskId: task.id }
  const attempts = await tasks.attempts(task.id)
  const shown = await Promise.all(attempts.slice(-5).map((attempt) => attemptDetail(reads, attempt)))
  const decisions = await records.decisions(filter, { limit: 20 })
  const issues = await records.issues(filter, { limit: 20 })
  const progress = await records.progress(filter, { limit: 20 })
  const open = await holds.list({ ...filter, status: 'open' }, { limit: 20 })
  const closed = await holds.list({ ...filter, status: 'closed' }, { limit: 20 })
  return {
    kind: 'task',
    id: task.id,
    name: task.name,
    goal: task.goal,
    step: task.step,
    mission_id: task.missionId,
    phase_id: task.phaseId,
    parent_task_id: task.parentTaskId,
    status: taskStatusShown(task, attempts.at(-1) ?? null),
    resolution: task.resolution,
    created_by: task.creator,
    created_at: instant(task.createdAt),
    attempts: shown,
    attempts_total: attempts.length,
    decisions: decisions.items.map(({ item }) => decisionEntry(item)),
    issues: issues.items.map(({ item }) => issueEntry(item)),
    progress: progress.items.map(({ item }) => milestoneEntry(item)),
    holds: open.items.map(({ item }) => holdEntry(item)),
    answered_holds: closed.items.map(({ item }) => holdEntry(item)),
  }
}

async function attemptDetail({ tasks }: Reads, attempt: Attempt) {
  const end = await tasks.end(attempt.id)
  const changes = end === null ? [] : await tasks.changes(attempt.id, { limit: 20, offset: 0 })
  return {
    attempt_id: attempt.id,
    number: attempt.number,
    status: attempt.status,
    agent_name: attempt.agentName,
    caller_type: attempt.callerType,
    actor: attempt.actor.name,
    areas: attempt.areas,
    work_tree: attempt.snapshot.top,
    snapshot_id: attempt.snapshot.id,
    snapshot_type: attempt.snapshot.engine,
    started_at: instant(attempt.openedAt),
    completed_at: instantOrNull(attempt.closedAt),
    duration_seconds: attempt.closedAt === null ? null : secondsBetween(attempt.openedAt, attempt.closedAt),
    measured:
      end === null
        ? null
        : {
            ...end.evidence,
            ...sharedTree(end.evidence),
            endSnapshot: undefined,
            counts: end.counts,
            changes: changes.map(changeDetail),
          },
    claimed: end === null ? null : claims(end.outcome),
    /** What was said after the end: it stands beside the claim. */
    corrections: end === null ? [] : (await tasks.corrections(attempt.id)).map(correctionEntry),
  }
}

function claims(outcome: Outcome) {
  return {
    summary: outcome.summary,
    achievements: outcome.achievements,
    limitations: outcome.limitations,
    ...(outcome.unexpected && { unexpected: outcome.unexpected }),
    next_steps: outcome.nextSteps,
    packages_added: outcome.packagesAdded,
    packages_removed: outcome.packagesRemoved,
    commands_executed: outcome.commandsExecuted,
    tests_status: outcome.testsStatus,
    tokens_input: outcome.tokensInput,
    tokens_output: outcome.tokensOutput,
  }
}

export function issueEntry(issue: Issue) {
  return {
    id: issue.id,
    type: issueTypeShown[issue.type],
    description: issue.description,
    resolution: issue.resolution || null,
    requires_human_review: issue.requiresHumanReview,
    created_at: instant(issue.createdAt),
  }
}

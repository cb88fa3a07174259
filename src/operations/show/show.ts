import { z } from 'zod'
import { answerBudget, fitLists, inExcerpts } from '../../domain/budget.ts'
import type { Outcome } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import { instant, instantOrNull, secondsBetween } from '../../domain/instant.ts'
import { changeDetail, sharedTree } from '../../domain/track/completion-report.ts'
import { currentPhase, type Mission, shownStatus, totalPhases } from '../../domain/track/mission.ts'
import type { Issue } from '../../domain/track/records.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { holdEntry } from '../inbox/inbox.ts'
import { identifier } from '../input/fields.ts'
import {
  decisionEntry,
  issueTypeShown,
  milestoneEntry,
  missionRuns,
  phaseSummary,
  taskEntry,
  taskStatusShown,
} from '../mission/entries.ts'
import { defineOperation } from '../operation.ts'
import { correctionEntry } from '../task/task-story.ts'

export const show = defineOperation({
  name: 'show',
  command: 'show',
  toolset: 'track',
  audience: 'both',
  title: 'Show a mission or a task',
  description:
    'Everything recorded about one mission, workflow or task: what was measured, and what was said.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission, workflow or task (m-…, w-…, t-…)'),
    brief: z.boolean().describe('Cut the lists to what fits an agent’s context').optional(),
  }),
  output: z.looseObject({ kind: z.string(), id: z.string() }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const detail = await detailOf(reads, input.id)
    return input.brief ? { ...detail, ...fitLists(inExcerpts(detail), answerBudget) } : detail
  }),
)

async function detailOf(reads: Reads, id: string) {
  const mission = await reads.missions.find(id)
  if (mission) return missionDetail(reads, mission)
  const task = await reads.tasks.find(id)
  if (task) return taskDetail(reads, task)
  throw new Failure('NOT_FOUND', `mission or task not found: ${id}`, {
    hint: 'list_missions names the missions; get_context { include: ["tasks"] } the tasks of one.',
  })
}

/** One mission: what it is for, where it stands, its last tasks and decisions, what blocks it. */
async function missionDetail(reads: Reads, mission: Mission) {
  const { missions, tasks, records, holds } = reads
  const filter = { missionId: mission.id }
  const phases = await missions.phases(mission.id)
  const now = await missions.now(mission.id)
  const totals = await missions.totals(mission.id)
  const lastTasks = await tasks.list(filter, { limit: 20 })
  const decisions = await records.decisions(filter, { limit: 10 })
  const open = await holds.list({ ...filter, status: 'open' }, { limit: 10 })
  return {
    kind: mission.kind,
    id: mission.id,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    profile: mission.profile?.toUpperCase() ?? null,
    scope: mission.scope,
    constraints: mission.constraints,
    status: shownStatus(mission, now),
    current_phase: currentPhase(mission, phases),
    total_phases: totalPhases(mission, phases),
    files_changed: totals.distinctFilesChanged,
    phase_summary: await phaseSummary(reads, mission, phases),
    tasks: lastTasks.items.map(({ item }) => taskEntry(item)),
    tasks_total: lastTasks.total,
    decisions: decisions.items.map(({ item }) => decisionEntry(item)),
    decisions_total: decisions.total,
    holds: open.items.map(({ item }) => holdEntry(item)),
    holds_total: open.total,
    ...(await missionRuns(reads, mission)),
    summary: mission.summary,
    achievements: mission.achievements,
    limitations: mission.limitations,
    created_at: instant(mission.createdAt),
    completed_at: instantOrNull(mission.completedAt),
  }
}

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

import { lossWords } from '../../domain/gate/gating.ts'
import { instant, instantOrNull, secondsBetween } from '../../domain/instant.ts'
import { excerpt } from '../../domain/text.ts'
import type { Mission, Phase } from '../../domain/track/mission.ts'
import type { Decision, Issue, IssueType, Progress } from '../../domain/track/records.ts'
import type { Attempt, Task, TaskHistory } from '../../domain/track/task.ts'
import type { HoldLine, TaskLine } from '../../ports/reads.ts'
import type { Reads } from '../../ports/store.ts'
import { saidOf } from '../run/said.ts'

/** How get_context spells an issue's type. */
export const issueTypeShown = {
  documentation_gap: 'DOC_GAP',
  bug_encountered: 'BUG',
  dependency_conflict: 'DEPENDENCY_CONFLICT',
  unclear_requirement: 'UNCLEAR_REQUIREMENT',
  other: 'OTHER',
} as const satisfies Record<IssueType, string>

export function decisionEntry(decision: Decision) {
  return {
    id: decision.id,
    category: decision.category.toUpperCase(),
    question: excerpt(decision.question),
    chosen: excerpt(decision.chosen),
    reasoning: excerpt(decision.reasoning),
    options_considered: decision.optionsConsidered.slice(0, 8).map((option) => excerpt(option, 80)),
    trade_offs: decision.tradeOffs === null ? null : excerpt(decision.tradeOffs),
    task_id: decision.taskId,
    created_at: instant(decision.createdAt),
  }
}

export function milestoneEntry(progress: Progress) {
  return {
    id: progress.id,
    task_id: progress.taskId,
    message: excerpt(progress.message),
    progress: progress.progress,
    created_at: instant(progress.createdAt),
  }
}

/** A blocker: an issue that asks for a person, or a review that a completion asked for. */
export function blockerEntry({ hold, issue }: HoldLine) {
  return {
    id: issue?.id ?? hold.id,
    hold_id: hold.id,
    task_id: hold.taskId,
    type: issue ? issueTypeShown[issue.type] : 'REVIEW',
    description: excerpt(issue?.description ?? hold.reason),
    resolution: issue ? excerpt(issue.resolution) || null : null,
    created_at: instant(hold.openedAt),
    ...(hold.status !== 'open' && {
      resolved: {
        by: hold.closedBy,
        at: instantOrNull(hold.closedAt),
        answer: hold.answer === null ? null : excerpt(hold.answer, 1000),
        status: hold.status,
      },
    }),
  }
}

export function taskEntry(
  { task, phaseNumber, attempt, counts, scopeMatches }: TaskLine,
  history?: TaskHistory,
) {
  return {
    id: task.id,
    name: excerpt(task.name, 120),
    status: taskStatusShown(task, attempt),
    ...(task.resolution === 'claimed' && { verified: false }),
    phase_number: phaseNumber,
    parent_task_id: task.parentTaskId,
    agent_name: attempt?.agentName ?? null,
    caller_type: attempt?.callerType ?? null,
    started_at: instantOrNull(attempt?.openedAt ?? null),
    duration_seconds:
      attempt === null || attempt.closedAt === null
        ? null
        : secondsBetween(attempt.openedAt, attempt.closedAt),
    files_changed: counts,
    scope_match: scopeMatches,
    ...(history && storyOf(task, history)),
  }
}

/** What an agent that is new here, or lost its context, needs of a task; nothing of what is empty. */
function storyOf({ name, goal }: Task, history: TaskHistory) {
  const { dependsOn, unsettled, blocked, claim, attempts, summary, correction, files } = history
  return {
    ...(goal !== null && goal !== name && { goal: excerpt(goal, 300) }),
    ...(dependsOn.length > 0 && { depends_on: dependsOn.slice(0, 10), blocked }),
    ...(unsettled && { settled: false }),
    ...(claim && { claim: { agent: claim.agent, expires_at: instantOrNull(claim.expiresAt) } }),
    ...(attempts > 1 && { attempts }),
    ...(summary !== null && { summary: excerpt(summary) }),
    ...(correction !== null && { correction: excerpt(correction) }),
    ...(files.length > 0 && { files }),
  }
}

/** An issue that blocks nobody: what an agent met, and what it did. */
export function issueEntry(issue: Issue) {
  return {
    id: issue.id,
    task_id: issue.taskId,
    type: issueTypeShown[issue.type],
    description: excerpt(issue.description),
    resolution: excerpt(issue.resolution) || null,
    agent_name: issue.agentName,
    created_at: instant(issue.createdAt),
  }
}

/** A task's status as get_context spells it: what the last attempt came to, or what is still to do. */
export function taskStatusShown(task: Task, attempt: Attempt | null): string {
  if (task.resolution === 'dropped') return 'DROPPED'
  if (task.resolution === 'claimed') return 'SUCCESS'
  if (task.resolution !== null) return task.resolution.toUpperCase()
  if (task.status === 'in_progress') return 'IN_PROGRESS'
  return attempt?.status === 'failed' ? 'FAILED' : 'TO_DO'
}

const mostRuns = 5

/** The runs that gate a mission, newest first, and what a completed mission was completed in spite of. */
export async function missionRuns(
  { runs, holds }: Pick<Reads, 'runs' | 'holds'>,
  { id, status }: Pick<Mission, 'id' | 'status'>,
) {
  const page = await runs.list({ missionId: id }, { limit: mostRuns })
  const said = await Promise.all(page.items.map(({ item }) => saidOf({ runs, holds }, item)))
  const lost = status === 'completed' ? await runs.lost(id) : []
  return {
    runs: page.items.map(({ item }, place) => ({
      run_id: item.id,
      process_id: item.process.id,
      status: item.status,
      current_state: item.state,
      ...((said[place]?.length ?? 0) > 0 && { said: said[place] }),
    })),
    runs_total: page.total,
    completed_despite: lost.slice(0, mostRuns).map(lossWords),
  }
}

const mostPhases = 16

/** The phases that matter now, where a mission has too many to list: the current one and those around it. */
export function phasesAround(current: number, phases: readonly Phase[]): readonly Phase[] {
  const at = phases.findIndex(({ number }) => number === current)
  const last = phases.length - mostPhases
  const first = Math.min(at === -1 ? last : at - mostPhases / 2, last)
  return phases.slice(Math.max(first, 0)).slice(0, mostPhases)
}

/** One line per phase, in phase order. A running phase's duration counts to its last completion. */
export async function phaseSummary(reads: Reads, mission: Mission, phases: readonly Phase[]) {
  const tallies = new Map((await reads.missions.tallies(mission.id)).map((tally) => [tally.phaseId, tally]))
  return phases.map((phase) => {
    const tally = tallies.get(phase.id)
    const { firstStart, lastEnd } = tally ?? { firstStart: null, lastEnd: null }
    return {
      phase_number: phase.number,
      phase_id: phase.id,
      name: excerpt(phase.name, 60),
      status: phase.status.toUpperCase(),
      tasks_count: tally?.tasks ?? 0,
      duration_seconds: firstStart === null || lastEnd === null ? 0 : secondsBetween(firstStart, lastEnd),
    }
  })
}

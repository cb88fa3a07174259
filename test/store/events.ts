import type { AttemptMeasurement, NewProjectEvent, Outcome } from '../../src/events/domain/project-event.ts'
import type { DecisionId, IssueId, MissionId, ProgressId, TaskId } from '../../src/kernel/id.ts'
import type { Store } from '../../src/store/ports/store.ts'
import type { ReportedChange } from '../../src/track/domain/changes.ts'
import type { Decision, Issue, Progress } from '../../src/track/domain/records.ts'
import type { Attempt, TaskOutcome } from '../../src/track/domain/task.ts'
import { agent } from '../support/entities.ts'

/** Records what happened, without a decision that could refuse it. */
export async function happened(
  store: Store,
  at: number,
  ...events: readonly NewProjectEvent[]
): Promise<void> {
  await store.record({ actor: agent, at, decide: async () => ({ events, answer: null }) })
}

const nowhere = { attemptId: null, missionId: 'm-1' as MissionId, phaseId: null, agentName: 'builder' }

export function aDecision(changes: Partial<Decision> = {}): Decision {
  return {
    id: 'd-1' as DecisionId,
    taskId: 't-1' as TaskId,
    ...nowhere,
    category: 'library_choice',
    question: 'Which parser?',
    optionsConsidered: ['a', 'b'],
    chosen: 'a',
    reasoning: 'smaller',
    tradeOffs: null,
    createdAt: 5,
    ...changes,
  }
}

export function anIssue(changes: Partial<Issue> = {}): Issue {
  return {
    id: 'i-1' as IssueId,
    taskId: 't-1' as TaskId,
    ...nowhere,
    type: 'bug_encountered',
    description: 'It crashes.',
    resolution: 'Worked around.',
    requiresHumanReview: true,
    createdAt: 5,
    ...changes,
  }
}

export function aProgress(changes: Partial<Progress> = {}): Progress {
  return {
    id: 'pr-1' as ProgressId,
    taskId: 't-1' as TaskId,
    ...nowhere,
    message: 'Half way.',
    progress: 50.5,
    metadata: { left: ['tests'] },
    createdAt: 5,
    ...changes,
  }
}

export function aChange(path: string, changes: Partial<ReportedChange> = {}): ReportedChange {
  return {
    path,
    change: 'modified',
    origin: 'task',
    addedLines: 2,
    deletedLines: 1,
    scope: 'in',
    attribution: 'certain',
    ...changes,
  }
}

const outcome: Outcome = {
  summary: 'Done.',
  achievements: ['it works'],
  limitations: [],
  nextSteps: [],
  manualReviewNeeded: false,
  manualReviewReason: null,
  packagesAdded: [],
  packagesRemoved: [],
  commandsExecuted: ['npm test'],
  testsStatus: 'passed',
  tokensInput: 100,
  tokensOutput: 20,
}

export function closing(
  attempt: Pick<Attempt, 'id' | 'taskId' | 'missionId'>,
  changes: readonly ReportedChange[] = [],
  status: TaskOutcome = 'success',
): Extract<NewProjectEvent, { kind: 'attempt.closed' }> {
  const evidence: AttemptMeasurement = {
    measurement: 'exact',
    changes,
    ignored: { added: ['dist/a.js'], modified: [], deleted: [] },
    scope: { matches: changes.every(({ scope }) => scope !== 'out'), unexpected: [] },
    warnings: ['Watch out.'],
    endSnapshot: { engine: 'git', directory: '/state/end', top: '/tree', prefix: '', id: 'def' },
  }
  return {
    kind: 'attempt.closed',
    attemptId: attempt.id,
    taskId: attempt.taskId,
    missionId: attempt.missionId,
    status,
    outcome,
    evidence,
    verdict: { is: 'unproven', reasons: [{ rule: 'no_check', text: 'The task has no check.' }], checks: [] },
    inputHash: 'input',
    answer: { task_id: attempt.taskId },
  }
}

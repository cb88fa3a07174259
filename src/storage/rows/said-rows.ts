import type { Insertable, Selectable } from 'kysely'
import type {
  AttemptId,
  DecisionId,
  IssueId,
  MissionId,
  PhaseId,
  ProgressId,
  TaskId,
} from '../../domain/id.ts'
import type { Decision, Issue, Progress, Whereabouts } from '../../domain/track/records.ts'
import type { DecisionTable, IssueTable, ProgressTable } from '../schema/record-tables.ts'
import { parsed, parsedOrNull } from './json.ts'
import type { RowKey } from './row-key.ts'

type Said = Whereabouts & { readonly id: string; readonly createdAt: number }

function saidRow({ projectId, seq }: RowKey, said: Said) {
  return {
    project_id: projectId,
    id: said.id,
    seq,
    task_id: said.taskId,
    attempt_id: said.attemptId,
    mission_id: said.missionId,
    phase_id: said.phaseId,
    agent_name: said.agentName,
    created_at: said.createdAt,
  }
}

function whereaboutsOf(row: {
  readonly task_id: string
  readonly attempt_id: string | null
  readonly mission_id: string | null
  readonly phase_id: string | null
  readonly agent_name: string | null
}): Whereabouts {
  return {
    taskId: row.task_id as TaskId, // a brand
    attemptId: row.attempt_id as AttemptId | null, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    agentName: row.agent_name,
  }
}

export function decisionRow(key: RowKey, decision: Decision): Insertable<DecisionTable> {
  return {
    ...saidRow(key, decision),
    category: decision.category,
    question: decision.question,
    options_considered: JSON.stringify(decision.optionsConsidered),
    chosen: decision.chosen,
    reasoning: decision.reasoning,
    trade_offs: decision.tradeOffs,
  }
}

export function decisionOf(row: Selectable<DecisionTable>): Decision {
  return {
    id: row.id as DecisionId, // a brand
    ...whereaboutsOf(row),
    category: row.category as Decision['category'], // as it was written
    question: row.question,
    optionsConsidered: parsed(row.options_considered),
    chosen: row.chosen,
    reasoning: row.reasoning,
    tradeOffs: row.trade_offs,
    createdAt: row.created_at,
  }
}

export function issueRow(key: RowKey, issue: Issue): Insertable<IssueTable> {
  return {
    ...saidRow(key, issue),
    type: issue.type,
    description: issue.description,
    resolution: issue.resolution,
    requires_human_review: issue.requiresHumanReview ? 1 : 0,
  }
}

export function issueOf(row: Selectable<IssueTable>): Issue {
  return {
    id: row.id as IssueId, // a brand
    ...whereaboutsOf(row),
    type: row.type as Issue['type'], // as it was written
    description: row.description,
    resolution: row.resolution,
    requiresHumanReview: row.requires_human_review === 1,
    createdAt: row.created_at,
  }
}

export function progressRow(key: RowKey, progress: Progress): Insertable<ProgressTable> {
  return {
    ...saidRow(key, progress),
    message: progress.message,
    progress: progress.progress,
    metadata: progress.metadata === null ? null : JSON.stringify(progress.metadata),
  }
}

export function progressOf(row: Selectable<ProgressTable>): Progress {
  return {
    id: row.id as ProgressId, // a brand
    ...whereaboutsOf(row),
    message: row.message,
    progress: row.progress,
    metadata: parsedOrNull(row.metadata),
    createdAt: row.created_at,
  }
}

import { z } from 'zod'
import { instant } from '../../kernel/instant.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import type { Decision, Issue, IssueType, Progress } from '../domain/records.ts'

/** Records about a task, cut for a list: decisions, issues and progress. */

export const DecisionEntry = z.object({
  id: z.string(),
  category: z.string(),
  question: z.string(),
  chosen: z.string(),
  reasoning: z.string(),
  options_considered: strings,
  trade_offs: z.string().nullable(),
  task_id: z.string(),
  agent_name: z.string().nullable(),
  created_at: z.string(),
})
export type DecisionEntry = z.output<typeof DecisionEntry>

export function decisionEntry(decision: Decision): DecisionEntry {
  return {
    id: decision.id,
    category: decision.category.toUpperCase(),
    question: excerpt(decision.question),
    chosen: excerpt(decision.chosen),
    reasoning: excerpt(decision.reasoning),
    options_considered: decision.optionsConsidered.slice(0, 8).map((option) => excerpt(option, 80)),
    trade_offs: decision.tradeOffs === null ? null : excerpt(decision.tradeOffs),
    task_id: decision.taskId,
    agent_name: decision.agentName,
    created_at: instant(decision.createdAt),
  }
}

export const ProgressEntry = z.object({
  id: z.string(),
  task_id: z.string(),
  message: z.string(),
  /** Percent. */
  progress: z.number().nullable(),
  agent_name: z.string().nullable(),
  created_at: z.string(),
})
export type ProgressEntry = z.output<typeof ProgressEntry>

export function progressEntry(progress: Progress): ProgressEntry {
  return {
    id: progress.id,
    task_id: progress.taskId,
    message: excerpt(progress.message),
    progress: progress.progress,
    agent_name: progress.agentName,
    created_at: instant(progress.createdAt),
  }
}

/** Issue types as Mission Control spells them. */
export const issueWords = {
  documentation_gap: 'DOC_GAP',
  bug_encountered: 'BUG',
  dependency_conflict: 'DEPENDENCY_CONFLICT',
  unclear_requirement: 'UNCLEAR_REQUIREMENT',
  other: 'OTHER',
} as const satisfies Record<IssueType, string>

const issueWord = z.enum(issueWords)

export const IssueEntry = z.object({
  id: z.string(),
  task_id: z.string(),
  type: issueWord,
  description: z.string(),
  resolution: z.string().nullable(),
  agent_name: z.string().nullable(),
  created_at: z.string(),
})
export type IssueEntry = z.output<typeof IssueEntry>

/** An issue that blocks no one: its description and resolution. */
export function issueEntry(issue: Issue): IssueEntry {
  return {
    id: issue.id,
    task_id: issue.taskId,
    type: issueWords[issue.type],
    description: excerpt(issue.description),
    resolution: excerpt(issue.resolution) || null,
    agent_name: issue.agentName,
    created_at: instant(issue.createdAt),
  }
}

export const IssueDetail = z.object({
  id: z.string(),
  type: issueWord,
  description: z.string(),
  resolution: z.string().nullable(),
  requires_human_review: z.boolean(),
  agent_name: z.string().nullable(),
  created_at: z.string(),
})
export type IssueDetail = z.output<typeof IssueDetail>

/** The whole of an issue, beside its task. */
export function issueDetail(issue: Issue): IssueDetail {
  return {
    id: issue.id,
    type: issueWords[issue.type],
    description: issue.description,
    resolution: issue.resolution || null,
    requires_human_review: issue.requiresHumanReview,
    agent_name: issue.agentName,
    created_at: instant(issue.createdAt),
  }
}

import { z } from 'zod'
import type { Actor } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import { findAttempt, findTask } from '../../kernel/operations/find.ts'
import { choice, freeObject, identifier, text, texts } from '../../kernel/operations/input/fields.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import {
  type Decision,
  newIssue as decide,
  decisionCategories,
  issueTypes,
  type Progress,
  placeRecord,
} from '../domain/records.ts'

export const logDecision = defineOperation({
  name: 'log_decision',
  tool: 'log_decision',
  command: 'decision log',
  synonyms: { id: 'task_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Log a decision',
  description: 'Log an important architectural decision',
  kind: 'command',
  positional: ['task_id'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    category: choice(decisionCategories, 'Kind', {
      library: 'library_choice',
      tradeoff: 'trade_off',
    }),
    question: text('Question that was decided'),
    options_considered: texts('Options evaluated').optional(),
    chosen: text('Chosen option'),
    reasoning: text('Why this choice (1-2 sentences)'),
    trade_offs: text('Accepted compromises').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.object({ decision_id: z.string(), created_at: z.string() }),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const decision: Decision = {
      id: setting.ids.next('decision'),
      ...(await recordLocation(reads, input, actor)),
      category: input.category,
      question: input.question,
      optionsConsidered: input.options_considered ?? [],
      chosen: input.chosen,
      reasoning: input.reasoning,
      tradeOffs: input.trade_offs ?? null,
      createdAt: setting.at,
    }
    return {
      events: [{ kind: 'decision.logged', decision }],
      agentName: decision.agentName,
      answer: { decision_id: decision.id, created_at: instant(decision.createdAt) },
    }
  }),
)

export const logIssue = defineOperation({
  name: 'log_issue',
  tool: 'log_issue',
  command: 'issue log',
  synonyms: { id: 'task_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Log an issue',
  description: 'Log an issue encountered during execution',
  kind: 'command',
  positional: ['task_id'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    type: choice(issueTypes, 'Kind', {
      doc_gap: 'documentation_gap',
      documentation: 'documentation_gap',
      bug: 'bug_encountered',
      dependency: 'dependency_conflict',
      requirement: 'unclear_requirement',
    }),
    description: text('What went wrong'),
    resolution: text('How it was resolved or worked around; none for a question or an open issue').optional(),
    requires_human_review: z
      .boolean()
      .describe('Does a human need to answer? Until then, dependent tasks wait')
      .optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.object({ issue_id: z.string(), created_at: z.string(), blocker: z.boolean() }),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const reported = {
      type: input.type,
      description: input.description,
      resolution: input.resolution ?? '',
      requiresHumanReview: input.requires_human_review ?? false,
    }
    const location = await recordLocation(reads, input, actor)
    const { issue, events } = decide(reported, location, setting)
    const answer = {
      issue_id: issue.id,
      created_at: instant(issue.createdAt),
      blocker: issue.requiresHumanReview,
    }
    return { events, agentName: location.agentName, answer }
  }),
)

export const logMilestone = defineOperation({
  name: 'log_milestone',
  tool: 'log_milestone',
  command: 'progress log',
  synonyms: { id: 'task_id' },
  toolset: 'track',
  audience: 'both',
  title: 'Log progress',
  description: 'Log a milestone for real-time UI updates',
  kind: 'command',
  positional: ['task_id', 'message'],
  input: z.strictObject({
    task_id: identifier('Task ID'),
    message: text('Short message'),
    progress: z.number().min(0).max(100).describe('Percent').optional(),
    metadata: freeObject('More data').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.object({ milestone_id: z.string(), created_at: z.string() }),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const progress: Progress = {
      id: setting.ids.next('progress'),
      ...(await recordLocation(reads, input, actor)),
      message: input.message,
      progress: input.progress ?? null,
      metadata: input.metadata ?? null,
      createdAt: setting.at,
    }
    return {
      events: [{ kind: 'progress.logged', progress }],
      agentName: progress.agentName,
      answer: { milestone_id: progress.id, created_at: instant(progress.createdAt) },
    }
  }),
)

interface TaskRecordInput {
  readonly task_id: string
  readonly attempt_id?: string | undefined
}

/** Reads, under the lock, the task and attempt that a record belongs to. */
async function recordLocation(reads: Reads, input: TaskRecordInput, caller: Actor) {
  const [task, open] = await Promise.all([
    findTask(reads, input.task_id),
    input.attempt_id === undefined ? reads.tasks.openAttempt(input.task_id as TaskId) : null, // unless no task has that id
  ])
  const named = input.attempt_id === undefined ? null : await findAttempt(reads, input.attempt_id)
  return placeRecord(task, { open, named, caller })
}

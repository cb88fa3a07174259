import { z } from 'zod'
import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import { logIssue as decide } from '../../domain/track/log-issue.ts'
import { issueTypes } from '../../domain/track/records.ts'
import { whereaboutsOf } from '../find/whereabouts-of.ts'
import { choice, identifier, text } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

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
    resolution: text('How it was resolved or worked around; not for a question').optional(),
    requires_human_review: z
      .boolean()
      .describe('Does a human need to answer? Until then what depends on the task waits')
      .optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.looseObject({ issue_id: z.string(), created_at: z.string(), blocker: z.boolean() }),
}).handler(({ record, actor }, input) => {
  assertResolved(input)
  return record(async (reads, setting) => {
    const said = {
      type: input.type,
      description: input.description,
      resolution: input.resolution ?? '',
      requiresHumanReview: input.requires_human_review ?? false,
    }
    const where = await whereaboutsOf(reads, input)
    const { issue, happenings } = decide(said, where, { setting, actorName: actor.name })
    const answer = {
      issue_id: issue.id,
      created_at: instant(issue.createdAt),
      blocker: issue.requiresHumanReview,
    }
    return { happenings, answer }
  })
})

/** Asking is not resolving: only a question needs no resolution. */
function assertResolved(input: {
  readonly resolution?: string | undefined
  readonly requires_human_review?: boolean | undefined
}): void {
  if (input.resolution !== undefined || input.requires_human_review) return
  throw new Failure('INVALID_INPUT', 'log_issue: "resolution" is missing.', {
    hint: 'Say how you resolved it or worked around it; or ask a person with requires_human_review: true.',
  })
}

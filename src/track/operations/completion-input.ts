import { z } from 'zod'
import type { Outcome } from '../../events/domain/project-event.ts'
import { fieldName, inputFailure, sentenceOf } from '../../kernel/failure.ts'
import { choice, identifier, text, texts, unlistedField } from '../../kernel/operations/input/fields.ts'
import { maxTokens } from '../../sessions/domain/hook-event.ts'
import { type TaskOutcome, taskOutcomes } from '../domain/task.ts'

export const outcomeFields = z
  .strictObject({
    summary: text('What was accomplished, in 2-4 sentences'),
    achievements: texts('Achievements').optional(),
    limitations: texts('Limitations, compromises').optional(),
    manual_review_needed: z.boolean().describe('A person must review').optional(),
    manual_review_reason: text('Why').optional(),
    next_steps: texts('Next steps').optional(),
    unexpected: z
      .array(z.strictObject({ path: text('Path'), why: text('Why') }))
      .max(200)
      .describe('Files you changed out of scope, and why')
      .optional(),
    not_mine: texts('Changed files that are not your work').optional(),
    no_change_reason: unlistedField(text('Why no file had to change')).optional(),
    weakened: unlistedField(texts('Files whose tests check less than before, on purpose')).optional(),
    criteria: unlistedField(
      z
        .array(
          z.strictObject({
            criterion: text('The criterion, as the task has it'),
            met: z.boolean(),
            how: text('How it is met, or why not').optional(),
          }),
        )
        .max(200)
        .describe('Your answers to the criteria of the task'),
    ).optional(),
  })
  .describe('Your claim, kept beside the measurement')

export const metadataFields = z.strictObject({
  packages_added: texts().optional(),
  packages_removed: texts().optional(),
  commands_executed: texts().optional(),
  tests_status: choice(['passed', 'failed', 'not_run'], undefined, {
    pass: 'passed',
    success: 'passed',
    fail: 'failed',
    skipped: 'not_run',
  }).optional(),
  tokens_input: z.int().min(0).max(maxTokens).optional(),
  tokens_output: z.int().min(0).max(maxTokens).optional(),
})

/** The claims of an agent, complete: what it left out is empty or null. */
export function outcomeOf(
  outcome: z.output<typeof outcomeFields>,
  metadata: z.output<typeof metadataFields> | undefined,
): Outcome {
  return {
    summary: outcome.summary,
    achievements: outcome.achievements ?? [],
    limitations: outcome.limitations ?? [],
    nextSteps: outcome.next_steps ?? [],
    manualReviewNeeded: outcome.manual_review_needed ?? false,
    manualReviewReason: outcome.manual_review_reason ?? null,
    ...(outcome.unexpected && outcome.unexpected.length > 0 && { unexpected: outcome.unexpected }),
    ...(outcome.not_mine && outcome.not_mine.length > 0 && { notMine: outcome.not_mine }),
    ...(outcome.no_change_reason !== undefined && { noChangeReason: outcome.no_change_reason }),
    ...(outcome.weakened && outcome.weakened.length > 0 && { weakened: outcome.weakened }),
    ...(outcome.criteria &&
      outcome.criteria.length > 0 && {
        criteria: outcome.criteria.map(({ how, ...answer }) => ({ ...answer, how: how ?? null })),
      }),
    packagesAdded: metadata?.packages_added ?? [],
    packagesRemoved: metadata?.packages_removed ?? [],
    commandsExecuted: metadata?.commands_executed ?? [],
    testsStatus: metadata?.tests_status ?? null,
    tokensInput: metadata?.tokens_input ?? null,
    tokensOutput: metadata?.tokens_output ?? null,
  }
}

export const inputFields = z
  .strictObject({
    task_id: identifier('Task ID'),
    status: choice(taskOutcomes, 'Final status', {
      done: 'success',
      complete: 'success',
      completed: 'success',
      succeeded: 'success',
      ok: 'success',
      partial: 'partial_success',
      failure: 'failed',
      fail: 'failed',
      error: 'failed',
    }).optional(),
    outcome: outcomeFields.optional(),
    metadata: metadataFields.optional(),
    phase_complete: z.boolean().describe('Completes its phase').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
    areas: texts('More paths for the scope').optional(),
    preview: z.boolean().describe('Only show the result; the task stays open').optional(),
    correction: text('Words after the end, without status and outcome. They change no verdict').optional(),
    not_mine: unlistedField(texts('With correction: changed files that are not your work')).optional(),
  })
  // They are optional only beside correction, which the plain schemas of clients cannot express.
  .meta({ required: ['task_id', 'status', 'outcome'] })

export type CompletionInput = Omit<z.output<typeof inputFields>, 'status' | 'outcome'> & {
  readonly status: TaskOutcome
  readonly outcome: z.output<typeof outcomeFields>
}

export function parseCompletion({ status, outcome, ...rest }: z.output<typeof inputFields>): CompletionInput {
  if (status !== undefined && outcome !== undefined) return { ...rest, status, outcome }
  const sentence =
    status === undefined
      ? sentenceOf`${fieldName('status')} is missing: one of ${taskOutcomes.join(', ')}.`
      : sentenceOf`${fieldName('outcome')} is missing.`
  throw inputFailure('complete_task', sentence, {
    reason: 'input_invalid',
    hint: 'Complete with status and outcome { summary }. Only a correction after the end needs neither.',
    details: { fields: [status === undefined ? 'status' : 'outcome'] },
  })
}

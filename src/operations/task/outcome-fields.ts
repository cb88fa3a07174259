import { z } from 'zod'
import type { Outcome } from '../../domain/fact.ts'
import { choice, text, texts } from '../input/fields.ts'

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
      .describe('Files that you changed outside the areas, and why')
      .optional(),
  })
  .describe('Your claim, kept beside what is measured')

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
  tokens_input: z.int().min(0).optional(),
  tokens_output: z.int().min(0).optional(),
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
    packagesAdded: metadata?.packages_added ?? [],
    packagesRemoved: metadata?.packages_removed ?? [],
    commandsExecuted: metadata?.commands_executed ?? [],
    testsStatus: metadata?.tests_status ?? null,
    tokensInput: metadata?.tokens_input ?? null,
    tokensOutput: metadata?.tokens_output ?? null,
  }
}

import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { type Decision, decisionCategories } from '../../domain/track/records.ts'
import { whereaboutsOf } from '../find/whereabouts-of.ts'
import { choice, identifier, text, texts } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

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
    question: text('What was to be decided'),
    options_considered: texts('Options evaluated').optional(),
    chosen: text('Chosen option'),
    reasoning: text('Why this choice (1-2 sentences)'),
    trade_offs: text('Accepted compromises').optional(),
    attempt_id: identifier('Attempt ID, if not the open one').optional(),
  }),
  output: z.looseObject({ decision_id: z.string(), created_at: z.string() }),
}).handler(({ record }, input) =>
  record(async (reads, setting) => {
    const decision: Decision = {
      id: setting.ids.next('decision'),
      ...(await whereaboutsOf(reads, input)),
      category: input.category,
      question: input.question,
      optionsConsidered: input.options_considered ?? [],
      chosen: input.chosen,
      reasoning: input.reasoning,
      tradeOffs: input.trade_offs ?? null,
      createdAt: setting.at,
    }
    return {
      happenings: [{ kind: 'decision.logged', decision }],
      answer: { decision_id: decision.id, created_at: instant(decision.createdAt) },
    }
  }),
)

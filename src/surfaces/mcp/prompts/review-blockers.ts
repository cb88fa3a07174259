import type { Prompt } from './prompt.ts'

export const reviewBlockers: Prompt = {
  name: 'review_blockers',
  title: 'Review blockers',
  description: 'Prepare what waits for a person so that it can be decided',
  arguments: [
    {
      name: 'mission',
      description: 'Mission id; all open ones if left out',
      required: false,
      completes: 'missions',
    },
  ],
  text: ({ mission }) =>
    [
      `Show me what waits for my decision${mission ? ` in mission ${mission}` : ' in all open missions (list_missions names them)'}.`,
      '',
      '1. get_context with blockers and decisions.',
      '2. For each blocker: what happened, the options, what you recommend, and what it holds up. Check the facts in the code first.',
      '3. Do not resolve anything yourself: I do that with waymark resolve <id> or on the dashboard.',
    ].join('\n'),
}

import type { Shape } from './shape.ts'

/** Ways by which a person's decision may come. Only people use them: an agent's own channels are not among them. */
export const channels: Shape = {
  kind: 'list',
  of: { kind: 'choice', values: ['cli', 'dashboard', 'http', 'elicitation'] },
  least: 1,
}

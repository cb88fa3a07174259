import type { Flag } from './flag.ts'

const base = { many: false, required: false, choices: [] }

/** What every command takes besides its own fields. */
export const generalFlags: readonly Flag[] = [
  {
    ...base,
    name: 'format',
    path: ['format'],
    takes: 'text',
    description: 'How to answer; default: text on a terminal, JSON when piped',
    choices: ['json', 'text'],
  },
  {
    ...base,
    name: 'project',
    path: ['project'],
    takes: 'text',
    description: "The project's folder; default: the enclosing repository",
  },
  {
    ...base,
    name: 'idempotency-key',
    path: ['idempotencyKey'],
    takes: 'text',
    description: 'A key of your own: the same call again is answered again, not done twice',
  },
  { ...base, name: 'help', path: ['help'], takes: 'nothing', description: 'Explain this command' },
]

/** What every command takes, chosen and checked. */
export interface GeneralOptions {
  readonly format: 'json' | 'text' | null
  readonly project: string | undefined
  readonly idempotencyKey: string | undefined
  readonly help: boolean
}

import { sharedKinds } from '../../domain/track/scope/file-kind.ts'
import { type Field, object, optional, required, type Shape, text, texts } from './shape.ts'

const told = {
  description: optional(text, 'What it asks for'),
  hint: optional(text, 'The way on for whom it stops'),
} as const

function guard(type: string, keys: Readonly<Record<string, Field>>): Shape {
  return object({ type: required({ kind: 'choice', values: [type] }), ...keys, ...told })
}

function byCondition(
  type: string,
  conditions: Readonly<Record<string, Readonly<Record<string, Field>>>>,
): Shape {
  const variants = Object.entries(conditions).map(
    ([condition, keys]) =>
      [
        condition,
        guard(type, { condition: required({ kind: 'choice', values: [condition] }), ...keys }),
      ] as const,
  )
  return { kind: 'variants', by: 'condition', of: Object.fromEntries(variants) }
}

const artifactType = { artifact_type: required(text, 'A type of artifacts') }
const variable = { variable: required(text, 'A path in the context, plan.risk, or $.payload.risk') }
const anything = { ...variable, value: required({ kind: 'anything' }) }
const among = { ...variable, value: required({ kind: 'list', of: { kind: 'anything' } }) }
const number = { ...variable, value: required({ kind: 'number' }) }
const globs = { paths: required({ kind: 'list', of: text, least: 1 }, 'Globs') }
const shared = optional(
  { kind: 'choices', words: ['all', 'none'], values: sharedKinds },
  'Kinds of files that may change though no area names them; default all',
)
const count: Shape = { kind: 'integer', least: 1 }

/** The guards, told apart by their type, and some by their condition. */
export const guardShape: Shape = {
  kind: 'variants',
  by: 'type',
  of: {
    artifact: byCondition('artifact', {
      exists: artifactType,
      count: { ...artifactType, min_count: required({ kind: 'integer', least: 0 }) },
    }),
    context: byCondition('context', {
      exists: variable,
      not_exists: variable,
      equals: anything,
      not_equals: anything,
      in: among,
      not_in: among,
      gt: number,
      gte: number,
      lt: number,
      lte: number,
    }),
    changes: byCondition('changes', {
      in_scope: { shared },
      none: {},
      touches_only: globs,
      touches_none: globs,
    }),
    command: guard('command', {
      run: required(text, 'A command line, run in the project'),
      timeout: optional(
        { kind: 'text', pattern: '^[1-9][0-9]*(ms|s|m|h)$' },
        'Such as 90s or 10m; default 10m',
      ),
      exit: optional(
        { kind: 'choice', values: ['zero', 'nonzero'] },
        'How it must end; nonzero: it must run, and fail',
      ),
      fresh: optional({ kind: 'choice', values: ['tree'] }, 'Its result counts for the tree that it ran on'),
      pinned: optional(texts, 'Files whose change asks for a new approval of the command'),
    }),
    blockers: byCondition('blockers', { none: {} }),
    milestone: guard('milestone', { id: required(text, 'A milestone of the plan') }),
    task: byCondition('task', { all_done: { phase: optional(text, 'Default: all tasks') } }),
    approval: guard('approval', {
      role: required(text, 'Who approves'),
      of: optional(
        text,
        'A type of artifacts, or changes: the measured changes of the mission or task; default: the state of the run',
      ),
      count: optional(count, 'How many people; default 1'),
    }),
  },
}

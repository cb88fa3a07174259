import { sharedKinds } from '../domain/track/scope/file-kind.ts'

/** Ways by which a person's decision may come. Only people use them: an agent's own channels are not among them. */
const channels: Shape = {
  kind: 'list',
  of: { kind: 'choice', values: ['cli', 'dashboard', 'http', 'elicitation'] },
  least: 1,
}

/** What may stand at a place of a process file. The one description that the reader and the published schema share. */
export type Shape =
  | ScalarShape
  | { readonly kind: 'anything' }
  /** A JSON object of any keys, such as a schema or a context. */
  | { readonly kind: 'json' }
  | { readonly kind: 'list'; readonly of: Shape; readonly least?: number }
  | { readonly kind: 'map'; readonly of: Shape }
  | ObjectShape
  /** One of the words, or one or several of the values. */
  | { readonly kind: 'choices'; readonly words: readonly string[]; readonly values: readonly string[] }
  /** Objects that the value of a key tells apart. */
  | { readonly kind: 'variants'; readonly by: string; readonly of: Readonly<Record<string, Shape>> }
  /** A name of a guard, or all, any or not of such. */
  | { readonly kind: 'guards' }

export type ScalarShape =
  | { readonly kind: 'text'; readonly pattern?: string }
  | { readonly kind: 'integer'; readonly least: number }
  | { readonly kind: 'number' }
  | { readonly kind: 'truth' }
  | { readonly kind: 'choice'; readonly values: readonly (string | number)[] }

export interface ObjectShape {
  readonly kind: 'object'
  readonly keys: Readonly<Record<string, Field>>
}

export interface Field {
  readonly shape: Shape
  readonly required: boolean
  readonly description?: string
  /** A key of the original's that decides nothing: read in its dialect only, with this note. */
  readonly inert?: string
}

const text: Shape = { kind: 'text' }
const truth: Shape = { kind: 'truth' }
const json: Shape = { kind: 'json' }
const texts: Shape = { kind: 'list', of: text }

function required(shape: Shape, description?: string): Field {
  return { shape, required: true, ...(description !== undefined && { description }) }
}

function optional(shape: Shape, description?: string): Field {
  return { shape, required: false, ...(description !== undefined && { description }) }
}

function inert(shape: Shape, note: string): Field {
  return { shape, required: false, inert: note }
}

function object(keys: Readonly<Record<string, Field>>): ObjectShape {
  return { kind: 'object', keys }
}

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
const guardShape: Shape = {
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

const freshness: Shape = { kind: 'choice', values: ['run', 'state', 'loop'] }

const process = object({
  dialect: optional({ kind: 'choice', values: [1] }, 'Say 1; a file without it is read as the original did'),
  id: required(
    { kind: 'text', pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$' },
    'The name of the file without .yaml',
  ),
  version: required(text, 'Such as "1.2.0"'),
  name: required(text),
  description: optional(text),
  initial_state: required(text),
  initial_context: optional(json, 'What a run knows at its beginning'),
  context_schema: optional(json, 'A JSON Schema of the context'),
})

const role = object({
  name: required(text),
  description: optional(text),
  kind: optional({ kind: 'choice', values: ['agent', 'human'] }, 'An agent cannot hold a role of kind human'),
  allowed_events: inert(texts, 'the events say who may emit them'),
  can_approve: inert(truth, 'guards of type approval ask for approvals'),
  can_reject: inert(truth, 'events say who may emit them'),
})

const state = object({
  name: required(text),
  description: optional(text),
  prompt: optional(text, 'What to do here; {{context.x}} stands for a variable'),
  required_artifacts: optional(texts, 'Types of artifacts without which the state cannot be left'),
  tool_permissions: optional(
    object({
      allowed: optional(texts, 'Tools, or Bash(npm test*) for some commands; others are denied'),
      denied: optional(texts, 'Tools, or Bash(git push*) for some commands'),
      ask: optional(texts, 'Tools and commands that a person decides about'),
      paths: optional({ kind: 'map', of: texts }, 'Globs that a tool is limited to'),
    }),
  ),
  is_final: optional(truth),
  outcome: optional({ kind: 'choice', values: ['succeeded', 'failed'] }, 'How a run ends here'),
  max_visits: optional({ kind: 'integer', least: 1 }, 'How often a run may enter it'),
  allow_phase_completion: optional(truth, 'A phase of the mission may be completed while the run is here'),
  is_terminal: inert(truth, 'is_final ends a run'),
  on_enter: inert({ kind: 'anything' }, 'nothing is started by a state'),
  on_exit: inert({ kind: 'anything' }, 'nothing is started by a state'),
})

const event = object({
  name: required(text),
  description: optional(text),
  allowed_roles: required(texts, 'Who may emit it; ["*"] is everybody'),
  payload_schema: optional(json, 'A JSON Schema'),
  channels: optional(channels, 'How a person must send it; default: any way'),
})

const transition = object({
  from: required(text, 'A state, or "*" for every one that is not final'),
  event: required(text),
  to: required(text),
  description: optional(text),
  guard: optional({ kind: 'guards' }, 'A guard, or { all: […] }, { any: […] }, { not: … }'),
  allowed_roles: optional(texts, 'Narrows who may emit the event'),
  when_blocked: optional(
    { kind: 'choice', values: ['reject', 'record'] },
    'record keeps the evidence and stays',
  ),
  assign: optional(
    { kind: 'map', of: { kind: 'anything' } },
    'Variables of the context: $.payload.x, or a constant',
  ),
  merge_payload: optional(truth, 'Puts the whole payload into the context'),
  escape: optional(truth, 'Leaves the state without its required artifacts'),
})

const artifact = object({
  type: required(text),
  description: optional(text),
  paths: optional(texts, 'Globs of files that are of this type'),
  min_bytes: optional({ kind: 'integer', least: 0 }),
  schema: optional(json, 'A JSON Schema of its content'),
  fresh: optional(
    freshness,
    'How new evidence must be: of the run, of this stay in the state, of this round',
  ),
  required_in_states: inert(texts, 'required_artifacts of the states decide'),
  required_for_transitions: inert(texts, 'guards of the transitions decide'),
})

/** A whole file. */
export const processShape = object({
  process: required(process),
  roles: optional({ kind: 'list', of: role }),
  states: required({ kind: 'list', of: state, least: 1 }),
  events: required({ kind: 'list', of: event }),
  transitions: required({ kind: 'list', of: transition }),
  guards: optional({ kind: 'map', of: guardShape }),
  artifacts: optional({ kind: 'list', of: artifact }),
  schemas: inert(json, 'a payload_schema may refer to it'),
})

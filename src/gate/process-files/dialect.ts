import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../kernel/json.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { type SharedKind, sharedKinds } from '../../track/domain/scope/file-kind.ts'
import type {
  ArtifactDefinition,
  Dialect,
  EventDefinition,
  GuardExpression,
  ProcessDefinition,
  RoleDefinition,
  StateDefinition,
  ToolPermissions,
  TransitionDefinition,
} from '../domain/definition.ts'
import type { Guard } from '../domain/guards/guard.ts'
import { shownJson } from '../domain/json.ts'

/** The schemas of process files: both the reader and the published JSON Schema use them. */
export type DialectSchemas = ReturnType<typeof schemasOf>

/** Keys without effect in the original dialect, by section, with the note about each. Dialect 1 refuses them. */
export const inertKeys: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  file: { schemas: 'a payload_schema may refer to it' },
  roles: {
    allowed_events: 'the events say who may emit them',
    can_approve: 'guards of type approval ask for approvals',
    can_reject: 'events say who may emit them',
  },
  states: {
    is_terminal: 'is_final ends a run',
    on_enter: 'nothing is started by a state',
    on_exit: 'nothing is started by a state',
  },
  artifacts: {
    required_in_states: 'required_artifacts of the states decide',
    required_for_transitions: 'guards of the transitions decide',
  },
}

/** The schemas of a dialect, built at first use. */
export function schemasOf(dialect: Dialect) {
  const cached = built.get(dialect)
  if (cached) return cached
  const schemas = build(dialect)
  built.set(dialect, schemas)
  return schemas
}

const built = new Map<Dialect, ReturnType<typeof build>>()

// Messages follow the name of a field: `must be a text, and is 3.`

type SchemaMessages = {
  readonly error: (issue: { readonly code?: string; readonly input?: unknown }) => string
}

function mustBe(expected: string, choices: readonly string[] = []): SchemaMessages {
  return {
    error: ({ input }) =>
      `must be ${expected}, and is ${describeValue(input)}.${isScalar(input) ? didYouMean(String(input), choices) : ''}`,
  }
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (isJsonObject(value)) return 'an object'
  return value === undefined ? 'nothing' : shownJson(value)
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}

const text = z.string(mustBe('a text')).min(1, mustBe('a text'))
const boolean = z.boolean(mustBe('true or false'))
const json = z.record(z.string(), z.unknown(), mustBe('an object'))
const anything = z.unknown().refine((value) => value !== undefined)
const number = z.number(mustBe('a number'))
const texts = list(text)

function patternedText(pattern: RegExp) {
  const message = mustBe(`a text that fits ${pattern.source}`)
  return z.string(message).regex(pattern, message)
}

function wholeNumberFrom(least: number) {
  const message = mustBe(`a whole number from ${least}`)
  return z.int(message).min(least, message)
}

function choice<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, mustBe(words.length === 1 ? words[0] : `one of ${words.join(', ')}`, words))
}

function list<Entry extends z.ZodType>(entry: Entry) {
  return z.array(entry, mustBe('a list'))
}

function nonEmptyList<Entry extends z.ZodType>(entry: Entry) {
  return list(entry).min(1, mustBe('a list with an entry'))
}

function map<Entry extends z.ZodType>(entry: Entry) {
  return z.record(z.string(), entry, mustBe('an object'))
}

/** An empty section is valid. An empty `guard:` is not: it must not count as no guard. */
function optionalSection<Section extends z.ZodType>(section: Section) {
  return z.preprocess((value) => value ?? undefined, section.optional()).optional()
}

/** An object whose error for unknown keys lists the allowed ones, so that the reader can suggest one. */
function object<Shape extends z.ZodRawShape>(shape: Shape) {
  const { error } = mustBe('an object')
  return z.strictObject(shape, {
    error: (issue) => (issue.code === 'unrecognized_keys' ? Object.keys(shape).join(', ') : error(issue)),
  })
}

/** Objects that are distinguished by the value of one key. */
function variants<
  const By extends string,
  const Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(by: By, options: Options) {
  const { error } = mustBe('an object')
  const words = options.flatMap(({ _zod }) => [...(_zod.propValues[by] ?? [])].map(String))
  return z.discriminatedUnion(by, options, {
    error: ({ input }) => {
      if (!isJsonObject(input)) return error({ input })
      const value = input[by]
      if (value === undefined) {
        const misspelled = misspelledField(by, input)
        const hint = misspelled === undefined ? '' : ` Did you mean "${by}" by "${misspelled}"?`
        return `has no "${by}": ${words.join(', ')}.${hint}`
      }
      return `is ${describeValue(value)}, not one of ${words.join(', ')}.${didYouMean(describeValue(value).replaceAll('"', ''), words)}`
    },
  })
}

/** The field that is probably a misspelling of a key. */
export function misspelledField(key: string, fields: object): string | undefined {
  return Object.keys(fields).find((name) => didYouMean(name, [key]) !== '')
}

// Guards.

const guardTexts = {
  description: text.describe('What it needs').optional(),
  hint: text.describe('What to do if it is not satisfied').optional(),
}
const artifactType = text.describe('A type of artifacts')
const variable = text.describe('A path in the context, plan.risk, or $.payload.risk')
const pathPatterns = nonEmptyList(text).describe(
  'Path patterns from the project’s folder: src/ with all that is in it, src/**/*.sql; !x takes out of the list',
)
const shared = z
  .union([choice(['all', 'none', ...sharedKinds]), list(choice(sharedKinds))], {
    error: mustBe(`one of all, none, ${sharedKinds.join(', ')}`, ['all', 'none', ...sharedKinds]).error,
  })
  .describe('Kinds of files that may change out of scope; default all')

function guard<const Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) {
  return object({ type: z.literal(type), ...shape, ...guardTexts })
}

function guardVariant<const Type extends string, const Condition extends string, Shape extends z.ZodRawShape>(
  type: Type,
  condition: Condition,
  shape: Shape,
) {
  return guard(type, { condition: z.literal(condition), ...shape })
}

const guardFields = variants('type', [
  variants('condition', [
    guardVariant('artifact', 'exists', { artifact_type: artifactType }),
    guardVariant('artifact', 'count', { artifact_type: artifactType, min_count: wholeNumberFrom(0) }),
  ]),
  variants('condition', [
    guardVariant('context', 'exists', { variable }),
    guardVariant('context', 'not_exists', { variable }),
    guardVariant('context', 'equals', { variable, value: anything }),
    guardVariant('context', 'not_equals', { variable, value: anything }),
    guardVariant('context', 'in', { variable, value: list(anything) }),
    guardVariant('context', 'not_in', { variable, value: list(anything) }),
    guardVariant('context', 'gt', { variable, value: number }),
    guardVariant('context', 'gte', { variable, value: number }),
    guardVariant('context', 'lt', { variable, value: number }),
    guardVariant('context', 'lte', { variable, value: number }),
  ]),
  variants('condition', [
    guardVariant('changes', 'in_scope', { shared: shared.optional() }),
    guardVariant('changes', 'none', {}),
    guardVariant('changes', 'touches', { paths: pathPatterns }),
    guardVariant('changes', 'touches_only', { paths: pathPatterns }),
    guardVariant('changes', 'touches_none', { paths: pathPatterns }),
  ]),
  guard('command', {
    run: text.describe('A command line, run in the project'),
    timeout: patternedText(/^[1-9][0-9]*(ms|s|m|h)$/)
      .describe('Such as 90s or 10m; default 10m')
      .optional(),
    reported_by: choice(['runner'])
      .describe('Count only results reported with a token of kind runner, such as that of CI')
      .optional(),
    exit: choice(['zero', 'nonzero']).describe('Required exit; nonzero: it must run and fail').optional(),
    fresh: choice(['tree']).describe('Count its result only for the tree that it ran on').optional(),
    pinned: optionalSection(texts.describe('Files whose change needs a new approval of the command')),
  }),
  guard('ci', {
    checks: texts.min(1).describe('Names of checks, as a runner reports them'),
    target: choice(['tree', 'commit'])
      .describe(
        'What a result must be for: the current content of the work tree, or its commit; default tree',
      )
      .optional(),
    max_age: patternedText(/^[1-9][0-9]*(ms|s|m|h)$/)
      .describe('How old a result may be, such as 24h; default any age')
      .optional(),
  }),
  variants('condition', [guardVariant('blockers', 'none', {})]),
  guard('milestone', { id: text.describe('A milestone of the plan') }),
  variants('condition', [
    guardVariant('task', 'all_done', { phase: text.describe('Default: all tasks').optional() }),
    guardVariant('task', 'done_again', { phase: text.describe('Default: all tasks').optional() }),
    guardVariant('task', 'approved', { phase: text.describe('Default: all tasks').optional() }),
  ]),
  variants('condition', [guardVariant('verdict', 'proven', {})]),
  guard('landed', { branch: text.describe('Default: the default branch').optional() }),
  guard('approval', {
    role: text.describe('Who approves'),
    artifact: text
      .describe(
        'A type of artifacts, or changes: the measured changes of the mission or task; default: the state of the run',
      )
      .optional(),
    count: wholeNumberFrom(1).describe('How many people; default 1').optional(),
    independent: boolean
      .describe('Exclude people who were involved in the work, themselves or through an agent; default false')
      .optional(),
  }),
])

const namedGuard = guardFields.transform(({ description = null, hint = null, ...fields }) => ({
  description,
  hint,
  guard: guardFrom(fields),
}))

function guardFrom(fields: OmitFromUnion<z.output<typeof guardFields>, 'description' | 'hint'>): Guard {
  switch (fields.type) {
    case 'artifact':
      return {
        type: 'artifact',
        artifactType: fields.artifact_type,
        count: fields.condition === 'count' ? fields.min_count : 1,
      }
    case 'changes':
      if (fields.condition !== 'in_scope') return fields
      return { type: 'changes', condition: 'in_scope', ...parseSharedKinds(fields.shared) }
    case 'command':
      return {
        type: 'command',
        run: fields.run,
        timeout: milliseconds(fields.timeout ?? '10m'),
        pinned: fields.pinned ?? [],
        ...(fields.exit === 'nonzero' && { exit: 'nonzero' }),
        ...(fields.reported_by && { reportedBy: fields.reported_by }),
      }
    case 'ci':
      return {
        type: 'ci',
        checks: [...new Set(fields.checks)],
        target: fields.target ?? 'tree',
        maxAge: fields.max_age === undefined ? null : milliseconds(fields.max_age),
      }
    case 'task':
      return { type: 'task', condition: fields.condition, phase: fields.phase ?? null }
    case 'landed':
      return { type: 'landed', branch: fields.branch ?? null }
    case 'approval':
      return {
        type: 'approval',
        role: fields.role,
        artifact: fields.artifact ?? null,
        count: fields.count ?? 1,
        ...(fields.independent === true && { independent: true }),
      }
    case 'context':
    case 'blockers':
    case 'verdict':
    case 'milestone':
      return fields
  }
}

type OmitFromUnion<Union, Keys extends PropertyKey> = Union extends unknown ? Omit<Union, Keys> : never

/** Nothing where all may change: so it was before one could choose. */
function parseSharedKinds(value: z.output<typeof shared> = 'all'): {
  readonly shared?: readonly SharedKind[]
} {
  if (value === 'all') return {}
  const words: readonly string[] = [value].flat()
  return { shared: sharedKinds.filter((kind) => words.includes(kind)) }
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

function milliseconds(text: string): number {
  const [, amount = '0', unit = 'ms'] = /^(\d+)(ms|s|m|h)$/.exec(text) ?? []
  return Number(amount) * (units[unit] ?? 1)
}

/** A name of a guard, or one of all, any and not of such. */
const expression: z.ZodType<GuardExpression> = z
  .lazy(() =>
    z.union([text, branches], {
      error: ({ input }) =>
        mustBe(Array.isArray(input) ? 'a name, or an object with all, any or not' : 'a text').error({
          input,
        }),
    }),
  )
  .meta({ id: 'guards', description: 'A guard, or { all: […] }, { any: […] }, { not: … }' })

const branches = z.lazy(() =>
  object({
    all: nonEmptyList(expression).optional(),
    any: nonEmptyList(expression).optional(),
    not: expression.optional(),
  })
    .refine((fields) => Object.keys(fields).length === 1, 'must have one of all, any, not.')
    .transform(({ all, any, not }): GuardExpression => {
      if (all) return { all }
      return any ? { any } : { not: not ?? '' }
    })
    .meta({ minProperties: 1, maxProperties: 1 }),
)

// The sections of a file.

/** Keys of the original that decide nothing; dialect 1 does not have them. */
function originalDialectOnly<Shape extends z.ZodRawShape>(dialect: Dialect, shape: Shape): Shape {
  return (dialect === 'original' ? shape : {}) as Shape // each of them is optional
}

const toolPermissions = object({
  allowed: optionalSection(
    texts.describe('Allowed tools, or Bash(npm test*) for some commands; others are denied'),
  ),
  denied: optionalSection(texts.describe('Denied tools, or Bash(git push*) for some commands')),
  ask: optionalSection(texts.describe("Tools and commands that need a person's decision")),
  paths: optionalSection(map(texts).describe('Path patterns that limit a tool')),
}).transform(
  ({ allowed = [], denied = [], ask = [], paths = {} }): ToolPermissions => ({
    allowed,
    denied,
    ask,
    paths: Object.entries(paths).map(([tool, globs]) => ({ tool, globs })),
  }),
)

function build(dialect: Dialect) {
  const process = object({
    dialect: z
      .literal(1, mustBe('1'))
      .describe('Dialect of the file: 1. Without it, the file is read as in the original program')
      .optional(),
    id: patternedText(/^[A-Za-z0-9][A-Za-z0-9._-]*$/).describe('The name of the file without .yaml'),
    version: text.describe('Such as "1.2.0"'),
    name: text,
    description: text.optional(),
    initial_state: text,
    initial_context: optionalSection(json.describe('Variables of a run at the start')),
    context_schema: optionalSection(json.describe('A JSON Schema of the context')),
  })

  const role = object({
    name: text,
    description: text.optional(),
    kind: choice(['agent', 'human']).describe('An agent cannot have a role of kind human').optional(),
    ...originalDialectOnly(dialect, {
      allowed_events: optionalSection(texts),
      can_approve: boolean.optional(),
      can_reject: boolean.optional(),
    }),
  }).transform(
    ({ name, description = null, kind, allowed_events }): RoleDefinition => ({
      name,
      description,
      // The original had no kinds: the role named agent was for agents, the others for people.
      kind: kind ?? (dialect === 'original' && name !== 'agent' ? 'human' : 'agent'),
      allowedEvents: allowed_events ?? null,
    }),
  )

  const state = object({
    name: text,
    description: text.optional(),
    prompt: text.describe('What to do here; {{context.x}} stands for a variable').optional(),
    required_artifacts: optionalSection(
      texts.describe('Types of artifacts that are needed to leave the state'),
    ),
    tool_permissions: toolPermissions.optional(),
    is_final: boolean.optional(),
    outcome: choice(['succeeded', 'failed']).describe('How a run ends here').optional(),
    max_visits: wholeNumberFrom(1).describe('How often a run can enter it').optional(),
    allow_phase_completion: boolean
      .describe('Allow completing a phase of the mission in this state')
      .optional(),
    ...originalDialectOnly(dialect, {
      is_terminal: boolean.optional(),
      on_enter: z.unknown().optional(),
      on_exit: z.unknown().optional(),
    }),
  }).transform(
    (fields): StateDefinition => ({
      name: fields.name,
      description: fields.description ?? null,
      prompt: fields.prompt ?? null,
      requiredArtifacts: fields.required_artifacts ?? [],
      toolPermissions: fields.tool_permissions ?? null,
      isFinal: fields.is_final ?? false,
      outcome: fields.is_final ? (fields.outcome ?? 'succeeded') : null,
      maxVisits: fields.max_visits ?? null,
      allowsPhaseCompletion: fields.allow_phase_completion ?? false,
    }),
  )

  const event = object({
    // Commands name it, and must not read it as a flag.
    name: text.regex(/^[^-]/, mustBe('a name that does not begin with a dash')),
    description: text.optional(),
    allowed_roles: texts.describe('Who may emit it; ["*"] is everyone'),
    payload_schema: optionalSection(json.describe('A JSON Schema')),
    channels: optionalSection(
      // Only people use them: an agent's own channels are not among them.
      nonEmptyList(choice(['cli', 'dashboard', 'http', 'elicitation'])).describe(
        'How a person must send it; default: any channel',
      ),
    ),
  }).transform(
    ({ name, description = null, allowed_roles, payload_schema, channels }): EventDefinition => ({
      name,
      description,
      allowedRoles: allowed_roles,
      payloadSchema: payload_schema ?? null,
      channels: channels ?? null,
    }),
  )

  const transition = object({
    from: text.describe('A state, or "*" for every one that is not final'),
    event: text,
    to: text,
    description: text.optional(),
    guard: expression.optional(),
    allowed_roles: optionalSection(texts.describe('Narrows who may emit the event')),
    when_blocked: choice(['reject', 'record']).describe('record keeps the evidence and stays').optional(),
    assign: optionalSection(map(anything).describe('Variables of the context: $.payload.x, or a constant')),
    merge_payload: boolean.describe('Put the whole payload into the context').optional(),
    escape: boolean.describe('Leave the state without its required artifacts').optional(),
  }).transform(
    (fields): TransitionDefinition => ({
      from: fields.from,
      event: fields.event,
      to: fields.to,
      description: fields.description ?? null,
      guard: fields.guard ?? null,
      allowedRoles: fields.allowed_roles ?? null,
      whenBlocked: fields.when_blocked ?? 'reject',
      assign: Object.entries(fields.assign ?? {}).map(([variable, value]) => ({ variable, value })),
      mergePayload: dialect === 'original' || (fields.merge_payload ?? false),
      escape: fields.escape ?? false,
    }),
  )

  const artifact = object({
    type: text,
    description: text.optional(),
    paths: optionalSection(texts.describe('Path patterns of files that are of this type')),
    min_bytes: wholeNumberFrom(0).optional(),
    schema: optionalSection(json.describe('A JSON Schema of its content')),
    fresh: choice(['run', 'state', 'loop'])
      .describe('How recent evidence must be: of the run, of this stay in the state, of this round')
      .optional(),
    ...originalDialectOnly(dialect, {
      required_in_states: optionalSection(texts),
      required_for_transitions: optionalSection(texts),
    }),
  }).transform(
    ({ type, description = null, paths, min_bytes, schema, fresh }): ArtifactDefinition => ({
      type,
      description,
      paths: paths ?? [],
      minBytes: min_bytes ?? null,
      schema: schema ?? null,
      fresh: fresh ?? 'run',
    }),
  )

  const file = object({
    process,
    roles: optionalSection(list(role)),
    states: nonEmptyList(state),
    events: list(event),
    transitions: list(transition),
    guards: optionalSection(map(namedGuard)),
    artifacts: optionalSection(list(artifact)),
    ...originalDialectOnly(dialect, { schemas: optionalSection(json) }),
  }).transform(
    ({ process, roles, states, events, transitions, guards, artifacts, schemas }): ProcessDefinition => ({
      dialect,
      id: process.id,
      version: process.version,
      name: process.name,
      description: process.description ?? null,
      initialState: process.initial_state,
      initialContext: process.initial_context ?? {},
      contextSchema: process.context_schema ?? null,
      roles: roles ?? [],
      states,
      events: schemas === undefined ? events : events.map((each) => addSharedSchemas(each, schemas)),
      transitions,
      guards: Object.entries(guards ?? {}).map(([name, fields]) => ({ name, ...fields })),
      artifacts: artifacts ?? [],
    }),
  )
  return { file, role, state, event, transition, guard: namedGuard, artifact }
}

/** The original's `#/schemas/…` is copied into the schema that refers to it. */
function addSharedSchemas(event: EventDefinition, schemas: JsonObject): EventDefinition {
  const { payloadSchema } = event
  return payloadSchema === null ? event : { ...event, payloadSchema: { ...payloadSchema, schemas } }
}

/** The JSON Schema of dialect 1, for editors: the text of processes/process.schema.json, on one line, as nobody reads it. */
export function publishedSchema(): string {
  const schema = z.toJSONSchema(schemasOf(1).file, { io: 'input' })
  const about = {
    title: 'Waymark process',
    description: 'A process as a state machine, dialect 1. Generated from the reader of the dialect.',
  }
  return `${JSON.stringify({ ...about, ...schema })}\n`
}

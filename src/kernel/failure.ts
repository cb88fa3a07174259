/** The codes of failures. Surfaces map each to their own status. */
export type FailureCode =
  | 'INVALID_INPUT'
  | 'NOT_FOUND'
  | 'CONFLICT'
  | 'REFUSED'
  | 'FORBIDDEN'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'UNAVAILABLE'
  | 'INTERNAL'
  | GateCode

/** The codes of runs, as their specification names them. */
export type GateCode =
  | 'RUN_NOT_FOUND'
  | 'PROCESS_NOT_FOUND'
  | 'RUN_FINISHED'
  | 'REVISION_CONFLICT'
  | 'INVALID_EVENT'
  | 'INVALID_PAYLOAD'
  | 'GUARD_FAILED'

/** The kinds of entities that can be missing. */
export type MissingKind =
  | 'mission'
  | 'task'
  | 'mission or task'
  | 'attempt'
  | 'run'
  | 'inbox item'
  | 'phase'
  | 'milestone'

/** A call that the reader can make next. The reader must fill in undefined fields. */
export interface NextCall {
  readonly operation: string
  readonly input: Readonly<Record<string, unknown>>
}

/** A hint in parts: each surface formats its calls for the reader. */
export type Hint = readonly (string | NextCall)[]

export function callTo(operation: string, input: NextCall['input'] = {}): NextCall {
  return { operation, input }
}

/** hintOf`Begin with ${callTo('start_task', { planned_task_id })}.` Nested hints are flattened. */
export function hintOf(
  text: TemplateStringsArray,
  ...values: readonly (string | number | NextCall | Hint)[]
): Hint {
  return text.flatMap((sentence, index) => {
    const value = values[index]
    if (value === undefined) return [sentence]
    return typeof value === 'object'
      ? [sentence, ...(isCall(value) ? [value] : value)]
      : [`${sentence}${value}`]
  })
}

/** Several hints, one below the other. */
export function hintLines(hints: readonly (string | Hint)[]): Hint {
  return hints.flatMap((hint, index) => [...(index === 0 ? [] : ['\n']), ...partsOf(hint)])
}

function partsOf(hint: string | Hint | undefined): Hint {
  return typeof hint === 'string' ? [hint] : (hint ?? [])
}

export function isCall(part: string | number | NextCall | Hint): part is NextCall {
  return typeof part === 'object' && 'operation' in part
}

/** A hint as an agent reads it: `start_task { planned_task_id: "t-1" }`. */
function formatHintCalls(hint: Hint): string {
  return hint.map((part) => (isCall(part) ? callText(part) : part)).join('')
}

function callText({ operation, input }: NextCall): string {
  const fields = Object.entries(input).map(([name, value]) =>
    value === undefined ? name : `${name}: ${JSON.stringify(value)}`,
  )
  return fields.length === 0 ? operation : `${operation} { ${fields.join(', ')} }`
}

/** A field of an input by its path, such as `outcome.summary`. Each surface writes it as its users do. */
export interface FieldName {
  readonly field: string
}

/** What is wrong with an input, in parts. */
export type InputSentence = readonly (string | FieldName)[]

export function fieldName(...path: readonly PropertyKey[]): FieldName {
  return { field: path.map(String).join('.') }
}

/** sentenceOf`${fieldName('task_id')} is missing.` Nested sentences are flattened. */
export function sentenceOf(
  text: TemplateStringsArray,
  ...values: readonly (string | number | bigint | FieldName | InputSentence)[]
): InputSentence {
  return text.flatMap((words, index): InputSentence => {
    const value = values[index]
    if (value === undefined) return [words]
    if (typeof value !== 'object') return [`${words}${value}`]
    return [words, ...('field' in value ? [value] : value)]
  })
}

/** An invalid input of an operation. */
export function inputFailure(
  operation: string,
  sentence: InputSentence,
  { reason, ...options }: Omit<FailureOptions, 'sentence' | 'reason'> & { readonly reason: string },
): Failure {
  const words = sentence.map((part) => (typeof part === 'string' ? part : `"${part.field}"`))
  return new Failure('INVALID_INPUT', `${operation}: ${words.join('')}`, { reason, ...options, sentence })
}

export interface FailureOptions {
  /** Names the refusal for programs and tests, independent of its message: `task_not_ready`. */
  readonly reason?: string
  /** What to do next: one sentence, with the next call in it. */
  readonly hint?: string | Hint
  /** The next call, where the hint does not name it as one. */
  readonly fix?: NextCall
  readonly details?: Readonly<Record<string, unknown>>
  /** With NOT_FOUND: the kind of the missing entity. Each surface has its own command to list them. */
  readonly missing?: MissingKind
  /** With INVALID_INPUT: the message without the operation, for surfaces that name fields otherwise. */
  readonly sentence?: InputSentence
  readonly cause?: unknown
}

/** An expected refusal. Anything else that is thrown is a bug. */
export class Failure extends Error {
  readonly code: FailureCode
  readonly reason: string | null
  /** The hint as an agent reads it. */
  readonly hint: string | undefined
  readonly hintParts: Hint
  /** The next call: the first one that the hint names. */
  readonly fix: NextCall | null
  readonly details: Readonly<Record<string, unknown>> | undefined
  readonly missing: MissingKind | undefined
  readonly sentence: InputSentence | undefined

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'Failure'
    this.code = code
    this.reason =
      options.reason ?? (options.missing ? `${options.missing.replaceAll(' ', '_')}_not_found` : null)
    this.hintParts = partsOf(options.hint)
    this.hint = options.hint === undefined ? undefined : formatHintCalls(this.hintParts)
    this.fix = options.fix ?? this.hintParts.find(isCall) ?? null
    this.details = options.details
    this.missing = options.missing
    this.sentence = options.sentence
  }
}

/** A refusal as data, the same on every surface. */
export function refusalData({ code, reason, message, hint, fix, details }: Failure) {
  return {
    success: false,
    error: { code, reason, message, hint: hint ?? null, fix, details: details ?? null },
  } as const
}

/** The message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The same with the stack, for a log. */
export function detailsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The code of an error of the file system (`ENOENT`) or of SQLite (`SQLITE_BUSY`); null for any other. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}

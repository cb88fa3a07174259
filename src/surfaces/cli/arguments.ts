import { parseArgs } from 'node:util'
import { Failure } from '../../kernel/failure.ts'
import { isJsonObject, parseJsonOrText } from '../../kernel/json.ts'
import { nearestWord } from '../../kernel/nearest-word.ts'
import { inputSchema } from '../../kernel/operations/input/json-schema.ts'
import type { Operation } from '../../kernel/operations/operation.ts'
import { splitPatterns } from '../../kernel/path-pattern.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import { type Flag, flagsOf, type GeneralOptions, generalFlags, toKebabCase, usageFailure } from './flags.ts'

/** A parsed command line: the input of the operation and the common options. */
export interface ReadArguments {
  readonly input: Readonly<Record<string, unknown>>
  readonly options: GeneralOptions
}

/** A value from the command line with its flag. */
export interface FlagValue {
  readonly flag: Flag
  readonly value: string
}

export function readArguments(operation: Operation, words: readonly string[]): ReadArguments {
  const own = [...flagsOf(inputSchema(operation)), ...synonymFlags(operation)]
  const general = generalFlags.filter(({ name }) => !own.some((flag) => flag.name === name))
  const { given, positionals } = readTokens(operation, words, [...own, ...general])
  const options = generalOptions(given.filter(({ flag }) => general.includes(flag)))
  if (options.help) return { input: {}, options }
  const named = given.filter(({ flag }) => own.includes(flag))
  return {
    input: inputFrom([...placeArguments(operation, { flags: own, named }, positionals), ...named], own),
    options,
  }
}

/** Hidden aliases of fields, from another program. */
function synonymFlags({ synonyms = {} }: Operation): readonly Flag[] {
  return Object.keys(synonyms).map((key) => ({
    name: toKebabCase(key),
    path: [key],
    takes: 'text',
    many: false,
    separated: false,
    required: false,
    description: '',
    choices: [],
  }))
}

function readTokens(operation: Operation, words: readonly string[], flags: readonly Flag[]) {
  const byName = new Map(flags.map((flag) => [flag.name, flag]))
  const { tokens } = parseArgs({
    args: [...words],
    options: parseOptions(flags),
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  const given: FlagValue[] = []
  const positionals: string[] = []
  for (const [at, token] of tokens.entries()) {
    if (token.kind === 'positional' && token !== booleanAfter(tokens, at - 1)) positionals.push(token.value)
    if (token.kind !== 'option') continue
    const flag = byName.get(token.name.split('.').map(toKebabCase).join('.'))
    if (!flag) throw unknownFlag(operation, token.rawName, [...byName.keys()])
    if (flag.takes !== 'nothing' && (token.value === undefined || isFlagLike(token, byName))) {
      throw usageFailure(`--${flag.name} needs a value.`, helpHint(operation))
    }
    given.push({ flag, value: token.value ?? booleanAfter(tokens, at)?.value ?? 'true' })
  }
  return { given, positionals }

  /** The `true` or `false` after a flag without a value: `--include-blocked true`. */
  function booleanAfter(all: typeof tokens, at: number) {
    const [flag, next] = [all[at], all[at + 1]]
    if (flag?.kind !== 'option' || flag.value !== undefined || next?.kind !== 'positional') return undefined
    const named = byName.get(flag.name.split('.').map(toKebabCase).join('.'))
    return named?.takes === 'nothing' && ['true', 'false'].includes(next.value) ? next : undefined
  }
}

/** Whether a value is missing: `--name --format json`, but not `--name=--format`. */
function isFlagLike(
  token: { readonly value?: string | undefined; readonly inlineValue?: boolean | undefined },
  flags: ReadonlyMap<string, Flag>,
): boolean {
  return !token.inlineValue && token.value?.startsWith('--') === true && flags.has(token.value.slice(2))
}

function parseOptions(flags: readonly Flag[]) {
  const options: Record<string, { type: 'string' | 'boolean'; multiple: true; short?: string }> = {}
  for (const flag of flags) {
    const type = flag.takes === 'nothing' ? 'boolean' : 'string'
    options[flag.name] = {
      type,
      multiple: true,
      ...(flag.name === 'help' && { short: 'h' }),
      ...shortOf(flag),
    }
    options[flag.path.join('.')] ??= { type, multiple: true }
  }
  return options
}

/** The name that git uses. */
function shortOf({ name, path }: Flag): { readonly short?: string } {
  return name === 'lines' && path.length === 1 ? { short: 'L' } : {}
}

function placeArguments(
  operation: Operation,
  { flags, named }: { readonly flags: readonly Flag[]; readonly named: readonly FlagValue[] },
  positionals: readonly string[],
): readonly FlagValue[] {
  const single = placesFor(operation, { flags, named }, positionals)
  const last = flags.find(({ path }) => path.join('.') === single.at(-1))
  // A list at the end takes all further values.
  const further = last?.many ? positionals.slice(single.length).map(() => last.path.join('.')) : []
  const places = [...single, ...further]
  if (positionals.length > places.length) {
    const extra = positionals.slice(places.length).map((word) => `"${word}"`)
    throw usageFailure(
      `${operation.command} takes ${places.length === 0 ? 'no values' : `at most ${formatCount(places.length, 'value')}`} by position; it was ${places.length === 0 ? '' : 'also '}given ${extra.join(', ')}.`,
      [insteadOf[operation.name] ?? withoutPlace(places, flags), helpHint(operation)]
        .filter(Boolean)
        .join(' '),
    )
  }
  return positionals.flatMap((value, at) => {
    const flag = flagFor(flags, places[at], value)
    return flag ? [{ flag, value }] : []
  })
}

function withoutPlace(places: readonly string[], flags: readonly Flag[]): string {
  if (places.length > 0) return 'Quote a text of several words.'
  return flags.length === 0 ? '' : 'Give its values with flags.'
}

/** The commands that people mean by a value for another one. */
const insteadOf: Readonly<Record<string, string>> = {
  log: 'See one task with waymark show <task>, one mission with waymark mission timeline <mission>.',
  inbox: 'See one task with waymark show <task>. Answer an item with waymark approve, reject or resolve.',
  status: 'See one task or mission with waymark show <task>.',
}

/** The flag of a positional value: a task's id is the task even in the position of a mission, and vice versa. */
function flagFor(flags: readonly Flag[], place: string | undefined, value: string): Flag | undefined {
  const flagNamed = (name: string | undefined) => flags.find(({ path }) => path.join('.') === name)
  const kind = value.startsWith('t-') ? 'task' : /^[mw]-/.test(value) ? 'mission' : undefined
  const isEither = place === 'task' || place === 'mission'
  return (isEither ? flagNamed(kind) : undefined) ?? flagNamed(place)
}

/**
 * The fields of positional values. `run emit submit` omits the run: the first field is skipped if it is optional, the next
 * one is required, and the value is no id of it.
 */
function placesFor(
  { positional = [] }: Operation,
  { flags, named }: { readonly flags: readonly Flag[]; readonly named: readonly FlagValue[] },
  positionals: readonly string[],
): readonly string[] {
  const [first = '', second] = positional
  const flagOf = (place: string | undefined) => flags.find(({ path }) => path.join('.') === place)
  const isNamed = (place: string | undefined) => named.some(({ flag }) => flag === flagOf(place))
  if (positionals.length === 0 || flagOf(first)?.required || !flagOf(second)?.required) return positional
  if (isNamed(second)) return positional
  const isId = positionals[0]?.startsWith(`${first.replace(/_id$/, '')}-`)
  return isId && !isNamed(first) ? positional : positional.slice(1)
}

function generalOptions(given: readonly FlagValue[]): GeneralOptions {
  const lastOf = (name: string) => given.findLast(({ flag }) => flag.name === name)?.value
  const format = lastOf('format') ?? (lastOf('json') === 'true' ? 'json' : undefined)
  if (format !== undefined && format !== 'json' && format !== 'text') {
    throw usageFailure(
      `--format cannot be "${format}": choose json or text.`,
      /^(md|markdown|html)$/i.test(format)
        ? 'waymark report prints Markdown and HTML: waymark help report.'
        : 'waymark --help explains.',
    )
  }
  return {
    format: format ?? null,
    project: lastOf('project'),
    idempotencyKey: lastOf('idempotency-key'),
    help: lastOf('help') !== undefined,
  }
}

function unknownFlag(operation: Operation, rawName: string, names: readonly string[]): Failure {
  const meant = nearestWord(rawName.replace(/^-+/, ''), names)
  const hint = meant === undefined ? helpHint(operation) : `Did you mean --${meant}? ${helpHint(operation)}`
  return usageFailure(`${operation.command} has no flag ${rawName}.`, hint)
}

function helpHint({ command }: Operation): string {
  return `waymark ${command} --help explains.`
}

type NestedArguments = { [key: string]: unknown }

/** Builds the operation's input: repeated flags become lists, dotted ones objects. */
function inputFrom(given: readonly FlagValue[], own: readonly Flag[]): Readonly<Record<string, unknown>> {
  const input: NestedArguments = {}
  const flags = new Set(given.map(({ flag }) => flag))
  // Whole objects first: `--outcome '{…}' --outcome.summary "…"` merges both.
  for (const flag of [...flags].sort((a, b) => a.path.length - b.path.length)) {
    const values = given.filter((entry) => entry.flag === flag).map(({ value }) => value)
    setAt(input, flag.path, valueFrom(flag, values, own))
  }
  return input
}

function valueFrom(flag: Flag, values: readonly string[], own: readonly Flag[]): unknown {
  const [first = ''] = values
  if (!flag.many && values.length > 1) {
    throw usageFailure(`--${flag.name} was given ${values.length} times; it takes one value.`, 'Use it once.')
  }
  if (flag.takes === 'nothing' && ['true', 'false'].includes(first)) return first === 'true'
  if (flag.separated) return values.flatMap(separateValues)
  if (flag.takes !== 'json') return flag.many && values.length > 1 ? values : first
  const parsed = values.map((value) => parsedJson(flag, value, own))
  if (!flag.many) return parsed[0]
  return parsed.length === 1 && Array.isArray(parsed[0]) ? parsed[0] : parsed
}

/** `src/,test/{a,b}.ts` is two paths, and `["a,b.ts"]` is one. */
function separateValues(text: string): readonly unknown[] {
  const list = text.trimStart().startsWith('[') ? parseJsonOrText(text) : text
  return Array.isArray(list) ? list : splitPatterns(text)
}

function parsedJson(flag: Flag, value: string, own: readonly Flag[]): unknown {
  try {
    return JSON.parse(value)
  } catch (cause) {
    throw new Failure(
      'INVALID_INPUT',
      `--${flag.name} takes JSON, and this is not JSON: ${excerpt(value, 60)}`,
      {
        reason: 'flag_value_not_json',
        hint: jsonHint(flag, own),
        cause,
      },
    )
  }
}

function jsonHint({ name, path }: Flag, own: readonly Flag[]): string {
  const field = own.find(
    (other) => other.path.length === path.length + 1 && other.name.startsWith(`${name}.`),
  )
  const key = field?.path.at(-1) ?? 'key'
  const alone = field === undefined ? '' : `, or its fields one by one: --${field.name} "…"`
  return `Such as --${name} '{"${key}": "…"}'${alone}.`
}

function setAt(input: NestedArguments, path: readonly string[], value: unknown): void {
  const [key = '', ...deeper] = path
  if (deeper.length === 0) {
    input[key] = value
    return
  }
  const inner = isNested(input[key]) ? input[key] : {}
  input[key] = inner
  setAt(inner, deeper, value)
}

function isNested(value: unknown): value is NestedArguments {
  return isJsonObject(value)
}

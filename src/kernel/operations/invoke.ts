import { hasAccess, isReadOnlyAccess } from '../../people/domain/access.ts'
import type { Idempotency, Store, StoreReader } from '../../store/ports/store.ts'
import { keyOwner } from '../actor.ts'
import { Failure } from '../failure.ts'
import type { TransactionContext } from '../id.ts'
import { isJsonObject } from '../json.ts'
import { quoteShellWord } from '../shell-word.ts'
import { parseInput } from './input/parse-input.ts'
import { expandIds } from './input/short-ids.ts'
import { localMeasurer } from './measurement-protocol.ts'
import {
  type Answer,
  accessOf,
  type CommandContext,
  type Context,
  type Operation,
  type RecordFunction,
} from './operation.ts'

export interface InvokeOptions {
  /** Same key and input: the stored answer. Same key, other input: refused. */
  readonly idempotencyKey?: string
  /** Takes the text of an answer part by part; without it, the answer holds the text. */
  readonly writeText?: (part: string) => Promise<void>
}

/** The parsed input of an operation, and its answer. */
export interface InvokeResult {
  readonly input: Readonly<Record<string, unknown>>
  readonly answer: Answer
  /** A notice before the answer: the project was moved. */
  readonly notice: string | null
}

/** The entry point to an operation for every surface. Fails with a `Failure`. */
export async function invoke(
  operation: Operation,
  context: Context,
  rawInput: unknown,
  options: InvokeOptions = {},
): Promise<Answer> {
  return (await invokeParsing(operation, context, rawInput, options)).answer
}

/** The same, for surfaces that also need the parsed input. */
export async function invokeParsing(
  operation: Operation,
  context: Context,
  rawInput: unknown,
  options: InvokeOptions = {},
): Promise<InvokeResult> {
  refuseAgent(operation, context, rawInput)
  refuseWithoutAccess(operation, context)
  const input = await expandIds(context.store, operation.name, parseInput(operation, rawInput))
  const idempotency = idempotencyOf(
    operation,
    context,
    input,
    options.idempotencyKey ?? ownKey(operation, input) ?? context.callKey,
  )
  if (idempotency) {
    const replayed = await context.store.replay(idempotency)
    // It was an answer when it was stored.
    if (replayed)
      return { input, answer: briefAnswerOf(operation, input, replayed.answer as Answer), notice: null }
  }
  const parts: string[] = []
  const writeText = options.writeText ?? (async (part) => void parts.push(part))
  const handled = await operation.handle(
    {
      ...handlingContext(operation.kind === 'query' ? readOnlyContext(context) : context, idempotency),
      writeText,
    },
    input,
  )
  const answer = parts.length === 0 ? handled : { ...handled, text: parts.join('') }
  // Operations about the server also work outside of projects.
  const isOfProject = operation.kind === 'query' && operation.ofServer !== true
  const notice = isOfProject ? await context.store.notice() : null
  return { input, answer: briefAnswerOf(operation, input, answer), notice }
}

function briefAnswerOf(
  { brief }: Operation,
  input: Readonly<Record<string, unknown>>,
  answer: Answer,
): Answer {
  return brief && input['brief'] === true ? brief(answer) : answer
}

/** Refuses operations for people to an agent, also at the command line. */
function refuseAgent(operation: Operation, { actor }: Context, rawInput: unknown): void {
  if (operation.audience !== 'person' || operation.kind === 'query' || actor.kind === 'person') return
  throw new Failure('FORBIDDEN', `Only people can call ${operation.name}. ${actor.name} is an agent.`, {
    reason: 'person_needed',
    hint: `Ask a person to run: ${['waymark', operation.command, ...typedWords(operation, rawInput)].join(' ')}`,
  })
}

/** The words that follow the command, quoted: those of the call, which nobody has checked, as far as they are plain. */
function typedWords({ positional = [] }: Operation, rawInput: unknown): readonly string[] {
  const input: Readonly<Record<string, unknown>> = isJsonObject(rawInput) ? rawInput : {}
  const words = positional.map((name) => input[name])
  const end = words.findIndex((word) => typeof word !== 'string' || !/^[^\p{C}-][^\p{C}]{0,199}$/u.test(word))
  return words.slice(0, end === -1 ? words.length : end).map((word) => quoteShellWord(String(word)))
}

function refuseWithoutAccess(operation: Operation, { permissions }: Context): void {
  if (!permissions) return
  const needed = accessOf(operation)
  const { access, personName, most } = permissions
  if (isReadOnlyAccess(permissions, operation.kind)) {
    throw new Failure('FORBIDDEN', `${operation.name} writes, and this token is read-only.`, {
      reason: 'token_read_only',
      hint: otherToken,
    })
  }
  if (hasAccess(permissions, needed)) return
  if (most) {
    throw new Failure(
      'FORBIDDEN',
      needed === 'admin'
        ? `${operation.name} needs an admin, and this token limits ${personName} to ${most}.`
        : `${operation.name} needs ${needed} access, and this token limits ${personName} to ${most} (access here: ${access ?? 'none in this project'}).`,
      { reason: 'token_access_too_low', hint: otherToken },
    )
  }
  const has = access === null ? 'none in this project' : access
  throw new Failure(
    'FORBIDDEN',
    needed === 'admin'
      ? `${operation.name} needs an admin. ${personName} is not an admin.`
      : `${operation.name} needs ${needed} access, and ${personName} has ${has}.`,
    {
      reason: needed === 'admin' ? 'admin_needed' : 'access_too_low',
      hint: `Ask ${needed === 'admin' ? 'an admin of the server' : 'an owner of the project: waymark member set'}.`,
    },
  )
}

const otherToken = 'Use another token, or sign in yourself. waymark whoami shows the access of this one.'

function ownKey({ keyField }: Operation, input: Readonly<Record<string, unknown>>): string | undefined {
  const key = keyField === undefined ? undefined : input[keyField]
  return typeof key === 'string' ? key : undefined
}

function idempotencyOf(
  operation: Operation,
  context: Context,
  input: unknown,
  key: string | undefined,
): Idempotency | undefined {
  if (key === undefined || operation.kind === 'query') return undefined
  if (key.length === 0 || key.length > 200) {
    throw new Failure(
      'INVALID_INPUT',
      `The idempotency key must have 1 to 200 characters, not ${key.length}.`,
      { reason: 'idempotency_key_length' },
    )
  }
  const { actor } = context
  return {
    key,
    owner: keyOwner(actor),
    connection: actor.connection ?? null,
    operation: operation.name,
    inputHash: context.fingerprint(input),
  }
}

function handlingContext(
  context: Context,
  idempotency: Idempotency | undefined,
): Omit<CommandContext, 'writeText'> {
  const recording =
    (key: Idempotency | undefined): RecordFunction =>
    async (decide) => {
      const outcome: { refused: Failure | null } = { refused: null }
      const setting: TransactionContext = { at: context.clock.now(), ids: context.ids }
      const answer = await context.store.record({
        actor: context.actor,
        at: setting.at,
        ...(key && { idempotency: key }),
        decide: async (reads) => {
          const decided = await decide(reads, setting)
          outcome.refused = 'refused' in decided ? decided.refused : null
          return decided
        },
      })
      if (outcome.refused) throw outcome.refused
      return answer
    }
  const measurer = context.measurer ?? localMeasurer(context)
  return { ...context, measurer, record: recording(idempotency), recordAside: recording(undefined) }
}

/** Checked at run time too: a helper that records fails in a query. */
function readOnlyContext(context: Context): Context {
  const { store, team } = context
  return {
    ...context,
    store: readOnly(store),
    ...(team && { team: { ...team, store: readOnly(team.store) } }),
  }
}

const reads = [
  'view',
  'replay',
  'inspect',
  'inspectChain',
  'notice',
  'sideRows',
  'health',
  'unreadiness',
  'follow',
] as const satisfies readonly (keyof StoreReader)[]

/** One reader per store, so that caches keyed by the store work for queries too. */
const readers = new WeakMap<Store, Store>()

function readOnly(store: Store): Store {
  const reader = readers.get(store) ?? newReader(store)
  readers.set(store, reader)
  return reader
}

function newReader(store: Store): Store {
  const refuse = (name: string) => () => Promise.reject(new Error(`A query called ${name} of the store.`))
  const bound = bindMethods(store, reads)
  return new Proxy(store, {
    get: (_, name) => Reflect.get(bound, name) ?? refuse(String(name)),
  })
}

/** These methods, which may be taken off the object. */
function bindMethods<Of extends object, Name extends keyof Of>(
  of: Of,
  names: readonly Name[],
): Pick<Of, Name> {
  const methods = names.map((name) => {
    const method = of[name]
    return [name, typeof method === 'function' ? method.bind(of) : method]
  })
  return Object.fromEntries(methods) as Pick<Of, Name> // each name has its method
}

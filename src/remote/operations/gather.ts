import { Failure } from '../../kernel/failure.ts'
import { firstMistake } from '../../kernel/operations/input/first-mistake.ts'
import type { Reads, Store } from '../../store/ports/store.ts'
import {
  type AnswerOf,
  type ArgsOf,
  isOfCall,
  type PortCall,
  type PortCallName,
  type PortCallResult,
  type PortRequest,
  portCalls,
} from './port-calls.ts'
import { failureOf } from './remote-measurement.ts'

/** How far a call came: to its end, or to calls that the caller's machine must answer first. */
export type GatherResult<Answer> =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'asks'; readonly calls: readonly PortRequest[] }

/**
 * One run of a handler whose ports are answered by what was sent along. A call without an answer waits for ever, and as
 * soon as nothing else goes on, the run is over and names all such calls; then the handler is run again with more.
 */
export class PortAnswerer {
  readonly #answers: ReadonlyMap<string, PortCallResult>
  readonly #seen = new Map<string, number>()
  readonly #asked: PortRequest[] = []
  readonly #stuck = Promise.withResolvers<void>()
  #busy = 0
  #steps = 0
  #isOver = false

  constructor(answers: readonly PortCallResult[]) {
    const counted = new Map<string, number>()
    this.#answers = new Map(answers.map((answer) => [numberedKey(counted, keyOf(answer)), answer]))
  }

  async run<Answer>(work: () => Promise<Answer>): Promise<GatherResult<Answer>> {
    const stuck = this.#stuck.promise.then(() => null)
    const working = work().then((answer) => ({ answer }))
    try {
      const done = await Promise.race([working, stuck])
      if (done) return { kind: 'answered', answer: done.answer }
      working.catch(() => undefined)
    } finally {
      this.#isOver = true
    }
    return { kind: 'asks', calls: this.#asked }
  }

  /** Answers a port's call from what was sent along. */
  async ask<Name extends PortCallName>(name: Name, args: ArgsOf<Name>): Promise<AnswerOf<Name>> {
    const request = { call: name, args: cloneAsJson(args) as unknown[] } // a tuple
    const sent = this.#answers.get(numberedKey(this.#seen, keyOf(request)))
    if (sent === undefined) return this.#miss(request)
    if (sent.failure) throw failureOf(sent.failure)
    const { answer }: PortCall = portCalls[name]
    const read = answer.safeParse(sent.answer ?? null)
    if (!read.success) throw invalidMachineAnswer(name, firstMistake(read.error))
    const said = read.data as AnswerOf<Name> // by the schema of its name
    if (!isOfCall(name, args, said)) throw invalidMachineAnswer(name, 'it names what was not asked for')
    return said
  }

  /** The store as the handler sees it: what goes on there is waited for, and after the run's end nothing does. */
  watched(store: Store): Store {
    const during = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      if (this.#isOver) return neverResolve()
      this.#busy += 1
      try {
        return await work()
      } finally {
        this.#busy -= 1
        this.#look()
      }
    }
    return {
      record: (request) => during(() => store.record(request)),
      view: <Answer>(look: (reads: Reads) => Promise<Answer>) => during(() => store.view(look)),
      replay: (idempotency) => during(() => store.replay(idempotency)),
      health: () => during(() => store.health()),
      unreadiness: () => during(() => store.unreadiness()),
      inspect: () => during(() => store.inspect()),
      inspectChain: () => during(() => store.inspectChain()),
      restore: (facts, restoring) => during(() => store.restore(facts, restoring)),
      kept: (after, limit) => during(() => store.kept(after, limit)),
      repair: (at) => during(() => store.repair(at)),
      accept: (at) => during(() => store.accept(at)),
      notice: () => during(() => store.notice()),
      backup: (file) => during(() => store.backup(file)),
      putBack: (backup, at) => during(() => store.putBack(backup, at)),
      follow: (after, signal) => store.follow(after, signal),
      close: () => store.close(),
    }
  }

  #miss(request: PortRequest): Promise<never> {
    this.#asked.push(request)
    this.#look()
    return neverResolve()
  }

  /** A handler that waits for calls alone does nothing more by itself. */
  #look(): void {
    this.#steps += 1
    const step = this.#steps
    setImmediate(() =>
      setImmediate(() => {
        if (step === this.#steps && this.#busy === 0 && this.#asked.length > 0) this.#stuck.resolve()
      }),
    )
  }
}

function invalidMachineAnswer(name: string, mistake: string): Failure {
  return new Failure('INVALID_INPUT', `What ${name} answered is not understood: ${mistake}.`, {
    reason: 'machine_answer_invalid',
    hint: 'Install the same version of Waymark on both machines.',
  })
}

function neverResolve(): Promise<never> {
  return new Promise(() => undefined)
}

/** As JSON carries it. */
function cloneAsJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

function numberedKey(counted: Map<string, number>, key: string): string {
  const number = (counted.get(key) ?? 0) + 1
  counted.set(key, number)
  return `${number} ${key}`
}

/** Equal for equal calls, in whatever order their fields come. */
function keyOf({ call, args }: PortRequest): string {
  return `${call} ${JSON.stringify(args, sortKeys)}`
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

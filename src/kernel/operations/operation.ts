import type { z } from 'zod'
import type { ClientHealth } from '../../clients/ports/client-health.ts'
import type { SetupFiles } from '../../clients/ports/setup-files.ts'
import type { CommandApprovals, CommandRunner } from '../../gate/ports/command-runner.ts'
import type { EvidenceFiles, PreviewStore } from '../../gate/ports/evidence-files.ts'
import type { FileCopies, LinkedTrees, WorkTreeWitness } from '../../git/ports/work-tree.ts'
import type { Messenger } from '../../notifications/ports/messenger.ts'
import type { CallerPermissions, NeededAccess } from '../../people/domain/access.ts'
import type { Team, TeamReader } from '../../people/ports/team.ts'
import type { PlanFiles, ProcessFiles } from '../../project/ports/project-files.ts'
import type { CaptureHealth } from '../../sessions/ports/capture-health.ts'
import type {
  ChangeSet,
  DecidedChangeSet,
  Fingerprint,
  Reads,
  Store,
  StoreReader,
} from '../../store/ports/store.ts'
import type { Actor } from '../actor.ts'
import type { IdSource, TransactionContext } from '../id.ts'
import type { Clock } from '../ports/clock.ts'
import {
  type Briefs,
  MeasurementRun,
  type Measurements,
  type MeasurementValues,
  type Measurer,
  measureFor,
  measurement,
  type PreparedOperation,
  type Readable,
  type WritableWorkTree,
} from './measurement.ts'

export type Toolset = 'plan' | 'track' | 'gate'

/** Who may call it. What only people may do is never a tool. */
export type Audience = 'agent' | 'person' | 'both'

/** What it asks of a caller where a server knows its persons: as it says itself, else what its kind and audience ask. */
export function accessOf({
  access,
  audience,
  kind,
}: Pick<Operation, 'access' | 'audience' | 'kind'>): NeededAccess {
  if (access !== undefined) return access
  return kind === 'query' ? 'viewer' : accessOfCommands[audience]
}

const accessOfCommands = {
  agent: 'contributor',
  both: 'contributor',
  person: 'maintainer',
} as const satisfies Record<Audience, NeededAccess>

/** What an operation answers: one object, or one of several. */
type AnswerSchema = z.ZodType<Answer>

type OperationKind = 'query' | 'command'

export interface OperationContract<
  Input extends z.ZodObject,
  Output extends AnswerSchema,
  Of extends OperationKind = OperationKind,
> {
  /** Identity: catalog and `POST /api/<name>`. */
  readonly name: string
  /** The MCP tool's name, only if agents may call it. */
  readonly tool?: string
  /** The CLI's words, `task start`; `task:start` is accepted too. */
  readonly command: string
  /** Other words for it that the CLI understands. */
  readonly aliases?: readonly string[]
  /** What a screen of the dashboard asks, and no person types: it is served over HTTP, and is no command. */
  readonly screen?: true
  /** Callable as a tool by those who know it from another program, and not listed: a list costs every agent tokens. */
  readonly unlisted?: true
  /** Fields as other programs call them, in snake case: any spelling of such a word is taken. */
  readonly synonyms?: Readonly<Record<string, string>>
  readonly toolset: Toolset
  readonly audience: Audience
  /** What a caller must have access to; `accessOf` says what it is where it is left out. */
  readonly access?: NeededAccess
  /** About the server and its persons, not about work in a project: it is answered where there is no project yet. */
  readonly ofServer?: true
  /** About the people of a project: the command line makes no project for it. */
  readonly ofMembers?: true
  readonly title: string
  readonly description: string
  /** A query only reads: its handler gets a context that cannot record. */
  readonly kind: Of
  /** A command that removes or overwrites what was there. */
  readonly destructive?: boolean
  /** A command that may be repeated with the same input without a further effect. */
  readonly idempotent?: boolean
  /** The input field that holds the caller's idempotency key, where the operation has one of its own. */
  readonly keyField?: string
  readonly input: Input
  readonly output: Output
  /** Which of its keys the list of tools names, where not all: a list costs every agent tokens. */
  readonly listedOutput?: readonly (keyof z.output<Output> & string)[]
  /**
   * Input fields that begin with a path, from the folder one is in at the command line and from the project's elsewhere;
   * each with the words that are no path.
   */
  readonly paths?: Readonly<Partial<Record<keyof z.output<Input> & string, readonly string[]>>>
  /** Input fields that the CLI takes by position, in this order. */
  readonly positional?: readonly (keyof z.output<Input> & string)[]
  /**
   * The text of an answer where it is not simply its JSON: blocks, the first of which is what the command prints; null where
   * it has none this time.
   * `input` is what the caller sent.
   */
  readonly print?: (answer: Answer, input: Answer) => readonly string[] | null
  /** What is left of an answer for who sent `brief: true`. */
  readonly brief?: (answer: Answer) => Answer
}

export type Answer = Readonly<Record<string, unknown>>

/** An operation is a value; surfaces interpret it. The method form lets operations of different inputs share a list. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends AnswerSchema = AnswerSchema,
> extends OperationContract<Input, Output> {
  /** What may be measured for it where the files are; none where it only reads and records. */
  readonly measurements?: Measurements
  handle(handling: CommandContext, input: z.output<Input>): Promise<z.output<Output>>
}

/** An operation whose name is known to the compiler, so that a client can be typed by it. */
interface NamedOperation<Name extends string> {
  readonly name: Name
}

interface OperationBuilder<
  Name extends string,
  Input extends z.ZodObject,
  Output extends AnswerSchema,
  Of extends OperationKind,
> {
  handler(
    handle: (
      handling: Of extends 'query' ? QueryContext : CommandContext,
      input: z.output<Input>,
    ) => Promise<z.output<Output>>,
  ): Operation<Input, Output> & NamedOperation<Name>
  /** What it may have measured where the files are. */
  measure<const M extends Measurements>(measurements: M): OperationPreparer<Name, Input, Output, Of, M>
}

interface OperationPreparer<
  Name extends string,
  Input extends z.ZodObject,
  Output extends AnswerSchema,
  Of extends OperationKind,
  M extends Measurements,
> {
  /** For an operation that measures what its input names, and then does what is no decision of one transaction. */
  handler(
    briefs: (input: z.output<Input>, context: RecordContext) => Briefs<M>,
    handle: (
      handling: Of extends 'query' ? QueryContext : CommandContext,
      input: z.output<Input>,
      measured: MeasurementValues<M>,
    ) => Promise<z.output<Output>>,
  ): Operation<Input, Output> & NamedOperation<Name>
  /**
   * Reads what the operation rests on, and says what must be measured next. It is called again with what was measured until
   * nothing more is, at most four times; and again in the transaction, where `found` is what holds.
   */
  prepare<Found>(
    prepare: (
      reads: Reads,
      input: z.output<Input>,
      context: RecordContext,
      measured: MeasurementValues<M>,
      /** The names of the steps that were taken. */
      taken: ReadonlySet<string>,
    ) => Promise<PreparedOperation<M, Found>>,
  ): Of extends 'query'
    ? {
        answer(
          answer: (deciding: TransactionInput<M, Found>, input: z.output<Input>) => Promise<z.output<Output>>,
        ): Operation<Input, Output> & NamedOperation<Name>
      }
    : {
        record(
          record: (
            deciding: TransactionInput<M, Found>,
            input: z.output<Input>,
          ) => Promise<DecidedChangeSet<z.output<Output>>>,
          options?: {
            /** Where it only shows what it would do, it is decided in a view. */
            readonly only?: (input: z.output<Input>) => boolean
            /** It is known again by keys of its own: that of the call is not bound. */
            readonly isKeyed?: false
          },
        ): Operation<Input, Output> & NamedOperation<Name>
        /** For an operation that writes files or the machine's own lists: once, where it was called. */
        apply<Plan extends z.ZodType, Applied extends z.ZodType>(
          application: Application<M, Found, z.output<Input>, Plan, Applied>,
        ): {
          /** Records what was done; nothing of it is done again. */
          record(
            record: (
              applied: AppliedPlan<z.output<Plan>, z.output<Applied>>,
              input: z.output<Input>,
            ) => Promise<ChangeSet<z.output<Output>>>,
          ): Operation<Input, Output> & NamedOperation<Name>
        }
      }
}

/** What an operation writes on the machine where it was called. */
export interface Application<
  M extends Measurements,
  Found,
  Input,
  Plan extends z.ZodType,
  Applied extends z.ZodType,
> {
  readonly plan: Plan
  readonly applied: Applied
  /** Decides what is to be done, or refuses. */
  decide(deciding: TransactionInput<M, Found>, input: Input): Promise<z.output<Plan>>
  apply(
    workTree: WritableWorkTree,
    plan: Readable<z.output<Plan>>,
    input: Input,
  ): Promise<Readable<z.output<Applied>>>
}

/** What was done, when it is recorded. */
export interface AppliedPlan<Plan, Applied> {
  readonly reads: Reads
  readonly plan: Readable<Plan>
  readonly applied: Readable<Applied>
  readonly context: RecordContext
  readonly setting: TransactionContext
}

/** What is known when an operation is decided. */
export interface TransactionInput<M extends Measurements, Found> {
  readonly reads: Reads
  readonly found: Found
  readonly measured: MeasurementValues<M>
  readonly context: RecordContext
  readonly setting: TransactionContext
}

/** A second call because TypeScript infers the literal types of the output only then. */
export function defineOperation<
  const Name extends string,
  Input extends z.ZodObject,
  Output extends AnswerSchema,
  const Of extends OperationKind,
>(
  contract: OperationContract<Input, Output, Of> & NamedOperation<Name>,
): OperationBuilder<Name, Input, Output, Of> {
  return {
    handler: (handle) => ({ ...contract, handle }),
    measure: (measurements) => ({
      handler: (briefs, handle) => ({
        ...contract,
        measurements,
        handle: async (handling, input) => {
          const operation = { name: contract.name, measurements }
          const measured = await measureFor({ context: handling, operation, input })(briefs(input, handling))
          return handle(handling, input, measured as MeasurementValues<typeof measurements>)
        },
      }),
      prepare: (prepare) => {
        const measuring = (handling: CommandContext, input: z.output<Input>) =>
          new MeasurementRun({
            context: handling,
            operation: { name: contract.name, measurements },
            input,
            prepare: (reads, measured, taken) => prepare(reads, input, handling, measured, taken),
            take: (step) => step.take(handling),
          })
        const inView = async <Answered>(
          handling: CommandContext,
          input: z.output<Input>,
          decide: (deciding: TransactionInput<typeof measurements, never>) => Promise<Answered>,
        ) => {
          const setting = { at: handling.clock.now(), ids: handling.ids }
          return measuring(handling, input).answered((settled) =>
            decide({
              ...(settled as TransactionInput<typeof measurements, never>),
              context: handling,
              setting,
            }),
          )
        }
        const steps = {
          answer: (answer: (deciding: never, input: z.output<Input>) => Promise<z.output<Output>>) => ({
            ...contract,
            measurements,
            handle: (handling: CommandContext, input: z.output<Input>) =>
              inView(handling, input, (deciding) => answer(deciding as never, input)),
          }),
          record: (
            record: (deciding: never, input: z.output<Input>) => Promise<DecidedChangeSet<z.output<Output>>>,
            options: {
              readonly only?: (input: z.output<Input>) => boolean
              readonly isKeyed?: false
            } = {},
          ) => ({
            ...contract,
            measurements,
            handle: async (handling: CommandContext, input: z.output<Input>) => {
              if (options.only?.(input)) {
                return shownAnswer(
                  await inView(handling, input, (deciding) => record(deciding as never, input)),
                )
              }
              const write = options.isKeyed === false ? handling.recordAside : handling.record
              return measuring(handling, input).decided((settled) =>
                write(async (reads, setting) =>
                  record({ ...(await settled(reads)), context: handling, setting } as never, input),
                ),
              )
            },
          }),
          apply: (application: Application<Measurements, never, z.output<Input>, z.ZodType, z.ZodType>) => ({
            record: (
              record: (
                applied: AppliedPlan<unknown, unknown>,
                input: z.output<Input>,
              ) => Promise<ChangeSet<z.output<Output>>>,
            ) => {
              const applying = {
                apply: measurement({
                  brief: application.plan,
                  measured: application.applied,
                  writes: true,
                  measure: (workTree, plan, given) =>
                    application.apply(workTree as WritableWorkTree, plan, given as z.output<Input>),
                }),
              }
              return {
                ...contract,
                measurements: { ...measurements, ...applying },
                handle: async (handling: CommandContext, input: z.output<Input>) => {
                  const plan = await inView(handling, input, (deciding) =>
                    application.decide(deciding, input),
                  )
                  const operation = { name: contract.name, measurements: applying }
                  const { apply } = await measureFor({ context: handling, operation, input })({ apply: plan })
                  return handling.record((reads, setting) =>
                    record({ reads, plan, applied: apply, context: handling, setting } as never, input),
                  )
                },
              }
            },
          }),
        }
        return steps as never // as the kind of the contract has it
      },
    }),
  }
}

/** What it would do, of which nothing is recorded. */
function shownAnswer<Answered>(decided: DecidedChangeSet<Answered>): Answered {
  if ('refused' in decided) throw decided.refused
  if ('answer' in decided) return decided.answer
  throw new Error('What only shows what it would do cannot answer from what it recorded.')
}

/** What a surface hands to every operation: the ports, and who is calling from where. */
export interface Context {
  readonly store: Store
  readonly witness: WorkTreeWitness
  readonly clock: Clock
  readonly ids: IdSource
  readonly fingerprint: Fingerprint
  readonly actor: Actor
  /** Absolute path of the folder that the connection works in. */
  readonly folder: string
  readonly program: Program
  readonly planFiles: PlanFiles
  readonly processFiles: ProcessFiles
  readonly evidenceFiles: EvidenceFiles
  readonly shownContents: PreviewStore
  /** What setup wrote on this machine; absent where that cannot be asked. */
  readonly setupFiles?: SetupFiles
  readonly linkedTrees: LinkedTrees
  /** Copies of files that hooks made; absent where the files are on another machine. */
  readonly copies?: FileCopies
  /** The session of a client that a call is from, as the client itself says. */
  readonly caller?: { readonly session: string; readonly link: 'call' | 'environment' }
  /** Records what hooks have told and nobody has read yet; absent where nothing is captured. */
  readonly drain?: () => Promise<void>
  /** How the clients of this machine fare with the project; absent where nobody sits at it. */
  readonly clients?: () => Promise<readonly ClientHealth[]>
  /** How capture fares in the project of this machine; null where it was never switched on. */
  readonly captureHealth?: () => CaptureHealth | null
  readonly commandRunner: CommandRunner
  readonly commandApprovals: CommandApprovals
  readonly messenger: Messenger
  /** Writes a line to the person at the command line, beside the answer. */
  readonly tell?: (line: string) => void
  /** Who may use the server, where the database is one that was named for all its projects. */
  readonly team?: Team
  /** Who calls and what they may; absent where nobody is asked for it: on one's own machine. */
  readonly permissions?: CallerPermissions
  /** The machine that its caller works on, where that is not the one that keeps the record. */
  readonly machine?: RemoteMachine
  /** Has measurements made where the files are; absent where they are here. */
  readonly measurer?: Measurer
  /** The idempotency key of a call that brings none of its own. */
  readonly callKey?: string
  /** The call was sent again, with what was measured for it. */
  readonly isContinued?: boolean
}

/** A machine where agents work, whose record is kept by a server elsewhere. */
export interface RemoteMachine {
  /** `e-…` */
  readonly id: string
  readonly name: string
}

/** What `doctor` and `status` say about the running program. */
export interface Program {
  readonly version: string
  /** Node's version, `24.21.0`. */
  readonly node: string
  readonly platform: string
  /** Where private snapshots are kept. */
  readonly stateFolder: string
}

/** A context that cannot record: that of a query, and of whatever a query and a command both do. */
export interface QueryContext extends Omit<Context, 'store' | 'team'> {
  readonly store: StoreReader
  readonly team?: TeamReader
}

/** A context without what looks at files: what they hold is measured first. */
export type RecordContext = Omit<
  QueryContext,
  | 'store'
  | 'witness'
  | 'planFiles'
  | 'processFiles'
  | 'evidenceFiles'
  | 'shownContents'
  | 'setupFiles'
  | 'linkedTrees'
  | 'copies'
  | 'commandApprovals'
> & {
  /** Reads what the file of a process says. */
  readonly processFiles: Pick<ProcessFiles, 'read'>
}

/** A context during one call of a command. `record` is the only way to write, and carries the call's idempotency key. */
export interface CommandContext extends Context {
  readonly measurer: Measurer
  readonly record: RecordFunction
  /** Writes what a call noticed beside its own work: not under its idempotency key. */
  readonly recordAside: RecordFunction
}

export type RecordFunction = <Answer>(
  decide: (reads: Reads, setting: TransactionContext) => Promise<DecidedChangeSet<Answer>>,
) => Promise<Answer>

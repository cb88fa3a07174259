import type { z } from 'zod'
import type { ClientHealth } from '../../clients/ports/client-health.ts'
import type { SetupFiles } from '../../clients/ports/setup-files.ts'
import type { CommandApprovals, CommandRunner } from '../../gate/ports/command-runner.ts'
import type { EvidenceFiles, PreviewStore } from '../../gate/ports/evidence-files.ts'
import type {
  FileCopies,
  LinkedTrees,
  WorkRestore,
  WorkTreeWitness,
  WorkUndo,
} from '../../git/ports/work-tree.ts'
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
} from './measurement-protocol.ts'

export type Toolset = 'plan' | 'track' | 'gate'

/** The callers of an operation. An operation for people is never a tool. */
export type Audience = 'agent' | 'person' | 'both'

/** The access that an operation needs on a team server; the default depends on its kind and audience. */
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

/** The answer of an operation: an object, or a union of objects. */
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
  /** Other names of the command. */
  readonly aliases?: readonly string[]
  /** Only for the dashboard and machines: served over HTTP, and no command. */
  readonly screen?: true
  /** A tool for agents who know it from another program; not listed, since a list costs every agent tokens. */
  readonly unlisted?: true
  /** Fields of other programs, in snake case, with the field that each means. Any spelling is accepted. */
  readonly synonyms?: Readonly<Record<string, string>>
  readonly toolset: Toolset
  readonly audience: Audience
  /** The access that a caller needs; `accessOf` has the default. */
  readonly access?: NeededAccess
  /** About the server and its people: it works without a project. */
  readonly ofServer?: true
  /** About the people of a project: the command line does not create a project for it. */
  readonly ofMembers?: true
  readonly title: string
  readonly description: string
  /** A query only reads: its handler gets a context that cannot record. */
  readonly kind: Of
  /** A command that removes or overwrites something. */
  readonly destructive?: boolean
  /** A command without a further effect if it is repeated with the same input. */
  readonly idempotent?: boolean
  /** The input field that holds the caller's idempotency key, where the operation has one of its own. */
  readonly keyField?: string
  readonly input: Input
  readonly output: Output
  /** The keys of the output in the list of tools; default: all. A list costs every agent tokens. */
  readonly listedOutput?: readonly (keyof z.output<Output> & string)[]
  /**
   * Input fields that hold paths, each with its values that are no path. They are relative to the working folder at the
   * command line, and to the project's folder elsewhere.
   */
  readonly paths?: Readonly<Partial<Record<keyof z.output<Input> & string, readonly string[]>>>
  /** Input fields that the CLI takes by position, in this order; `outcome.summary` is a field of a field. */
  readonly positional?: readonly (
    | (keyof z.output<Input> & string)
    | `${keyof z.output<Input> & string}.${string}`
  )[]
  /** The blocks of an answer as text instead of JSON; a command prints the first. Null: JSON this time. */
  readonly print?: (answer: Answer, input: Answer) => readonly string[] | null
  /**
   * The question to a person at a terminal after an answer that only showed something; null for none. A yes repeats the
   * call with `yes` and the `content` that was shown. Without a terminal, `yes` or `dry_run` is needed.
   */
  readonly confirm?: (answer: Answer) => string | null
  /** The short answer for a call with `brief: true`. */
  readonly brief?: (answer: Answer) => Answer
}

export type Answer = Readonly<Record<string, unknown>>

/** An operation is a value; surfaces interpret it. The method form lets operations of different inputs share a list. */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends AnswerSchema = AnswerSchema,
> extends OperationContract<Input, Output> {
  /** Its measurements where the files are; absent if it only reads and records. */
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
  /** Declares its measurements where the files are. */
  measure<const M extends Measurements>(measurements: M): OperationPreparer<Name, Input, Output, Of, M>
}

interface OperationPreparer<
  Name extends string,
  Input extends z.ZodObject,
  Output extends AnswerSchema,
  Of extends OperationKind,
  M extends Measurements,
> {
  /** For an operation whose input determines the briefs, and that does more than decide in one transaction. */
  handler(
    briefs: (input: z.output<Input>, context: RecordContext) => Briefs<M>,
    handle: (
      handling: Of extends 'query' ? QueryContext : CommandContext,
      input: z.output<Input>,
      measured: MeasurementValues<M>,
    ) => Promise<z.output<Output>>,
  ): Operation<Input, Output> & NamedOperation<Name>
  /**
   * Reads the rows that the operation needs, and returns the next briefs. It is called again with the results until no
   * brief is open; and once more in the transaction, whose `found` counts.
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
            /** For a dry run: it is decided in a view, and nothing is recorded. */
            readonly only?: (input: z.output<Input>) => boolean
            /** False if it has its own idempotency keys, so that the call's key is not stored. */
            readonly isKeyed?: false
          },
        ): Operation<Input, Output> & NamedOperation<Name>
        /** For an operation that writes files or the machine's own lists, once, on the calling machine. */
        apply<Plan extends z.ZodType, Applied extends z.ZodType>(
          application: Application<M, Found, z.output<Input>, Plan, Applied>,
        ): {
          /** Records the applied plan; it is not applied again. */
          record(
            record: (
              applied: AppliedPlan<z.output<Plan>, z.output<Applied>>,
              input: z.output<Input>,
            ) => Promise<ChangeSet<z.output<Output>>>,
          ): Operation<Input, Output> & NamedOperation<Name>
        }
      }
}

/** The writes of an operation on the calling machine. */
export interface Application<
  M extends Measurements,
  Found,
  Input,
  Plan extends z.ZodType,
  Applied extends z.ZodType,
> {
  readonly plan: Plan
  readonly applied: Applied
  /** Decides the plan, or refuses. */
  decide(deciding: TransactionInput<M, Found>, input: Input): Promise<z.output<Plan>>
  apply(
    workTree: WritableWorkTree,
    plan: Readable<z.output<Plan>>,
    input: Input,
  ): Promise<Readable<z.output<Applied>>>
}

/** An applied plan, to be recorded. */
export interface AppliedPlan<Plan, Applied> {
  readonly reads: Reads
  readonly plan: Readable<Plan>
  readonly applied: Readable<Applied>
  readonly context: RecordContext
  readonly setting: TransactionContext
}

/** The input of a decision in a transaction. */
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
          return measuring(handling, input).answer((settled) =>
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
              return measuring(handling, input).decide((settled) =>
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

/** The answer of a dry run. */
function shownAnswer<Answered>(decided: DecidedChangeSet<Answered>): Answered {
  if ('refused' in decided) throw decided.refused
  if ('answer' in decided) return decided.answer
  throw new Error('What only shows what it would do cannot answer from what it recorded.')
}

/** The context of a call: the ports, the caller and the folder. */
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
  /** The files that setup wrote on this machine; absent where they cannot be read. */
  readonly setupFiles?: SetupFiles
  readonly linkedTrees: LinkedTrees
  readonly workUndo: WorkUndo
  readonly workRestore: WorkRestore
  /** Copies of files made by hooks; absent if the files are on another machine. */
  readonly copies?: FileCopies
  /** The client session of a call, as the client claims. */
  readonly caller?: { readonly session: string; readonly link: 'call' | 'environment' }
  /** Records queued hook events; absent where nothing is captured. */
  readonly ingest?: () => Promise<void>
  /** Measures what landed if the default branch moved; absent where no files are. */
  readonly refreshLandings?: () => Promise<void>
  /** The health of this machine's clients in the project; absent on a server. */
  readonly clients?: () => Promise<readonly ClientHealth[]>
  /** The health of capture on this machine; null if it was never switched on. */
  readonly captureHealth?: () => CaptureHealth | null
  readonly commandRunner: CommandRunner
  /** How long a call waits for commands, in milliseconds; absent: 25 seconds, less for another machine. */
  readonly commandWaitMs?: number
  readonly commandApprovals: CommandApprovals
  readonly messenger: Messenger
  /** Writes a line to the person at the command line, beside the answer. */
  readonly tell?: (line: string) => void
  /** The people who may use the server; absent without a database for several projects. */
  readonly team?: Team
  /** The caller's permissions; absent on one's own machine, where access is not restricted. */
  readonly permissions?: CallerPermissions
  /** The caller's machine, if it is not the one that has the record. */
  readonly machine?: RemoteMachine
  /** Measures where the files are; absent if they are on this machine. */
  readonly measurer?: Measurer
  /** The idempotency key of the request, for a call without its own. */
  readonly callKey?: string
  /** The call was sent again, with its measurements. */
  readonly isContinued?: boolean
}

/** A machine where agents work, with its record on a server. */
export interface RemoteMachine {
  /** `e-…` */
  readonly id: string
  readonly name: string
}

/** The running program, for `doctor` and `status`. */
export interface Program {
  readonly version: string
  /** Node's version, `24.21.0`. */
  readonly node: string
  readonly platform: string
  /** Where private snapshots are kept. */
  readonly stateFolder: string
}

/** A context that cannot record: for queries, and for code shared by queries and commands. */
export interface QueryContext extends Omit<Context, 'store' | 'team'> {
  readonly store: StoreReader
  readonly team?: TeamReader
  /** Writes a part of the answer's text, which may be too long for memory. */
  readonly writeText: (part: string) => Promise<void>
}

/** A context without access to files: they are measured first. */
export type RecordContext = Omit<
  QueryContext,
  | 'store'
  | 'writeText'
  | 'witness'
  | 'planFiles'
  | 'processFiles'
  | 'evidenceFiles'
  | 'shownContents'
  | 'setupFiles'
  | 'linkedTrees'
  | 'workUndo'
  | 'workRestore'
  | 'copies'
  | 'commandApprovals'
> & {
  /** Reads the text of a process file. */
  readonly processFiles: Pick<ProcessFiles, 'read'>
}

/** A context during one call of a command. `record` is the only way to write, and carries the call's idempotency key. */
export interface CommandContext extends Context {
  readonly writeText: QueryContext['writeText']
  readonly measurer: Measurer
  readonly record: RecordFunction
  /** Writes outside the call's idempotency key. */
  readonly recordAside: RecordFunction
}

export type RecordFunction = <Answer>(
  decide: (reads: Reads, setting: TransactionContext) => Promise<DecidedChangeSet<Answer>>,
) => Promise<Answer>

import type { z } from 'zod'
import type { CommandApprovals, RemoteRunner } from '../../gate/ports/command-runner.ts'
import type { EvidenceFiles, PreviewStore } from '../../gate/ports/evidence-files.ts'
import type {
  FileCopies,
  LinkedTrees,
  WorkRestore,
  WorkTreeWitness,
  WorkUndo,
} from '../../git/ports/work-tree.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { Failure } from '../failure.ts'
import type { Answer, CommandContext, Context } from './operation.ts'
import { RememberedReads } from './remembered-reads.ts'

/** What a measurement may use on the machine that has the files. Nothing here writes into the work tree. */
export interface WorkTree
  extends Pick<Context, 'folder' | 'fingerprint' | 'planFiles' | 'processFiles' | 'setupFiles'> {
  readonly witness: Omit<WorkTreeWitness, 'settle' | 'sweep'>
  readonly linkedTrees: Pick<LinkedTrees, 'bound' | 'list' | 'losses'>
  readonly workUndo: Pick<WorkUndo, 'plan'>
  readonly evidenceFiles: EvidenceFiles
  readonly shownContents: PreviewStore
  readonly copies?: Pick<FileCopies, 'contents' | 'amend' | 'linesOf'>
  readonly commandApprovals: Pick<
    CommandApprovals,
    'hashOf' | 'filesOf' | 'isApproved' | 'list' | 'refusalOf' | 'refusedIn'
  > & { readonly trustsServer?: boolean }
  /** Only where commands run for a record on another machine. */
  readonly remoteCommands?: RemoteRunner
  /** A name for a new snapshot. */
  readonly snapshotName: () => string
  /** By the clock of the record. */
  readonly now: () => number
}

/** A work tree that an operation may write to, with this machine's own lists. */
export interface WritableWorkTree extends WorkTree {
  readonly linkedTrees: LinkedTrees
  readonly workUndo: WorkUndo
  readonly workRestore: WorkRestore
  readonly commandApprovals: CommandApprovals & { readonly trustsServer?: boolean }
}

/**
 * One measurement: its brief, its result and its function. It runs where the files are, without a database. An operation
 * declares its measurements; another machine runs no others for it.
 */
export interface Measurement {
  readonly brief: z.ZodType
  readonly measured: z.ZodType
  /** Whether a result belongs to the brief, and has nothing else in it. */
  fits?(brief: unknown, measured: unknown): boolean
  /** Hook events from before it are recorded after it, before its result is used. */
  readonly ingests?: true
  /** It gets a writable work tree, and runs at most once in a call. */
  readonly writes?: true
  // The method form lets measurements of different briefs share a table. `input` is the operation's.
  measure(workTree: WorkTree, brief: unknown, input: Answer): Promise<unknown>
}

interface MeasurementDefinition<Brief extends z.ZodType, Measured extends z.ZodType> extends Measurement {
  readonly brief: Brief
  readonly measured: Measured
  fits?(brief: Readable<z.output<Brief>>, measured: Readable<z.output<Measured>>): boolean
  measure(
    workTree: WorkTree,
    brief: Readable<z.output<Brief>>,
    input: Answer,
  ): Promise<Readable<z.output<Measured>>>
}

export type Readable<Value> =
  Value extends AsyncIterable<unknown>
    ? Value
    : Value extends object
      ? { readonly [Key in keyof Value]: Readable<Value[Key]> }
      : Value

export type BriefOf<Of extends Measurement> = Readable<z.output<Of['brief']>>
export type MeasurementOf<Of extends Measurement> = Readable<z.output<Of['measured']>>

export function measurement<Brief extends z.ZodType, Measured extends z.ZodType>(
  definition: MeasurementDefinition<Brief, Measured>,
): MeasurementDefinition<Brief, Measured> {
  return definition
}

export type Measurements = Readonly<Record<string, Measurement>>

/** The briefs to measure, by the name of the measurement. */
export type Briefs<Of extends Measurements> = {
  readonly [Name in keyof Of]?: BriefOf<Of[Name]> | undefined
}

/** The results so far, by the name of the measurement. */
export type MeasurementValues<Of extends Measurements> = {
  readonly [Name in keyof Of]?: MeasurementOf<Of[Name]>
}

/** The result of a preparation: the rows it read, and the briefs to measure. */
export interface PreparedOperation<Of extends Measurements, Found> {
  readonly briefs: Briefs<Of>
  readonly found: Found
  /** A step to take before the decision. The operation is prepared again after it. */
  readonly first?: PreparationStep | undefined
}

/** A step that is taken once in a request, after everything was measured. */
export interface PreparationStep {
  readonly name: string
  take(handling: CommandContext): Promise<void>
}

/** A brief with its hash, by which a machine names what it measured. */
export interface MeasurementRequest {
  readonly hash: string
  readonly brief: unknown
}

/** Runs measurements of an operation where the files are. */
export type Measurer = (
  operation: { readonly name: string; readonly measurements: Measurements },
  requests: ReadonlyMap<string, MeasurementRequest>,
  input: Answer,
) => Promise<ReadonlyMap<string, unknown>>

/** The record changed after the measurement, so that other briefs are needed. */
class StateMovedError extends Error {}

const maxStarts = 10

export interface MeasurementRunParts<Of extends Measurements, Found> {
  readonly context: Pick<Context, 'store' | 'fingerprint' | 'ingest'> & { readonly measurer: Measurer }
  readonly operation: { readonly name: string; readonly measurements: Of }
  readonly input: Answer
  /** Called until all its briefs were measured. It only reads, and depends on nothing else. */
  readonly prepare: (
    reads: Reads,
    measured: MeasurementValues<Of>,
    taken: ReadonlySet<string>,
  ) => Promise<PreparedOperation<Of, Found>>
  readonly take?: (step: PreparationStep) => Promise<void>
}

/** Measures for an operation, and detects under the lock whether the measurements are outdated. */
export class MeasurementRun<Of extends Measurements, Found> {
  readonly #parts: MeasurementRunParts<Of, Found>
  readonly #results = new Map<string, { readonly brief: string; readonly value: unknown }>()
  readonly #taken = new Set<string>()
  /** How often the measurements were outdated. */
  #starts = 0

  constructor(parts: MeasurementRunParts<Of, Found>) {
    this.#parts = parts
  }

  /** Measures, then decides in a transaction; starts over if the measurements are outdated by then. */
  async decide<Answered>(
    decide: (settle: (reads: Reads) => Promise<SettledMeasurements<Of, Found>>) => Promise<Answered>,
  ): Promise<Answered> {
    for (;;) {
      await this.#measure(async () => null, new RememberedReads())
      try {
        return await decide((reads) => this.#settle(reads))
      } catch (error) {
        if (!(error instanceof StateMovedError)) throw error
      }
    }
  }

  /** Measures until no brief is open, and answers in the same view of the record. */
  answer<Answered>(
    answerWith: (settled: SettledMeasurements<Of, Found>) => Promise<Answered>,
  ): Promise<Answered> {
    return this.#measure(answerWith, null)
  }

  /** With remembered reads, the rounds need not be of the same view: they are all repeated under the lock. */
  async #measure<Answered>(
    answerWith: (settled: SettledMeasurements<Of, Found>) => Promise<Answered>,
    remembered: RememberedReads | null,
  ): Promise<Answered> {
    const { context, operation, input, take } = this.#parts
    for (;;) {
      const step = await context.store.view(async (reads) => {
        const { requests, settled, first } = await this.#prepare(remembered?.over(reads) ?? reads)
        if (requests.size > 0) return { requests }
        return first && !this.#taken.has(first.name) ? { first } : { answer: await answerWith(settled) }
      })
      if ('answer' in step) return step.answer
      if ('first' in step) {
        this.#taken.add(step.first.name)
        await take?.(step.first)
        remembered?.forget()
        continue
      }
      this.#countRestart(step.requests)
      const measured = await context.measurer(operation, step.requests, input)
      for (const [name, { brief }] of step.requests)
        this.#results.set(name, { brief: JSON.stringify(brief), value: measured.get(name) })
      if (needsIngest(operation.measurements, step.requests)) await context.ingest?.()
    }
  }

  /** Counts a restart if every open brief was measured before: then the record changed. New names are limited. */
  #countRestart(requests: ReadonlyMap<string, MeasurementRequest>): void {
    if (![...requests.keys()].every((name) => this.#results.has(name))) return
    this.#starts += 1
    if (this.#starts >= maxStarts) throw keepsChangingFailure(this.#parts.operation.name)
  }

  async #settle(reads: Reads): Promise<SettledMeasurements<Of, Found>> {
    const { requests, settled } = await this.#prepare(reads)
    if (requests.size > 0) throw new StateMovedError()
    return settled
  }

  async #prepare(reads: Reads) {
    const measured = this.#values()
    const { briefs, found, first } = await this.#parts.prepare(reads, measured, this.#taken)
    return { requests: this.#openRequests(briefs), settled: { found, measured, reads }, first }
  }

  #values(): MeasurementValues<Of> {
    const values = [...this.#results].map(([name, { value }]) => [name, value])
    return Object.fromEntries(values) as MeasurementValues<Of> // each by its measurement
  }

  /** Briefs without a result. */
  #openRequests(briefs: Briefs<Of>): ReadonlyMap<string, MeasurementRequest> {
    const requests = requestsOf(briefs, this.#parts.context.fingerprint)
    return new Map(
      [...requests].filter(([name, { brief }]) => this.#results.get(name)?.brief !== JSON.stringify(brief)),
    )
  }
}

/** The rows read under the lock, and the measurements for exactly those. */
export interface SettledMeasurements<Of extends Measurements, Found> {
  readonly reads: Reads
  readonly found: Found
  readonly measured: MeasurementValues<Of>
}

function keepsChangingFailure(operation: string): Failure {
  return new Failure(
    'CONFLICT',
    `${operation} was measured ${maxStarts} times, and the record changed each time. Nothing was recorded.`,
    { reason: 'record_keeps_changing', hint: 'Try again.' },
  )
}

/** Runs some of an operation's measurements. */
export type Measure<Of extends Measurements> = <const Wanted extends Briefs<Of>>(
  briefs: Wanted,
) => Promise<{ readonly [Name in keyof Wanted & keyof Of]: MeasurementOf<Of[Name]> }>

export function measureFor<Of extends Measurements>({
  context,
  operation,
  input,
}: Omit<MeasurementRunParts<Of, never>, 'prepare'>): Measure<Of> {
  return async (briefs) => {
    const requests = requestsOf(briefs, context.fingerprint)
    const measured = await context.measurer(operation, requests, input)
    if (needsIngest(operation.measurements, requests)) await context.ingest?.()
    return Object.fromEntries(measured) as never // each by its measurement
  }
}

/** A step of a preparation needs a result that is not there yet. */
class NotMeasuredError extends Error {}

/**
 * A preparation in steps, each of which uses results of the one before. It stops at the first missing result. Each
 * measurement is used once.
 */
export async function prepareSteps<Of extends Measurements, Found>(
  measured: MeasurementValues<Of>,
  steps: (measure: Measure<Of>) => Promise<Found>,
): Promise<PreparedOperation<Of, Found>> {
  const briefs: Record<string, unknown> = {}
  const measure = async (wanted: Briefs<Of>) => {
    Object.assign(briefs, wanted)
    const values = Object.entries(wanted).flatMap(([name, brief]) =>
      brief === undefined ? [] : [[name, measured[name]] as const],
    )
    if (values.some(([, value]) => value === undefined)) throw new NotMeasuredError()
    return Object.fromEntries(values)
  }
  const prepareWith = (found: Found) => ({ briefs: briefs as Briefs<Of>, found }) // each by its measurement
  try {
    return prepareWith(await steps(measure as Measure<Of>)) // each by its measurement
  } catch (error) {
    if (error instanceof NotMeasuredError) return prepareWith(undefined as Found) // it asks for more
    throw error
  }
}

function requestsOf(
  briefs: Readonly<Record<string, unknown>>,
  fingerprint: Context['fingerprint'],
): ReadonlyMap<string, MeasurementRequest> {
  const defined = Object.entries(briefs).filter(([, brief]) => brief !== undefined)
  return new Map(
    defined.map(([name, brief]) => {
      // Only another machine needs it, and it takes as long as some measurements.
      const request = {
        brief,
        get hash() {
          return fingerprint(brief)
        },
      }
      return [name, request]
    }),
  )
}

function needsIngest(measurements: Measurements, requests: ReadonlyMap<string, MeasurementRequest>): boolean {
  return [...requests.keys()].some((name) => measurements[name]?.ingests)
}

/** Measures on the machine that has the record. */
export function localMeasurer(context: Context): Measurer {
  const workTree = workTreeOf(context)
  return async ({ measurements }, requests, input) =>
    new Map(
      await Promise.all(
        [...requests].map(async ([name, { brief }]) => {
          return [name, await measurements[name]?.measure(workTree, brief, input)] as const
        }),
      ),
    )
}

function workTreeOf(context: Context): WritableWorkTree {
  return { ...context, now: () => context.clock.now(), snapshotName: () => context.ids.next('attempt') }
}

/** Whether all names are allowed. */
export function isAmong(names: readonly string[], allowed: readonly string[]): boolean {
  const allowedNames = new Set(allowed)
  return names.every((one) => allowedNames.has(one))
}

/** The location of a snapshot with its machine, as the record stores it. */
export function withMachine(
  { machine }: Pick<Context, 'machine'>,
  location: SnapshotLocation,
): SnapshotLocation {
  return machine ? { ...location, machineId: machine.id, machineName: machine.name } : location
}

/** Accepts the time of a measurement by another machine, unless its clock is wrong. */
export function assertTime(
  { clock, machine }: Pick<Context, 'clock' | 'machine'>,
  measuredAt: number,
): number {
  const now = clock.now()
  if (!machine || (measuredAt <= now + maxAheadMs && measuredAt >= now - maxAgeMs)) return measuredAt
  throw new Failure(
    'INVALID_INPUT',
    `The machine measured at ${new Date(measuredAt).toISOString()}, which is not now.`,
    {
      reason: 'machine_clock_wrong',
      hint: 'Set the clock of that machine, and call again.',
    },
  )
}

const maxAheadMs = 1_000
const maxAgeMs = 60 * 60_000

/** The result of a measurement, which must be there by now. */
export function requireMeasured<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Something was decided before it was measured.')
  return value
}

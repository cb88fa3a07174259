import type { z } from 'zod'
import type { CommandApprovals, RemoteRunner } from '../../gate/ports/command-runner.ts'
import type { EvidenceFiles, PreviewStore } from '../../gate/ports/evidence-files.ts'
import type { FileCopies, LinkedTrees, WorkTreeWitness } from '../../git/ports/work-tree.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { Failure } from '../failure.ts'
import type { Answer, CommandContext, Context } from './operation.ts'

/** What can be measured on the machine that has the files. Nothing here writes into the work tree. */
export interface WorkTree
  extends Pick<Context, 'folder' | 'fingerprint' | 'planFiles' | 'processFiles' | 'setupFiles'> {
  readonly witness: Omit<WorkTreeWitness, 'settle' | 'sweep'>
  readonly linkedTrees: Pick<LinkedTrees, 'bound' | 'list' | 'losses'>
  readonly evidenceFiles: EvidenceFiles
  readonly shownContents: PreviewStore
  readonly copies?: Pick<FileCopies, 'contents' | 'amended' | 'linesOf'>
  readonly commandApprovals: Pick<
    CommandApprovals,
    'hashOf' | 'filesOf' | 'isApproved' | 'list' | 'refusalOf' | 'refused'
  > & { readonly trustsServer?: boolean }
  /** Only where commands run for a record that is kept elsewhere. */
  readonly remoteCommands?: RemoteRunner
  /** A name for a new snapshot. */
  readonly snapshotName: () => string
  /** By the clock of the record. */
  readonly now: () => number
}

/** A work tree with what an operation may write there, and in this machine's own lists. */
export interface WritableWorkTree extends WorkTree {
  readonly linkedTrees: LinkedTrees
  readonly commandApprovals: CommandApprovals & { readonly trustsServer?: boolean }
}

/**
 * One measurement: what is asked, what comes back, and how it is made. It runs where the files are, with no database; its
 * operation declares it, and on another machine nothing else is measured for the operation.
 */
export interface Measurement {
  readonly brief: z.ZodType
  readonly measured: z.ZodType
  /** Whether what came back is about what was asked, and nothing else. */
  fits?(brief: unknown, measured: unknown): boolean
  /** Hook events that came before it are recorded after it, before what it found is judged. */
  readonly drains?: true
  /** It writes: it gets a writable work tree, and is made at most once in a call. */
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

export type Readable<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Readable<Value[Key]> }
  : Value

export type BriefOf<Of extends Measurement> = Readable<z.output<Of['brief']>>
export type MeasurementOf<Of extends Measurement> = Readable<z.output<Of['measured']>>

export function measurement<Brief extends z.ZodType, Measured extends z.ZodType>(
  defined: MeasurementDefinition<Brief, Measured>,
): MeasurementDefinition<Brief, Measured> {
  return defined
}

export type Measurements = Readonly<Record<string, Measurement>>

/** What is to be measured, by the name of the measurement. */
export type Briefs<Of extends Measurements> = {
  readonly [Name in keyof Of]?: BriefOf<Of[Name]> | undefined
}

/** What was measured so far. */
export type MeasurementValues<Of extends Measurements> = {
  readonly [Name in keyof Of]?: MeasurementOf<Of[Name]>
}

/** What an operation reads before it measures, and what it wants measured by that. */
export interface PreparedOperation<Of extends Measurements, Found> {
  readonly briefs: Briefs<Of>
  readonly found: Found
  /** What is recorded or waited for before it is decided. It is prepared again afterwards. */
  readonly first?: PreparationStep | undefined
}

/** Is taken once in a request, when all that is asked for was measured. */
export interface PreparationStep {
  readonly name: string
  take(handling: CommandContext): Promise<void>
}

/** A brief with its hash, by which a machine says what it measured. */
export interface MeasurementRequest {
  readonly hash: string
  readonly brief: unknown
}

/** Has the measurements of an operation made where the files are. */
export type Measurer = (
  operation: { readonly name: string; readonly measurements: Measurements },
  asked: ReadonlyMap<string, MeasurementRequest>,
  input: Answer,
) => Promise<ReadonlyMap<string, unknown>>

/** The record changed what is to be measured since it was. */
class StateMovedError extends Error {}

const maxStarts = 10

export interface MeasurementRunParts<Of extends Measurements, Found> {
  readonly context: Pick<Context, 'store' | 'fingerprint' | 'drain'> & { readonly measurer: Measurer }
  readonly operation: { readonly name: string; readonly measurements: Of }
  readonly input: Answer
  /** Called until what was measured answers all that it asks. It reads only, and depends on nothing else. */
  readonly prepare: (
    reads: Reads,
    measured: MeasurementValues<Of>,
    taken: ReadonlySet<string>,
  ) => Promise<PreparedOperation<Of, Found>>
  readonly take?: (step: PreparationStep) => Promise<void>
}

/** Measures what an operation asks for, and knows under the lock whether it would still ask for the same. */
export class MeasurementRun<Of extends Measurements, Found> {
  readonly #parts: MeasurementRunParts<Of, Found>
  readonly #known = new Map<string, { readonly hash: string; readonly value: unknown }>()
  readonly #taken = new Set<string>()
  /** How often something was measured again. */
  #starts = 0

  constructor(parts: MeasurementRunParts<Of, Found>) {
    this.#parts = parts
  }

  /** Measures, then decides in a transaction; starts over where the record asks for something else by then. */
  async decided<Answered>(
    decide: (how: (reads: Reads) => Promise<SettledMeasurements<Of, Found>>) => Promise<Answered>,
  ): Promise<Answered> {
    for (;;) {
      await this.answered(async () => null)
      try {
        return await decide((reads) => this.#settled(reads))
      } catch (error) {
        if (!(error instanceof StateMovedError)) throw error
      }
    }
  }

  /** Measures until nothing more is asked, and answers in the view of the record that asked for nothing. */
  async answered<Answered>(
    answer: (settled: SettledMeasurements<Of, Found>) => Promise<Answered>,
  ): Promise<Answered> {
    const { context, operation, input, take } = this.#parts
    for (;;) {
      const step = await context.store.view(async (reads) => {
        const { asked, settled, first } = await this.#prepared(reads)
        if (asked.size > 0) return { asked }
        return first && !this.#taken.has(first.name) ? { first } : { answer: await answer(settled) }
      })
      if ('answer' in step) return step.answer
      if ('first' in step) {
        this.#taken.add(step.first.name)
        await take?.(step.first)
        continue
      }
      this.#count(step.asked)
      const measured = await context.measurer(operation, step.asked, input)
      for (const [name, { hash }] of step.asked) this.#known.set(name, { hash, value: measured.get(name) })
      if (drains(operation.measurements, step.asked)) await context.drain?.()
    }
  }

  /**
   * What is asked again was changed meanwhile in the record. Of what is new there are only so many names, so that ends by
   * itself: something that began meanwhile may need more of them than what there was at first.
   */
  #count(asked: ReadonlyMap<string, MeasurementRequest>): void {
    if (![...asked.keys()].every((name) => this.#known.has(name))) return
    this.#starts += 1
    if (this.#starts >= maxStarts) throw keepsChangingFailure(this.#parts.operation.name)
  }

  async #settled(reads: Reads): Promise<SettledMeasurements<Of, Found>> {
    const { asked, settled } = await this.#prepared(reads)
    if (asked.size > 0) throw new StateMovedError()
    return settled
  }

  async #prepared(reads: Reads) {
    const measured = this.#measured()
    const { briefs, found, first } = await this.#parts.prepare(reads, measured, this.#taken)
    return { asked: this.#asked(briefs), settled: { found, measured, reads }, first }
  }

  #measured(): MeasurementValues<Of> {
    const values = [...this.#known].map(([name, { value }]) => [name, value])
    return Object.fromEntries(values) as MeasurementValues<Of> // each by its measurement
  }

  /** What is asked and was not measured, or not for this brief. */
  #asked(briefs: Briefs<Of>): ReadonlyMap<string, MeasurementRequest> {
    const asked = questionsOf(briefs, this.#parts.context.fingerprint)
    return new Map([...asked].filter(([name, { hash }]) => this.#known.get(name)?.hash !== hash))
  }
}

/** What was read under the lock, and what was measured for exactly that. */
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

/** Has some of an operation's measurements made. */
export type Measure<Of extends Measurements> = <const Wanted extends Briefs<Of>>(
  briefs: Wanted,
) => Promise<{ readonly [Name in keyof Wanted & keyof Of]: MeasurementOf<Of[Name]> }>

export function measureFor<Of extends Measurements>({
  context,
  operation,
  input,
}: Omit<MeasurementRunParts<Of, never>, 'prepare'>): Measure<Of> {
  return async (briefs) => {
    const asked = questionsOf(briefs, context.fingerprint)
    const measured = await context.measurer(operation, asked, input)
    if (drains(operation.measurements, asked)) await context.drain?.()
    return Object.fromEntries(measured) as never // each by its measurement
  }
}

/** Something is not measured yet that the steps of a preparation go on with. */
class NotMeasuredError extends Error {}

/**
 * A preparation in steps of which each goes on with what the one before had measured: it ends at the first that was not
 * measured yet. A step measures something only once, under its name.
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
  const prepared = (found: Found) => ({ briefs: briefs as Briefs<Of>, found }) // each by its measurement
  try {
    return prepared(await steps(measure as Measure<Of>)) // each by its measurement
  } catch (error) {
    if (error instanceof NotMeasuredError) return prepared(undefined as Found) // it asks for more
    throw error
  }
}

function questionsOf(
  briefs: Readonly<Record<string, unknown>>,
  fingerprint: Context['fingerprint'],
): ReadonlyMap<string, MeasurementRequest> {
  const wanted = Object.entries(briefs).filter(([, brief]) => brief !== undefined)
  return new Map(wanted.map(([name, brief]) => [name, { brief, hash: fingerprint(brief) }]))
}

function drains(measurements: Measurements, asked: ReadonlyMap<string, MeasurementRequest>): boolean {
  return [...asked.keys()].some((name) => measurements[name]?.drains)
}

/** Measures on the machine that keeps the record. */
export function localMeasurer(context: Context): Measurer {
  const workTree = workTreeOf(context)
  return async ({ measurements }, asked, input) =>
    new Map(
      await Promise.all(
        [...asked].map(async ([name, { brief }]) => {
          return [name, await measurements[name]?.measure(workTree, brief, input)] as const
        }),
      ),
    )
}

function workTreeOf(context: Context): WritableWorkTree {
  return { ...context, now: () => context.clock.now(), snapshotName: () => context.ids.next('attempt') }
}

/** Whether one list names nothing that the other does not. */
export function isAmong(named: readonly string[], asked: readonly string[]): boolean {
  const known = new Set(asked)
  return named.every((one) => known.has(one))
}

/** A snapshot as the record names it: with the machine that it lies on. */
export function withMachine(
  { machine }: Pick<Context, 'machine'>,
  place: SnapshotLocation,
): SnapshotLocation {
  return machine ? { ...place, machineId: machine.id, machineName: machine.name } : place
}

/** When something was measured, as the record takes it from another machine. */
export function assertTime({ clock, machine }: Pick<Context, 'clock' | 'machine'>, at: number): number {
  const now = clock.now()
  if (!machine || (at <= now + maxAheadMs && at >= now - maxAgeMs)) return at
  throw new Failure(
    'INVALID_INPUT',
    `The machine measured at ${new Date(at).toISOString()}, which is not now.`,
    {
      reason: 'machine_clock_wrong',
      hint: 'Set the clock of that machine, and call again.',
    },
  )
}

const maxAheadMs = 1_000
const maxAgeMs = 60 * 60_000

/** What a round before this one measured. */
export function requireMeasured<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('Something was decided before it was measured.')
  return value
}

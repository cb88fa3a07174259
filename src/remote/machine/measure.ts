import { Failure, messageOf } from '../../kernel/failure.ts'
import { parseInput } from '../../kernel/operations/input/parse-input.ts'
import type { Measurement } from '../../kernel/operations/measurement-protocol.ts'
import type { Answer, Operation } from '../../kernel/operations/operation.ts'
import { type MeasureRequest, SentFailure, type SentMeasurement } from '../operations/remote-measurement.ts'
import { type ConfinedContext, confinedWorkTree, confinedWritableWorkTree, rootsOf } from './confinement.ts'

/** The context of the measurements on this machine. */
export interface MeasuringContext extends Omit<ConfinedContext, 'roots'> {
  /** The operation that a person or agent here called. */
  readonly called: string | undefined
  /** Whether something was written for the call. */
  readonly written: { done: boolean }
}

/**
 * Takes only the measurements that are declared by the operation called here. The input is the one given here.
 */
export async function measureLocally(
  { operation: named, asked: requests }: MeasureRequest,
  machineContext: MeasuringContext,
): Promise<readonly SentMeasurement[]> {
  const confined = { ...machineContext, roots: await rootsOf(machineContext.context) }
  const workTrees = { read: confinedWorkTree(confined), write: confinedWritableWorkTree(confined) }
  const operation = await operationCalled(machineContext.called)
  return Promise.all(
    requests.map(async ({ name, hash, brief }): Promise<SentMeasurement> => {
      try {
        const { measurement, input } = declaredMeasurement(operation, { named, name, machineContext })
        const read = measurement.brief.safeParse(brief)
        if (!read.success)
          throw measurementForbidden('unknown_measurement', `The request for ${name} is not understood.`)
        if (measurement.writes) assertFirst(machineContext)
        const workTree = measurement.writes ? workTrees.write : workTrees.read
        return { name, hash, measured: (await measurement.measure(workTree, read.data, input)) ?? null }
      } catch (error) {
        return { name, hash, failure: sentFailure(error) }
      }
    }),
  )
}

/** A call writes once; later requests of the server are refused. */
function assertFirst(machineContext: MeasuringContext): void {
  const { written } = machineContext
  if (!written.done) {
    written.done = true
    return
  }
  throw new Failure('CONFLICT', 'The record changed during this call, and it is not repeated.', {
    reason: 'applied_once',
    hint: 'Check the current state, and call again.',
  })
}

async function operationCalled(called: string | undefined): Promise<Operation | undefined> {
  const { catalog } = await import('../../kernel/operations/catalog.ts')
  return catalog.find(({ name, tool }) => called !== undefined && (name === called || tool === called))
}

function declaredMeasurement(
  operation: Operation | undefined,
  {
    named,
    name,
    machineContext,
  }: { readonly named: string; readonly name: string; readonly machineContext: MeasuringContext },
): { readonly measurement: Measurement; readonly input: Answer } {
  const all = operation?.name === named ? operation.measurements : undefined
  const measurement = all && Object.hasOwn(all, name) ? all[name] : undefined
  if (operation === undefined || measurement === undefined) {
    throw measurementForbidden(
      'unknown_measurement',
      `Refused a request of the server for "${name.slice(0, 100)}" of ${named.slice(0, 100)}: nobody on this machine asked for it.`,
    )
  }
  return { measurement, input: parseInput(operation, machineContext.input) }
}

function measurementForbidden(reason: string, message: string): Failure {
  return new Failure('FORBIDDEN', message, { reason, details: { reason } })
}

/** A failed measurement, as it is sent. */
function sentFailure(error: unknown): SentFailure {
  const { code, reason, hint, fix, details } =
    error instanceof Failure
      ? error
      : new Failure('INTERNAL', messageOf(error), { reason: 'unexpected_error' })
  return {
    code: sentCodes.find((one) => one === code) ?? 'INTERNAL',
    message: messageOf(error),
    ...(reason !== null && { reason }),
    ...(hint !== undefined && { hint }),
    ...(fix !== null && { fix: { operation: fix.operation, input: { ...fix.input } } }),
    ...(details !== undefined && { details }),
  }
}

const sentCodes = SentFailure.shape.code.options

import { isLeaseRunning } from '../../../kernel/lease.ts'
import type { RecordFunction } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { CommandResult } from '../../domain/run.ts'
import type { CommandRunner } from '../../ports/command-runner.ts'

/** How long a command on another machine counts as running without a renewal. */
export const commandLeaseMs = 60_000
const renewedEvery = 20_000

/** Whether a started command still runs: this machine knows its own, others are known by their lease. */
export async function isStillRunning(
  { machines }: Pick<Reads, 'machines'>,
  { id, runner, startedAt }: Pick<CommandResult, 'id' | 'runner' | 'startedAt'>,
  { isAlive, now }: Pick<CommandRunner, 'isAlive'> & { readonly now: number },
): Promise<boolean> {
  const isAliveLocally = isAlive(runner)
  if (isAliveLocally !== null) return isAliveLocally
  const until = (await machines.leasedUntil(id)) ?? startedAt + commandLeaseMs
  return isLeaseRunning(until, { now, length: commandLeaseMs })
}

/** Renews the lease of a command while it runs. Returns a function that stops it. */
export function keepLease(recordAside: RecordFunction, commandId: string): () => void {
  const renew = () => {
    const renewed = recordAside(async (_reads, { at }) => ({
      events: [],
      sideWrites: [{ kind: 'command leased', commandId, until: at + commandLeaseMs }],
      answer: null,
    }))
    renewed.catch(() => undefined) // a lease that is not renewed ends, and the command may be begun again
  }
  const timer = setInterval(renew, renewedEvery)
  return () => clearInterval(timer)
}

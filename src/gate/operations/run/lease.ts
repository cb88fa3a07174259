import { isLeaseRunning } from '../../../kernel/lease.ts'
import type { RecordFunction } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import type { CommandResult } from '../../domain/run.ts'
import type { CommandRunner } from '../../ports/command-runner.ts'

/** How long a command on another machine is believed to run without a word of it, in milliseconds. */
export const leaseOf = 60_000
const renewedEvery = 20_000

/** Whether a command that was begun still runs: this machine knows its own, of others their lease tells. */
export async function isStillRunning(
  { machines }: Pick<Reads, 'machines'>,
  { id, runner, startedAt }: Pick<CommandResult, 'id' | 'runner' | 'startedAt'>,
  { isAlive, now }: Pick<CommandRunner, 'isAlive'> & { readonly now: number },
): Promise<boolean> {
  const known = isAlive(runner)
  if (known !== null) return known
  const until = (await machines.leasedUntil(id)) ?? startedAt + leaseOf
  return isLeaseRunning(until, { now, length: leaseOf })
}

/** Keeps the lease of a command while it runs. Answers how to stop. */
export function keepLease(recordAside: RecordFunction, commandId: string): () => void {
  const renew = () => {
    const renewed = recordAside(async (_reads, { at }) => ({
      events: [],
      beside: [{ kind: 'command leased', commandId, until: at + leaseOf }],
      answer: null,
    }))
    renewed.catch(() => undefined) // a lease that is not renewed ends, and the command may be begun again
  }
  const timer = setInterval(renew, renewedEvery)
  return () => clearInterval(timer)
}

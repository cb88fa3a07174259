import { z } from 'zod'
import { settingOf } from '../../gate/domain/settings.ts'
import { recordDue } from '../../inbox/operations/record-due.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'

/** Snapshots of a closed attempt are kept for 30 days, in milliseconds. */
const day = 24 * 60 * 60 * 1000
const keptFor = 30 * day

export const prune = defineOperation({
  name: 'prune',
  command: 'prune',
  toolset: 'track',
  audience: 'both',
  title: 'Remove snapshots and outputs no longer needed',
  description:
    'Remove unused snapshots and expired diffs and outputs of commands, and mark silent attempts as stale. Servers do this automatically.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({
    removed_snapshots: z.int(),
    stale_attempts: z.int(),
    /** Removed diffs that were older than the setting retention_days, and the size of their texts. */
    removed_diffs: z.int(),
    /** The same for the output of commands. */
    removed_outputs: z.int(),
    /** The same for the diffs of attempts on other machines. */
    removed_contents: z.int(),
    removed_bytes: z.int(),
  }),
}).handler(async (context) => {
  const { store, witness, clock, record } = context
  // Nothing can be recorded, and reopening the project needs its snapshots.
  if ((await store.health()).ended !== null) return nothing
  const stale = await recordDue(context)
  const kept = await store.view(({ tasks }) => tasks.keptSnapshots(clock.now() - keptFor))
  const removed = await witness.sweep(kept)
  return record(async ({ runs, machines, reviews }) => {
    const days = Number(settingOf(await runs.settings(), 'retention_days'))
    const before = clock.now() - days * day
    const none = { count: 0, bytes: 0 }
    const old = days > 0 ? await machines.diffsBefore(before) : none
    const printed = days > 0 ? await runs.outputsBefore(before) : none
    const contents = days > 0 ? await reviews.contentsBefore(before) : none
    const answer = {
      removed_snapshots: removed,
      stale_attempts: stale,
      removed_diffs: old.count,
      removed_outputs: printed.count,
      removed_contents: contents.count,
      removed_bytes: old.bytes + printed.bytes + contents.bytes,
    }
    const sideWrites = [
      ...(old.count > 0 ? [{ kind: 'diffs removed' as const, before }] : []),
      ...(contents.count > 0 ? [{ kind: 'contents removed' as const, before }] : []),
      ...(printed.count > 0 ? [{ kind: 'outputs removed' as const, before, at: clock.now() }] : []),
    ]
    return { events: [], sideWrites, answer }
  })
})

const nothing = {
  removed_snapshots: 0,
  stale_attempts: 0,
  removed_diffs: 0,
  removed_outputs: 0,
  removed_contents: 0,
  removed_bytes: 0,
}

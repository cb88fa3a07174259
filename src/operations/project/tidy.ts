import { z } from 'zod'
import { noticeStaleAttempts } from '../inbox/inbox.ts'
import { defineOperation } from '../operation.ts'

/** How long the snapshots of a closed attempt are kept, in milliseconds: 30 days. */
const keptFor = 30 * 24 * 60 * 60 * 1000

export const tidy = defineOperation({
  name: 'tidy',
  command: 'tidy',
  toolset: 'track',
  audience: 'both',
  title: 'Tidy up',
  description:
    'Removes snapshots that nothing needs any longer and notices attempts that went silent. Servers do this by themselves.',
  kind: 'command',
  idempotent: true,
  input: z.strictObject({}),
  output: z.object({ removed_snapshots: z.int(), stale_attempts: z.int() }),
}).handler(async (handling) => {
  const { store, witness, clock, record } = handling
  // The snapshots are those of the place where the project is recorded now.
  if ((await store.health()).moved !== null) return { removed_snapshots: 0, stale_attempts: 0 }
  const stale = await noticeStaleAttempts(handling)
  const kept = await store.view(({ tasks }) => tasks.keptSnapshots(clock.now() - keptFor))
  const removed = await witness.sweep(kept)
  const answer = { removed_snapshots: removed, stale_attempts: stale }
  return record(async () => ({ facts: [], answer }))
})

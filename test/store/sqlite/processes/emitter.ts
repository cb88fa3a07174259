import type { RunEventId } from '../../../../src/kernel/id.ts'
import { agent } from '../../../support/entities.ts'
import { advanced, anEvent } from '../../run-events.ts'
import { storeOf } from './store-of.ts'

// Moves run-1 on until it moved it <count> times, each time from the revision that it read before it took the lock.
const [root = '', file = '', name = '', count = '0'] = process.argv.slice(2)
const store = storeOf(root, file)
for (let moved = 0; moved < Number(count); ) {
  const known = (await store.view(({ runs }) => runs.find('run-1')))?.revision
  const isAccepted = await store.record({
    actor: agent,
    at: Date.now(),
    decide: async ({ runs }) => {
      const revision = (await runs.load('run-1'))?.record.revision ?? 0
      if (revision !== known) return { events: [], answer: false }
      const event = anEvent(revision + 1, { id: `evt-${name}-${moved}` as RunEventId, author: name })
      return { events: [advanced(event)], answer: true }
    },
  })
  if (isAccepted) moved += 1
}
await store.close()

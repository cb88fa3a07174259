import { agent } from '../../../support/entities.ts'
import { storeOf } from './store-of.ts'

// Records one mission under an idempotency key and prints the answer, in which every process would say its own name.
const [root = '', file = '', name = '', key = ''] = process.argv.slice(2)
const store = storeOf(root, file)
const answer = await store.record({
  actor: agent,
  at: Date.now(),
  idempotency: { key, owner: 'ada', connection: null, operation: 'greet', inputHash: 'same' },
  decide: async () => ({ events: [], answer: { by: name } }),
})
process.stdout.write(`${JSON.stringify(answer)}\n`)
await store.close()

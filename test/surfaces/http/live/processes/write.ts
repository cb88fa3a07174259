import { setTimeout as sleep } from 'node:timers/promises'
import { happened } from '../../../../store/events.ts'
import { storeOf } from '../../../../store/sqlite/processes/store-of.ts'
import { roles } from '../roles.ts'

// Records log entries numbered from <first>, <count> of them, in transactions of one to five, with pauses.
const [root = '', file = '', first = '', count = ''] = process.argv.slice(2)
const store = storeOf(root, file)
for (let done = 0; done < Number(count); ) {
  const size = Math.min(1 + Math.floor(Math.random() * 5), Number(count) - done)
  await happened(store, Date.now(), ...roles(Number(first) + done, size))
  done += size
  await sleep(Math.random() * 8)
}
await store.close()

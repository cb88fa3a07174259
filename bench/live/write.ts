import { setTimeout as sleep } from 'node:timers/promises'
import type { TaskId } from '../../src/kernel/id.ts'
import { happened } from '../../test/store/events.ts'
import { storeOf } from '../../test/store/sqlite/processes/store-of.ts'

// Edits tasks at a rate, a transaction for each edit.
const [root = '', file = '', rate = '300', seconds = '10', tasks = '100'] = process.argv.slice(2)
const store = storeOf(root, file)
const total = Number(rate) * Number(seconds)
const started = performance.now()
for (let written = 0; written < total; written += 1) {
  const due = started + (written / Number(rate)) * 1000
  if (due > performance.now()) await sleep(due - performance.now())
  const taskId = `t-${written % Number(tasks)}` as TaskId // a brand
  await happened(store, Date.now(), { kind: 'task.edited', taskId, changes: { sortOrder: written } })
}
await store.close()
process.exit()

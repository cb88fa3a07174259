import { recordMission, storeOf } from './store-of.ts'

// Records missions <name>-1 … <name>-<count>, and prints each when it is acknowledged.
const [root = '', file = '', name = '', count = '0', anchorFolder] = process.argv.slice(2)
const store = storeOf(root, file, anchorFolder)
for (let number = 1; number <= Number(count); number += 1) {
  await recordMission(store, `${name}-${number}`)
  process.stdout.write(`${name}-${number}\n`)
}
await store.close()

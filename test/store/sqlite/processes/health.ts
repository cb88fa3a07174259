import { recordMission, storeOf } from './store-of.ts'

// Records missions m-x-1 … m-x-<count>, and prints what a store that is opened afterwards says about its database.
const [root = '', file = '', count = '0'] = process.argv.slice(2)
const writing = storeOf(root, file)
for (let number = 1; number <= Number(count); number += 1) await recordMission(writing, `m-x-${number}`)
await writing.close()
const store = storeOf(root, file)
process.stdout.write(`${JSON.stringify(await store.health())}\n`)
await store.close()

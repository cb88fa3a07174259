import { storeOf } from './store-of.ts'

// Prints what the store says about its database.
const [root = '', file = ''] = process.argv.slice(2)
const store = storeOf(root, file)
process.stdout.write(`${JSON.stringify(await store.health())}\n`)
await store.close()

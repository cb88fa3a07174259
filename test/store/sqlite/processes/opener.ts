import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordMission, storeOf } from './store-of.ts'

// Opens a project that may be fresh when the starting shot is there, a file, and records one mission.
const [root = '', file = '', name = '', shot = ''] = process.argv.slice(2)
const store = storeOf(root, file)
await store.health() // loads everything and creates nothing
process.stdout.write('ready\n')
while (!existsSync(shot)) await sleep(2)
const before = await store.view((reads) => reads.eventLog.head())
await recordMission(store, name)
const after = await store.view((reads) => reads.eventLog.head())
if (after <= before) throw new Error(`the log went from ${before} to ${after}`)
await store.close()

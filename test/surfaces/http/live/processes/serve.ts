import { storeOf } from '../../../../store/sqlite/processes/store-of.ts'
import { systemClock } from '../../../../support/store.ts'
import { openLiveServer } from '../live-server.ts'

// Serves the live feed of a database and prints its port.
const [root = '', file = ''] = process.argv.slice(2)
const server = await openLiveServer({ store: storeOf(root, file), clock: systemClock })
process.stdout.write(`${server.port}\n`)

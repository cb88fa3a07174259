import { storeOf } from '../../test/contract/store/sqlite/processes/store-of.ts'
import { openLiveServer } from '../../test/live/live-server.ts'
import { systemClock } from '../../test/support/store.ts'
import { tellUsage } from './parts.ts'

// Serves the live feed of a database.
const [root = '', file = ''] = process.argv.slice(2)
const server = await openLiveServer({ store: storeOf(root, file), clock: systemClock })
process.send?.(server.port)
tellUsage()

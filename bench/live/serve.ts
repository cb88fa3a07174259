import { storeOf } from '../../test/store/sqlite/processes/store-of.ts'
import { systemClock } from '../../test/support/store.ts'
import { openLiveServer } from '../../test/surfaces/http/live/live-server.ts'
import { tellUsage } from './parts.ts'

// Serves the live feed of a database.
const [root = '', file = ''] = process.argv.slice(2)
const server = await openLiveServer({ store: storeOf(root, file), clock: systemClock })
process.send?.(server.port)
tellUsage()

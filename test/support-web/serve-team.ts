import { openServingDay } from './serving-day.ts'
import { fillTeam, teamFolders } from './team-day.ts'

/** Serves the projects of a team, for looking at. It prints the address, and a token of each person to sign in with. */
const serving = await openServingDay({ team: true, folders: teamFolders })
const tokens = await fillTeam(serving)
process.stdout.write(`${serving.address}\n${JSON.stringify(tokens, null, 2)}\n`)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void serving.stop().then(() => process.exit()))

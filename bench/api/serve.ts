import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openProjects } from '../../src/app/serve/projects.ts'
import { openServer } from '../../src/app/serve/server.ts'
import { openMachinePeople } from '../../src/app/settings/machine-people.ts'
import { keepOwnTokens } from '../../src/people/operations/owner.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { TokenBuckets } from '../../src/surfaces/http/auth/security.ts'

// Waymark's server over an empty project, without limits of rate: the port and the token are told to the parent.

const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-bench-')))
const folder = join(home, 'shop')
execFileSync('git', ['init', '-q', folder])
const environment = { ...process.env, HOME: home, XDG_STATE_HOME: join(home, 'state') }
const [first] = openProjects({ named: [folder], environment, workingFolder: home })
const team = openMachinePeople(environment, folder)
const { agent: token } = await keepOwnTokens(team, team.owner, { at: Date.now(), ids: randomIds })
const unlimited = () => new TokenBuckets({ burst: 1e9, perSecond: 1e9 })
const quiet = () => undefined
const server = await openServer({
  projects: [first.served],
  team,
  host: '127.0.0.1',
  port: 0,
  allowedHosts: [],
  instance: 'bench',
  log: { debug: quiet, info: quiet, warn: console.error, error: console.error },
  rates: { requests: unlimited(), mistakes: unlimited() },
})
process.send?.({ port: server.port, token: token })

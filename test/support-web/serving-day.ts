import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closeContext } from '../../src/main/open-context.ts'
import { type OpenServer, openServer } from '../../src/main/serve/open-server.ts'
import { openProjects } from '../../src/main/serve/served-projects.ts'
import { TokenBuckets } from '../../src/surfaces/http/guard/token-buckets.ts'
import { serverEnvironment } from '../support/stdio-project.ts'
import { type Day, openDay, plantRepository } from './day.ts'

export interface ServingDay {
  readonly server: OpenServer
  readonly day: Day
  /** `http://127.0.0.1:<port>`. */
  readonly address: string
  /** A fresh address that logs a browser in as a person. */
  login(): string
  stop(): Promise<void>
}

const plenty = { burst: 100_000, perSecond: 100_000 }
const quiet = () => undefined

/** A real server over real repositories in temporary folders, with the dashboard that was built. */
export async function openServingDay(
  options: { readonly port?: number; readonly folders?: readonly string[]; readonly assets?: string } = {},
): Promise<ServingDay> {
  const { port = 0, folders = ['diffkit'], assets } = options
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'waymark-day-')))
  for (const folder of folders) {
    mkdirSync(join(home, folder))
    plantRepository(join(home, folder))
  }
  const environment = serverEnvironment(home)
  const named = folders.map((folder) => join(home, folder))
  const [first, ...others] = openProjects({ named, environment, workingFolder: home })
  const server = await openServer({
    projects: [first.served, ...others.map(({ served }) => served)],
    folder: join(home, 'server'),
    host: '127.0.0.1',
    port,
    allowedHosts: [],
    instance: 'day',
    log: { debug: quiet, info: quiet, warn: quiet, error: (message) => process.stderr.write(`${message}\n`) },
    rates: { requests: new TokenBuckets(plenty), mistakes: new TokenBuckets(plenty) },
    ...(assets !== undefined && { assets }),
  })
  const { tokens, codes } = server.security
  tokens.ownToken('person', 'Tess')
  const address = `http://127.0.0.1:${server.port}`
  const person = tokens.entries().find(({ kind }) => kind === 'person')
  return {
    server,
    day: openDay(first.context, 3.25),
    address,
    login: () => `${address}/login?code=${codes.make(person?.hash ?? '', Date.now())}`,
    stop: async () => {
      await server.stop()
      for (const { context } of [first, ...others]) await closeContext(context)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

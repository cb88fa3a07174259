import { join } from 'node:path'
import { openDemoProject } from '../../src/main/demo/demo-project.ts'
import { play } from '../../src/main/demo/play.ts'
import { closeContext } from '../../src/main/open-context.ts'
import { openServer } from '../../src/main/serve/open-server.ts'
import { openProjects } from '../../src/main/serve/served-projects.ts'
import { TokenBuckets } from '../../src/surfaces/http/guard/token-buckets.ts'
import { openDay } from './day.ts'
import type { ServingDay } from './serving-day.ts'

const plenty = { burst: 100_000, perSecond: 100_000 }
const quiet = () => undefined

/** A real server over the recorded day, all of which has happened; it ended a moment ago. */
export async function openRecordedDay(
  options: { readonly port?: number; readonly assets?: string } = {},
): Promise<ServingDay> {
  const { port = 0, assets } = options
  const demo = await openDemoProject()
  const { home, folder, environment, facts } = demo
  const [{ served, context }] = openProjects({ named: [folder], environment, workingFolder: home })
  await play(facts, { store: context.store, signal: new AbortController().signal, speed: null })
  const open = (at: number) =>
    openServer({
      projects: [served],
      folder: join(home, 'server'),
      host: '127.0.0.1',
      port: at,
      allowedHosts: [],
      instance: 'day',
      log: {
        debug: quiet,
        info: quiet,
        warn: quiet,
        error: (message) => process.stderr.write(`${message}\n`),
      },
      rates: { requests: new TokenBuckets(plenty), mistakes: new TokenBuckets(plenty) },
      ...(assets !== undefined && { assets }),
    })
  let server = await open(port)
  server.security.tokens.ownToken('person', 'Tess')
  const address = `http://127.0.0.1:${server.port}`
  const person = server.security.tokens.entries().find(({ kind }) => kind === 'person')
  return {
    day: openDay(context, 0),
    address,
    login: () => `${address}/login?code=${server.security.codes.make(person?.hash ?? '', Date.now())}`,
    interrupt: async () => {
      const at = server.port
      await server.stop()
      return async () => {
        server = await open(at)
      }
    },
    stop: async () => {
      await server.stop()
      await closeContext(context)
      demo.remove()
    },
  }
}

import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../../domain/failure.ts'
import { isTaken } from './listen.ts'
import { type OpenServer, openServer, type ServerOptions } from './open-server.ts'
import type { RunningServer } from './running-servers.ts'

const usualPort = 4747

/**
 * A port that was asked for is had or not; without one, any will do where the usual one is taken: unless by a server of
 * the same projects, which is answered then.
 */
export async function openAnywhere(
  options: Omit<ServerOptions, 'port'>,
  port: number | null,
  running: () => Promise<RunningServer | null>,
): Promise<OpenServer | RunningServer> {
  try {
    return await openServer({ ...options, port: port ?? usualPort })
  } catch (error) {
    if (!isTaken(error)) throw error
    if (port !== null) throw taken(port, options.host)
    return (await startedMeanwhile(running)) ?? openServer({ ...options, port: 0 })
  }
}

/** Two that were started together: the other one says that it runs a moment after it has the port. */
async function startedMeanwhile(running: () => Promise<RunningServer | null>): Promise<RunningServer | null> {
  for (let round = 0; round < 5; round += 1) {
    const found = await running()
    if (found) return found
    await sleep(100)
  }
  return null
}

function taken(port: number, host: string): Failure {
  return new Failure('UNAVAILABLE', `Port ${port} of ${host} is taken by another program, or not allowed.`, {
    hint: 'Choose another with --port, or leave --port out to get a free one.',
  })
}

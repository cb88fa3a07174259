import type { Actor } from '../../domain/actor.ts'
import { connectedAt } from '../edge/connected.ts'
import { closeContext, openContext } from '../open-context.ts'
import { readWords } from '../settings/flags.ts'
import { rootWithoutGit } from '../settings/moved.ts'
import { hasSpool, hostOf, type RecordMoments, recordingIn } from './drain-for.ts'

const quietFor = 30_000
const idleLook = 5 * 60_000

const recorder: Actor = { name: 'waymark drain', kind: 'agent', role: null, channel: 'cli' }

/** `waymark drain`: records what hooks told, and goes on until nothing came for half a minute. Hooks start it. */
export async function drain(words: readonly string[]): Promise<void> {
  const { positionals, text, has, mistaken } = readWords('drain', words)
  if (positionals[0] !== undefined) throw mistaken(`drain does not take ${positionals[0]}.`)
  const environment = process.env
  const workingFolder = process.cwd()
  const project = text('project')
  const root = rootWithoutGit({ flag: project, environment, workingFolder })
  if (!hasSpool(root)) return
  const { record, close } = await recordingAt({ project, environment, workingFolder })
  try {
    const { drainNow, drainUntilQuiet } = await import('../../capture/follow-spool.ts')
    if (has('once')) await drainNow(hostOf(root, record))
    else await drainUntilQuiet(hostOf(root, record), quietFor)
  } finally {
    await close()
  }
}

/** Where what hooks tell is recorded: here, or at the server that keeps the project. */
async function recordingAt(
  asked: Pick<Parameters<typeof openContext>[0], 'environment' | 'workingFolder' | 'project'>,
) {
  const opening = { ...asked, actor: recorder }
  const place = connectedAt({ ...asked, project: asked.project })
  if (place !== null) {
    const { openEdgeProject } = await import('../edge/open-edge.ts')
    const { record, close } = openEdgeProject(place, { ...opening, project: asked.project })
    return { record, close }
  }
  const context = openContext(opening)
  return { record: recordingIn(context), close: () => closeContext(context) }
}

/** Follows the spool of a project while a server of it runs here. Answers how to stop. */
export function keepDrained(folder: string, record: RecordMoments): () => Promise<void> {
  const root = rootWithoutGit({ flag: folder, environment: process.env, workingFolder: folder })
  let following: Promise<() => Promise<void>> | null = null
  let lastIdle = Date.now()
  const look = () => {
    if (!hasSpool(root)) return
    following ??= follow(root, record)
    if (Date.now() - lastIdle < idleLook) return
    lastIdle = Date.now()
    // Sessions of which nothing was heard for long are ended by whoever records next.
    following.then(() => record([])).catch(() => undefined)
  }
  const timer = setInterval(look, 2000).unref()
  return async () => {
    clearInterval(timer)
    const stop = await following?.catch(() => null)
    await stop?.()
  }
}

async function follow(root: string, record: RecordMoments): Promise<() => Promise<void>> {
  const { followSpool } = await import('../../capture/follow-spool.ts')
  return followSpool(hostOf(root, record))
}

import type { Actor } from '../../kernel/actor.ts'
import { hasQueue } from '../../sessions/capture/hook-queue.ts'
import { printJson } from '../../surfaces/cli/terminal.ts'
import { closeContext, openContext } from '../open-context.ts'
import { connectedPlace } from '../remote/remote-project-location.ts'
import { isJsonRequested, readWords } from '../settings/flags.ts'
import { rootWithoutGit } from '../settings/project-location.ts'
import { hostOf, type RecordHookEvents, recorderOf } from './ingest-for.ts'

const quietFor = 30_000
const idleCheckMs = 5 * 60_000

const recorder: Actor = { name: 'waymark ingest', kind: 'agent', role: null, channel: 'cli' }

/** `waymark ingest`: records hook events until none arrive for half a minute. Hooks start it. */
export async function ingest(words: readonly string[]): Promise<void> {
  const flags = readWords('ingest', words)
  const { positionals, text, has, flagFailure } = flags
  if (positionals[0] !== undefined) throw flagFailure(`ingest does not take ${positionals[0]}.`)
  const environment = process.env
  const workingFolder = process.cwd()
  const project = text('project')
  const root = rootWithoutGit({ flag: project, environment, workingFolder })
  const printWaiting = () => {
    if (isJsonRequested(flags)) printJson({ folder: root, waiting: hasQueue(root, environment) })
  }
  if (!hasQueue(root, environment)) return printWaiting()
  const { record, close } = await openRecorder({ project, environment, workingFolder })
  try {
    const { ingestNow, ingestUntilQuiet } = await import('../../sessions/capture/follow-queue.ts')
    if (has('once')) await ingestNow(hostOf(root, record))
    else await ingestUntilQuiet(hostOf(root, record), quietFor)
  } finally {
    await close()
  }
  printWaiting()
}

/** Opens the recorder of hook events: local, or the project's server. */
async function openRecorder(
  target: Pick<Parameters<typeof openContext>[0], 'environment' | 'workingFolder' | 'project'>,
) {
  const opening = { ...target, actor: recorder }
  const place = connectedPlace({ ...target, project: target.project })
  if (place !== null) {
    const { openRemoteProject: openMachineProject } = await import('../remote/open-remote.ts')
    const { record, close } = openMachineProject(place, { ...opening, project: target.project })
    return { record, close }
  }
  const context = openContext(opening)
  return { record: recorderOf(context), close: () => closeContext(context) }
}

/** Reads the hook queue of a project while its server runs here. Returns a function to stop. */
export function ingestContinuously(folder: string, record: RecordHookEvents): () => Promise<void> {
  const root = rootWithoutGit({ flag: folder, environment: process.env, workingFolder: folder })
  let following: Promise<() => Promise<void>> | null = null
  let lastIdle = Date.now()
  const readQueue = () => {
    if (!hasQueue(root, process.env)) return
    following ??= follow(root, record)
    if (Date.now() - lastIdle < idleCheckMs) return
    lastIdle = Date.now()
    // Any recorder also ends sessions that were silent for long.
    following.then(() => record([])).catch(() => undefined)
  }
  const timer = setInterval(readQueue, 2000).unref()
  return async () => {
    clearInterval(timer)
    const stop = await following?.catch(() => null)
    await stop?.()
  }
}

async function follow(root: string, record: RecordHookEvents): Promise<() => Promise<void>> {
  const { followQueues } = await import('../../sessions/capture/follow-queue.ts')
  return followQueues(hostOf(root, record))
}

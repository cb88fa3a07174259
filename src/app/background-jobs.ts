import type { Context } from '../kernel/operations/operation.ts'
import { ingestContinuously } from './capture/ingest-command.ts'
import { recorderOf } from './capture/ingest-for.ts'
import { measureLandings } from './landings.ts'

const firstAfter = 10_000
const again = 10 * 60_000

// It reads git's history: not at every commit, and without a new log entry only now and then.
const landedAgain = 2 * 60_000
const landedAtLeast = 10 * 60_000

/** Looks whether the branch moved. */
const landedIfMoved = 15_000

function landingJob(context: Context): () => Promise<void> {
  let last = { seq: -1, at: Number.NEGATIVE_INFINITY }
  return async () => {
    const { exists, ended, seq } = await context.store.health()
    const isDue = seq !== last.seq || context.clock.now() - last.at >= landedAtLeast
    if (!exists || ended !== null || !isDue) return
    await measureLandings(context)
    last = { seq: (await context.store.health()).seq, at: context.clock.now() }
  }
}

// Loaded late, to keep the start of a server fast.
async function pruneProject(context: Context): Promise<void> {
  const [{ invoke }, { prune }] = await Promise.all([
    import('../kernel/operations/invoke.ts'),
    import('../project/operations/prune.ts'),
  ])
  await invoke(prune, context, {})
}

/**
 * Runs background jobs, which never keep the process alive. Returns a function to stop them. Only a server measures what
 * landed: of the processes of agents there are many, and they have calls to answer.
 */
export function startBackgroundJobs(
  context: Context,
  log: (line: string) => void,
  { isServer = false }: { readonly isServer?: boolean } = {},
): () => Promise<void> {
  const stopPruning = repeatJob(
    firstAfter,
    again,
    () => pruneProject(context),
    (error) => log(`Tidying up: ${error}`),
  )
  const logLanding = (error: string) => log(`Measuring what landed: ${error}`)
  const stopMeasuring = isServer
    ? [
        repeatJob(landedAgain, landedAgain, landingJob(context), logLanding),
        repeatJob(landedIfMoved, landedIfMoved, async () => context.refreshLandings?.(), logLanding),
      ]
    : []
  const stopDraining = ingestContinuously(context.folder, recorderOf(context))
  const stopAnswering = answerHooks(context)
  return async () => {
    stopPruning()
    for (const stop of stopMeasuring) stop()
    await stopAnswering()
    await stopDraining()
  }
}

/** Milliseconds: after the first answers of a server. */
const hooksFirst = 500
const hooksAgain = 2_000

/** Answers hooks of the project once it has a record. */
function answerHooks(context: Context): () => Promise<void> {
  let close: (() => void) | null = null
  let running = Promise.resolve()
  const job = () => {
    running = (async () => {
      close ??= await (await import('./hook-server.ts')).answerHooks(context, process.env)
    })()
    return running
  }
  const stop = repeatJob(hooksFirst, hooksAgain, job, () => undefined)
  return async () => {
    stop()
    // A socket that is just being made is taken away, too.
    await running.catch(() => undefined)
    close?.()
  }
}

/** Runs a job again and again, and never twice at once. Times in milliseconds. */
function repeatJob(
  first: number,
  interval: number,
  job: () => Promise<void>,
  onFailure: (error: string) => void,
): () => void {
  let isRunning = false
  let isStopped = false
  const run = () => {
    if (isRunning) return
    isRunning = true
    // A project that cannot be opened fails at every call; no report is needed here.
    job()
      .catch((error: unknown) => {
        // What it reads is closed then.
        if (!isStopped) onFailure(String(error))
      })
      .finally(() => {
        isRunning = false
      })
  }
  const beginning = setTimeout(run, first).unref()
  const repeated = setInterval(run, interval).unref()
  return () => {
    isStopped = true
    clearTimeout(beginning)
    clearInterval(repeated)
  }
}

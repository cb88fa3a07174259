import type { Context } from '../kernel/operations/operation.ts'
import { ingestContinuously } from './capture/ingest-command.ts'
import { recorderOf } from './capture/ingest-for.ts'

const firstAfter = 10_000
const again = 10 * 60_000

// It reads git's history: not at every commit.
const landedAgain = 2 * 60_000

async function measureLandings(context: Context): Promise<void> {
  const [{ invoke }, { measureLanded }] = await Promise.all([
    import('../kernel/operations/invoke.ts'),
    import('../track/operations/landed.ts'),
  ])
  const { exists, ended } = await context.store.health()
  if (exists && ended === null) await invoke(measureLanded, context, {})
}

// Loaded late, to keep the start of a server fast.
async function pruneProject(context: Context): Promise<void> {
  const [{ invoke }, { prune }] = await Promise.all([
    import('../kernel/operations/invoke.ts'),
    import('../project/operations/prune.ts'),
  ])
  await invoke(prune, context, {})
}

/** Runs background jobs, which never keep the process alive. Returns a function to stop them. */
export function startBackgroundJobs(context: Context, log: (line: string) => void): () => Promise<void> {
  const stopPruning = repeatJob(
    firstAfter,
    again,
    () => pruneProject(context),
    (error) => log(`Tidying up: ${error}`),
  )
  const stopMeasuring = repeatJob(
    landedAgain,
    landedAgain,
    () => measureLandings(context),
    (error) => log(`Measuring what landed: ${error}`),
  )
  const stopDraining = ingestContinuously(context.folder, recorderOf(context))
  return async () => {
    stopPruning()
    stopMeasuring()
    await stopDraining()
  }
}

/** Runs a job again and again, and never twice at once. Times in milliseconds. */
function repeatJob(
  first: number,
  interval: number,
  job: () => Promise<void>,
  failed: (error: string) => void,
): () => void {
  let isRunning = false
  const run = () => {
    if (isRunning) return
    isRunning = true
    // A project that cannot be opened fails at every call; no report is needed here.
    job()
      .catch((error: unknown) => failed(String(error)))
      .finally(() => {
        isRunning = false
      })
  }
  const beginning = setTimeout(run, first).unref()
  const repeated = setInterval(run, interval).unref()
  return () => {
    clearTimeout(beginning)
    clearInterval(repeated)
  }
}

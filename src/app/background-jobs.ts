import type { Context } from '../kernel/operations/operation.ts'
import { ingestContinuously } from './capture/ingest-command.ts'
import { recorderOf } from './capture/ingest-for.ts'

const firstAfter = 10_000
const again = 10 * 60_000

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
  const stopPruning = pruneRegularly(context, log)
  const stopDraining = ingestContinuously(context.folder, recorderOf(context))
  return async () => {
    stopPruning()
    await stopDraining()
  }
}

/** Prunes, first after ten seconds. */
function pruneRegularly(context: Context, log: (line: string) => void): () => void {
  const pruneUp = () => {
    // A project that cannot be opened fails at every call; no report is needed here.
    pruneProject(context).catch((error: unknown) => log(`Tidying up: ${String(error)}`))
  }
  const first = setTimeout(pruneUp, firstAfter).unref()
  const repeated = setInterval(pruneUp, again).unref()
  return () => {
    clearTimeout(first)
    clearInterval(repeated)
  }
}

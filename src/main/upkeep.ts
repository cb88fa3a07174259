import type { Context } from '../operations/operation.ts'

const firstAfter = 10_000
const again = 10 * 60_000

// Loaded when it is time: a server that starts has more urgent things to load.
async function tidied(context: Context): Promise<void> {
  const [{ invoke }, { tidy }] = await Promise.all([
    import('../operations/invoke.ts'),
    import('../operations/project/tidy.ts'),
  ])
  await invoke(tidy, context, {})
}

/** Tidies up while a server runs, first after ten seconds, and never keeps it alive. Answers how to stop. */
export function keepTidy(context: Context, log: (line: string) => void): () => void {
  const tidyUp = () => {
    // A project that cannot be opened says so at every call; here it is no news.
    tidied(context).catch((error: unknown) => log(`Tidying up: ${String(error)}`))
  }
  const first = setTimeout(tidyUp, firstAfter).unref()
  const repeated = setInterval(tidyUp, again).unref()
  return () => {
    clearTimeout(first)
    clearInterval(repeated)
  }
}

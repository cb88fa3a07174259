import type { Context } from '../operations/context.ts'
import { invoke } from '../operations/invoke.ts'
import { tidy } from '../operations/project/tidy.ts'

const firstAfter = 10_000
const again = 10 * 60_000

/** Tidies up while a server runs, first after ten seconds, and never keeps it alive. Answers how to stop. */
export function keepTidy(context: Context, log: (line: string) => void): () => void {
  const tidyUp = () => {
    // A project that cannot be opened says so at every call; here it is no news.
    invoke(tidy, context, {}).catch((error: unknown) => log(`Tidying up: ${String(error)}`))
  }
  const first = setTimeout(tidyUp, firstAfter).unref()
  const repeated = setInterval(tidyUp, again).unref()
  return () => {
    clearTimeout(first)
    clearInterval(repeated)
  }
}

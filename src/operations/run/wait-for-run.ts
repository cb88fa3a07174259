import type { Happening } from '../../domain/fact.ts'
import type { Handling } from '../context.ts'

/**
 * Waits until a run is past a revision, or until something happened that its guards may look at: an approval, a decision
 * about a hold, the end of a command. At most so many milliseconds.
 */
export async function waitForRun(
  { store }: Pick<Handling, 'store'>,
  runId: string,
  { past, milliseconds }: { readonly past: number; readonly milliseconds: number },
): Promise<void> {
  const begin = await store.view(async ({ runs, journal }) => ({
    revision: (await runs.find(runId))?.revision ?? 0,
    head: await journal.head(),
  }))
  if (begin.revision > past) return
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), milliseconds)
  try {
    for await (const { happening } of store.follow(begin.head, over.signal)) {
      if (concerns(happening, runId)) return
    }
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

function concerns(happening: Happening, runId: string): boolean {
  if (happening.kind === 'hold.closed' || happening.kind === 'command.ended') return true
  return happening.kind !== 'run.refused' && 'runId' in happening && happening.runId === runId
}

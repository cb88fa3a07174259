import { once } from 'node:events'

/** Resolves with the signal by which the process is told to end. Told a second time by Ctrl-C, it ends at once. */
export async function untilTold(): Promise<string> {
  const told = new AbortController()
  const signal = await Promise.race(
    (['SIGINT', 'SIGTERM'] as const).map(async (name) => {
      await once(process, name, { signal: told.signal })
      return name
    }),
  )
  told.abort()
  process.once('SIGINT', () => process.exit(130))
  return signal
}

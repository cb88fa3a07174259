import { AsyncLocalStorage } from 'node:async_hooks'
import { afterAll, onTestFinished } from 'vitest'

type Ending = () => unknown

const sharing = new AsyncLocalStorage<Ending[]>()

/** Ends what a test has opened when the test is over, and what several tests share after the last of them. */
export function whenFinished(end: Ending): void {
  const endings = sharing.getStore()
  if (endings) endings.push(end)
  else
    onTestFinished(async () => {
      await end()
    })
}

/** Makes at the first call what all tests of a file read and none of them changes. */
export function shared<Made>(make: () => Promise<Made>): () => Promise<Made> {
  const endings: Ending[] = []
  let made: Promise<Made> | null = null
  afterAll(async () => {
    for (const end of endings.toReversed()) await end()
  })
  return () => {
    made ??= sharing.run(endings, make)
    return made
  }
}

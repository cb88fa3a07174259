import { expect, test, vi } from 'vitest'
import { wait, waitInBackground } from './wait.ts'

test.each([wait, waitInBackground])(
  '%o ends when the signal aborts, also one that did before',
  async (waits) => {
    const over = new AbortController()
    const waiting = waits(60_000, over.signal)
    over.abort()
    await waiting
    await waits(60_000, over.signal)
  },
)

test('it ends after its time, and leaves nothing at the signal', async () => {
  const { signal } = new AbortController()
  const removed = vi.spyOn(signal, 'removeEventListener')
  await wait(1, signal)
  expect(removed).toHaveBeenCalledOnce()
  await waitInBackground(1, signal)
})

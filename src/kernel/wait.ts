/** Waits for a time, or until a signal aborts. */
export function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) return Promise.resolve()
  const timer = setTimeout(end, milliseconds)
  signal.addEventListener('abort', end)
  return promise

  function end() {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    resolve()
  }
}

/** The same, without keeping the process alive. */
export function waitInBackground(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const over = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)])
  return new Promise((resolve) => over.addEventListener('abort', () => resolve(), { once: true }))
}

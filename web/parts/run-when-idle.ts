/** Does something once the browser has nothing else to do; not every one says when. Answers its stop. */
export function runWhenIdle(run: () => void): () => void {
  if (typeof requestIdleCallback !== 'function') {
    const timer = setTimeout(run, 60)
    return () => clearTimeout(timer)
  }
  const asked = requestIdleCallback(run, { timeout: 1_500 })
  return () => cancelIdleCallback(asked)
}

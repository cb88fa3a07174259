/** Lets a server answer others meanwhile: waits a turn of the event loop when the last one is some milliseconds ago. */
export function breath(milliseconds = 8): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < milliseconds) return undefined
    return new Promise((resolve) => {
      setImmediate(() => {
        since = performance.now()
        resolve()
      })
    })
  }
}

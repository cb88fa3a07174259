import type { Server } from 'node:http'

/** How long requests that run may take to be answered when the server ends, in milliseconds. */
const patience = 5_000
const look = 50

/** Stops listening, ends what stays open by itself, and waits for what is being answered. */
export async function drained(server: Server, endStreams: () => Promise<void>): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  // A connection that is kept alive is closed as soon as its request was answered.
  const looking = setInterval(() => server.closeIdleConnections(), look)
  const deadline = setTimeout(() => server.closeAllConnections(), patience)
  try {
    await endStreams()
    await closed
  } finally {
    clearInterval(looking)
    clearTimeout(deadline)
  }
}

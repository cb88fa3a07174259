import { createServer } from 'node:net'

// Below those that the system gives to whoever asks for any: nobody is given one of them while its owner is away.
const lowest = 20_000
const count = 10_000

/** A port of this machine on which nobody listens. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = lowest + Math.floor(Math.random() * count)
    if (await isFree(port)) return port
  }
  throw new Error('there is no free port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

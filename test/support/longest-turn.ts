/** The watchdog of what must not freeze the event loop: what one turn may take of the processor, in milliseconds. */
export const longestAllowed = 50

/**
 * The longest turn of the event loop while something is done, in milliseconds of this thread's processor time: what
 * others do on a busy machine does not count, and what they cost this one (a shared core, a cold cache) is taken out by a
 * yardstick: the same reading of JSON, that takes six milliseconds on a quiet machine. The best of three rounds, because compiling and collecting garbage fall
 * into one turn or another, while a freeze is there each time.
 */
export async function longestTurn(work: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3 && best > longestAllowed / 2; round += 1) {
    best = Math.min(best, (await turnOf(work)) / Math.max(1, yardstick() / 6))
  }
  return best
}

/** The same of something that cannot be done twice. */
export async function longestTurnOnce(work: () => unknown): Promise<number> {
  return (await turnOf(work)) / Math.max(1, yardstick() / 6)
}

const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` })))

function yardstick(): number {
  const rounds = [1, 2, 3].map(() => {
    const began = used()
    JSON.parse(text)
    return used() - began
  })
  return rounds.toSorted((a, b) => a - b)[1] ?? 0
}

async function turnOf(work: () => unknown): Promise<number> {
  let longest = 0
  let last = 0
  let watching = true
  const look = () => {
    const now = used()
    longest = Math.max(longest, now - last)
    last = now
    if (watching) setImmediate(look)
  }
  await new Promise(setImmediate)
  last = used()
  setImmediate(look)
  try {
    await work()
  } finally {
    await new Promise(setImmediate)
    watching = false
  }
  return longest
}

function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The watchdog of what must not freeze the event loop: what one turn may take of the processor, in milliseconds. */
export const maxAllowedLength = 50

/**
 * The longest turn of the event loop while something is done, in milliseconds of this thread's processor time: what
 * others do on a busy machine does not count, and what they cost this one (a shared core, a cold cache) is taken out by a
 * yardstick: the same reading of JSON, that takes six milliseconds on a quiet machine. It is done again while it is longer
 * than allowed, because compiling and collecting garbage fall into one turn or another, and others slow one down and not
 * the yardstick, while a freeze is there each time.
 */
export async function maxTurnMs(work: () => unknown, allowed = maxAllowedLength): Promise<number> {
  return maxTurnAnewMs(async () => work, allowed, 12)
}

/** The same of something that cannot be done twice: `prepare` answers it anew for each round. */
export async function maxTurnAnewMs(
  prepare: () => Promise<() => unknown>,
  allowed: number,
  rounds = 3,
): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; best >= allowed && round < rounds; round += 1) {
    const turn = await turnOf(await prepare())
    // What is short enough as it is needs no yardstick.
    best = Math.min(best, turn < allowed ? turn : turn / slowdown())
  }
  return best
}

const text = JSON.stringify(Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}` })))

/** How many times as long as on a quiet machine this thread takes for the same, at least once. */
export function slowdown(): number {
  return Math.max(1, yardstick() / 6)
}

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

/** The processor time of this thread so far, in milliseconds. */
export function used(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

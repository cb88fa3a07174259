const tick = 20

/**
 * Milliseconds until something has happened, of those in which this process was awake: while it waits for a core, others
 * wait too, and what they are given to do in so many milliseconds takes longer by the clock of the wall.
 */
export async function awakeTime(happened: Promise<unknown>): Promise<number> {
  let awake = 0
  let last = performance.now()
  const count = () => {
    const now = performance.now()
    awake += Math.min(now - last, tick * 1.5)
    last = now
  }
  const counting = setInterval(count, tick)
  try {
    await happened
  } finally {
    clearInterval(counting)
  }
  count()
  return awake
}

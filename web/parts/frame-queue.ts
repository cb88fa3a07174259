const waiting: (() => void)[] = []

/** At most so many in one frame: each draws a block of lines, or takes one away. */
const eachFrame = 2

/** Does what nobody waits for a few at a time, so that no frame becomes long. */
export function runInFrames(work: () => void): void {
  if (waiting.push(work) === 1) requestAnimationFrame(runNextFrame)
}

function runNextFrame(): void {
  for (const work of waiting.splice(0, eachFrame)) work()
  if (waiting.length > 0) requestAnimationFrame(runNextFrame)
}

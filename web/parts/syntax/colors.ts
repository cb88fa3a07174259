import type { ColorRange } from '../../geometry/line-parts.ts'
import type { ReviewHunk, ReviewLine } from '../../geometry/review-rows.ts'
import { runWhenIdle } from '../run-when-idle.ts'
import type { HighlightResult } from './syntax-worker.ts'

/** The colours of lines, by side and number: `new12`. */
export type ColorsByLine = ReadonlyMap<string, readonly ColorRange[]>

let worker: Worker | null = null
let last = 0
const waiting = new Map<number, (done: HighlightResult['colours']) => void>()

/** The highlighter lives beside the page, so that it never holds up a frame; it comes when it is first asked. */
function ask(path: string, texts: readonly (readonly string[])[]): Promise<HighlightResult['colours']> {
  worker ??= start()
  last += 1
  const id = last
  return new Promise((resolve) => {
    waiting.set(id, resolve)
    worker?.postMessage({ id, path, texts })
  })
}

function start(): Worker {
  const started = new Worker(new URL('./syntax-worker.ts', import.meta.url), { type: 'module' })
  started.onmessage = ({ data }: MessageEvent<HighlightResult>) => {
    waiting.get(data.id)?.(data.colours)
    waiting.delete(data.id)
  }
  return started
}

const sides = ['old', 'new'] as const

/** Colours the lines of a file when the browser has time. `tell` hears of each part; answers its stop. */
export function colorLines(
  path: string,
  hunks: readonly ReviewHunk[],
  tell: (found: ColorsByLine) => void,
): () => void {
  let stopped = false
  const begin = async () => {
    const texts = hunks.flatMap(({ lines }) =>
      sides.map((side) => lines.filter((line) => isOnSide(line, side))),
    )
    const colours = await ask(
      path,
      texts.map((lines) => lines.map(({ text }) => text)),
    )
    if (stopped) return
    const found = new Map<string, readonly ColorRange[]>()
    for (const [at, lines] of texts.entries()) {
      const side = sides[at % 2] ?? 'new'
      for (const [place, line] of lines.entries()) {
        const ranges = colours[at]?.[place]
        if (ranges && ranges.length > 0) found.set(`${side}${line[side] ?? 0}`, ranges)
      }
    }
    tell(found)
  }
  const cancel = runWhenIdle(() => void begin())
  return () => {
    stopped = true
    cancel()
  }
}

function isOnSide(line: ReviewLine, side: 'old' | 'new'): boolean {
  return line.kind === ' ' || line.kind === (side === 'old' ? '-' : '+')
}

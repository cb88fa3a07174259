import type { Coloured } from '../../geometry/line-parts.ts'
import type { ReviewHunk, ReviewLine } from '../../geometry/review-rows.ts'
import { whenIdle } from '../when-idle.ts'
import type { ColouringDone } from './syntax-worker.ts'

/** The colours of lines, by side and number: `new12`. */
export type ColoursByLine = ReadonlyMap<string, readonly Coloured[]>

let worker: Worker | null = null
let last = 0
const waiting = new Map<number, (done: ColouringDone['colours']) => void>()

/** The highlighter lives beside the page, so that it never holds up a frame; it comes when it is first asked. */
function ask(path: string, texts: readonly (readonly string[])[]): Promise<ColouringDone['colours']> {
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
  started.onmessage = ({ data }: MessageEvent<ColouringDone>) => {
    waiting.get(data.id)?.(data.colours)
    waiting.delete(data.id)
  }
  return started
}

const sides = ['old', 'new'] as const

/** Colours the lines of a file when the browser has time. `tell` hears of each part; answers its stop. */
export function colourLines(
  path: string,
  hunks: readonly ReviewHunk[],
  tell: (found: ColoursByLine) => void,
): () => void {
  let stopped = false
  const begin = async () => {
    const texts = hunks.flatMap(({ lines }) => sides.map((side) => lines.filter((line) => isOf(line, side))))
    const colours = await ask(
      path,
      texts.map((lines) => lines.map(({ text }) => text)),
    )
    if (stopped) return
    const found = new Map<string, readonly Coloured[]>()
    for (const [at, lines] of texts.entries()) {
      const side = sides[at % 2] ?? 'new'
      for (const [place, line] of lines.entries()) {
        const ranges = colours[at]?.[place]
        if (ranges && ranges.length > 0) found.set(`${side}${line[side] ?? 0}`, ranges)
      }
    }
    tell(found)
  }
  const cancel = whenIdle(() => void begin())
  return () => {
    stopped = true
    cancel()
  }
}

function isOf(line: ReviewLine, side: 'old' | 'new'): boolean {
  return line.kind === ' ' || line.kind === (side === 'old' ? '-' : '+')
}

import type { Stretch } from './time-fold.ts'
import { contentX, foldWidth, type TimeScale, timeAt, timeScale, type View } from './time-scale.ts'

/** Most pixels that a millisecond may have: 60 for a second. */
const closest = 0.06

/** The view that shows all of the time in a width, with `after` pixels free behind it. */
export function fitView(stretches: readonly Stretch[], width: number, after = 0): View {
  const room = Math.max(width - after, foldWidth)
  const idle = stretches.filter((stretch) => stretch.idle).map(({ from, to }) => to - from)
  const longest = idle.toSorted((a, b) => b - a)
  const total = stretches.reduce((sum, { from, to }) => sum + to - from, 0)
  let [rest, folds] = [total, 0]
  let perMs = room / Math.max(rest, 1)
  // Each stretch that folds leaves more room to the others, so that shorter ones come to fold too.
  for (const duration of longest) {
    if (duration * perMs <= foldWidth) break
    rest -= duration
    folds += 1
    perMs = Math.max(room - folds * foldWidth, foldWidth) / Math.max(rest, 1)
  }
  return { perMs: Math.min(perMs, closest), left: 0 }
}

/** Nearer by a factor above 1, farther by one below, with the time under `x` staying there. */
export function zoomAround(
  stretches: readonly Stretch[],
  scale: TimeScale,
  { x, factor }: { readonly x: number; readonly factor: number },
): View {
  const farthest = fitView(stretches, 200).perMs
  const perMs = Math.min(Math.max(scale.perMs * factor, farthest), closest)
  const held = timeAt(scale, x)
  return { perMs, left: contentX(timeScale(stretches, { perMs, left: 0 }), held) - x }
}

/** A view that does not leave the time: at least half the width stays filled where there is enough to fill it. */
export function clampView(stretches: readonly Stretch[], view: View, width: number): View {
  const total = timeScale(stretches, view).width
  const last = Math.max(total - width / 2, 0)
  const first = Math.min(0, -(width / 2 - Math.min(total, width / 2)))
  return { ...view, left: Math.min(Math.max(view.left, first), last) }
}

/** The view with a time in its middle. */
export function centred(
  stretches: readonly Stretch[],
  { perMs }: View,
  { at, width }: { readonly at: number; readonly width: number },
): View {
  return { perMs, left: contentX(timeScale(stretches, { perMs, left: 0 }), at) - width / 2 }
}

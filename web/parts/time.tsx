import { signal } from '@preact/signals'
import { clockText, durationText, wholeTimeText } from './duration.ts'

interface TimeProps {
  /** ISO 8601. */
  readonly at: string
}

/** When it was: `11:28`. */
export function TimeOfDay({ at }: TimeProps) {
  const time = Date.parse(at)
  return (
    <time dateTime={at} title={wholeTimeText(time)}>
      {clockText(time, now.peek())}
    </time>
  )
}

/** How long ago it was, counting on: `22m`. */
export function Since({ at }: TimeProps) {
  const time = Date.parse(at)
  return (
    <time dateTime={at} title={wholeTimeText(time)}>
      {durationText(now.value - time)}
    </time>
  )
}

/** The time, once a second for everything that shows one. Stands still while no one looks. */
export const now = signal(Date.now())

setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 1_000)

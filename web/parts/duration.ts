const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long, in at most two units: `42s`, `7m`, `1h 05m`, `3d 4h`. */
export function durationText(milliseconds: number): string {
  // Whole seconds, rounded as in every answer of the server.
  const length = Math.max(0, Math.round(milliseconds / 1_000)) * 1_000
  if (length < minute) return `${length / 1_000}s`
  if (length < hour) return `${Math.floor(length / minute)}m`
  if (length < day) {
    const minutes = Math.floor((length % hour) / minute)
    return `${Math.floor(length / hour)}h ${String(minutes).padStart(2, '0')}m`
  }
  return `${Math.floor(length / day)}d ${Math.floor((length % day) / hour)}h`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const dated = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
})
const whole = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'medium' })

/** `11:28` today, `14 Nov, 11:28` on another day. */
export function clockText(at: number, now: number): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString()
  return (isToday ? clock : dated).format(at)
}

export function wholeTimeText(at: number): string {
  return whole.format(at)
}

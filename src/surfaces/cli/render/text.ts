/** The age of an ISO 8601 time: `12 s ago`, `5 min ago`, `3 h ago`, `2026-01-15`. Empty for no time. */
export function formatAge(time: string, now: number): string {
  const at = Date.parse(time)
  if (Number.isNaN(at)) return ''
  const seconds = Math.max(0, Math.round((now - at) / 1000))
  if (seconds < 60) return `${seconds} s ago`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`
  if (seconds < 14 * 86_400) return `${Math.floor(seconds / 86_400)} d ago`
  return time.slice(0, 10)
}

/** A duration: `42 s`, `5 min`, `2 h 5 min`. */
export function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0
    ? `${Math.floor(minutes / 60)} h`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** `2026-01-15 10:00:00` in the local time zone. */
export function clockTime(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return time
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`
}

/** A sentence with its ISO 8601 times as people say them: `14:05`, or `2026-01-15 14:05` on another day. */
export function withLocalTimes(text: string, now: number): string {
  const today = clockTime(new Date(now).toISOString()).slice(0, 11)
  return text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => {
    const minute = clockTime(time).slice(0, 16)
    return minute.startsWith(today) ? minute.slice(11) : minute
  })
}

/** `21:13` in the local time zone. */
export function timeOfDay(time: string): string {
  return clockTime(time).slice(11, 16) || time
}

/** The day of a time as a heading: `Today`, `Yesterday`, `Friday, 27 November 2026`. */
export function dayText(time: string, now: number): string {
  const day = (at: number) => clockTime(new Date(at).toISOString()).slice(0, 10)
  const at = Date.parse(time)
  if (Number.isNaN(at)) return time
  if (day(at) === day(now)) return 'Today'
  if (day(at) === day(now - 86_400_000)) return 'Yesterday'
  return new Date(at).toLocaleDateString('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    year: 'numeric',
  })
}

/** A file's name on one line: its line breaks must not fake a line of output. */
export function escapeLineBreaks(path: string): string {
  return path.replace(/\n/g, '\\n').replace(/\t/g, '\\t')
}

/** A string, number or boolean as text; empty for anything else. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** An agent with the person behind it: `builder (Ada)`. */
export function withPerson(agent: string, person: string | null): string {
  return person === null ? agent : `${agent} (${person})`
}

import { Failure } from '../failure.ts'

/** When a person is not told, by the clock of a time zone: `22:00` to `07:30`, over midnight where it ends before it begins. */
export interface QuietHours {
  readonly begins: string
  readonly ends: string
  /** Of the IANA database, such as `Europe/Berlin`. */
  readonly zone: string
}

export function isQuiet(quiet: QuietHours | null, now: number): boolean {
  if (quiet === null) return false
  const time = clockIn(quiet.zone, now)
  const { begins, ends } = quiet
  return begins < ends ? time >= begins && time < ends : time >= begins || time < ends
}

/** `09:05`: what a clock in a time zone shows. */
function clockIn(zone: string, now: number): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).format(now)
}

/** Reads `22:00-07:30` or `22-7`. Fails with INVALID_INPUT. */
export function readQuietHours(words: string, zone: string): QuietHours {
  const [, fromHour, fromMinute = '00', toHour, toMinute = '00'] =
    /^\s*(\d{1,2})(?::(\d{2}))?\s*(?:-|–|to)\s*(\d{1,2})(?::(\d{2}))?\s*$/.exec(words) ?? []
  const [begins, ends] = [timeOf(fromHour, fromMinute), timeOf(toHour, toMinute)]
  if (begins === null || ends === null || begins === ends) {
    throw new Failure('INVALID_INPUT', `"${words.slice(0, 60)}" are no quiet hours.`, {
      hint: 'Write when they begin and end, such as 22:00-07:30; or off.',
    })
  }
  return { begins, ends, zone: knownZone(zone) }
}

function timeOf(hour: string | undefined, minute: string): string | null {
  if (hour === undefined || Number(hour) > 23 || Number(minute) > 59) return null
  return `${hour.padStart(2, '0')}:${minute}`
}

function knownZone(zone: string): string {
  try {
    clockIn(zone, 0)
    return zone
  } catch {
    throw new Failure('INVALID_INPUT', `There is no time zone "${zone.slice(0, 60)}".`, {
      hint: 'Name one of the IANA database, such as Europe/Berlin, America/New_York or UTC.',
    })
  }
}

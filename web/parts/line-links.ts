import { href } from '../router/location.ts'

/** Longer texts of a line are cut in an address. */
const maxText = 120

interface LineTarget {
  readonly line: number
  /** What it is where it is named: by it the line is found again after it moved. */
  readonly text?: string
  /** A commit; empty for the file on disk. */
  readonly rev?: string
}

/** The address of a file with whose each line is, and of one of its lines. */
export function linesOf(file: string, place?: LineTarget): string {
  const asked = new URLSearchParams({ file })
  if (place !== undefined) {
    asked.set('line', String(place.line))
    const text = place.text?.trim().slice(0, maxText) ?? ''
    if (text !== '') asked.set('text', text)
    if (place.rev) asked.set('rev', place.rev)
  }
  return href(`/lines?${asked}`)
}

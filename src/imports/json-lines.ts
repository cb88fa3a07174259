import { parsedJson } from './parsed-json.ts'

export interface JsonLine {
  readonly place: string
  readonly value: unknown
}

/** The lines of a JSONL text that are not empty, and a problem for each that is not JSON. */
export function jsonLines(text: string): {
  readonly lines: readonly JsonLine[]
  readonly problems: string[]
} {
  const lines: JsonLine[] = []
  const problems: string[] = []
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '') continue
    const place = `line ${index + 1}`
    const parsed = parsedJson(line)
    if (parsed.readable) lines.push({ place, value: parsed.value })
    else problems.push(`${place}: ${parsed.problem}`)
  }
  return { lines, problems }
}

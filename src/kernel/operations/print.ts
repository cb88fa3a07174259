import type { Answer } from './operation.ts'

/** taskman's text form: one `key: value` line per field, the title first; entries of a list separated by `---`. */
export function printAsText(entry: unknown): string {
  if (Array.isArray(entry)) return entry.map(printAsText).join('\n---\n')
  if (typeof entry !== 'object' || entry === null) return String(entry)
  const fields = Object.entries(entry)
  const leading = ['title', 'name', 'content', 'description', 'status', 'role']
  const rank = ([key]: readonly [string, unknown]): number => {
    const place = leading.indexOf(key)
    return place === -1 ? leading.length : place
  }
  return [...fields]
    .sort((a, b) => rank(a) - rank(b))
    .map(([key, value]) => `${key}: ${valueText(value)}`)
    .join('\n')
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value)) return value.map(valueText).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** One entity, bare. */
export function printEntity(answer: Answer, input: Answer): readonly string[] {
  return [input['format'] === 'text' ? printAsText(answer) : JSON.stringify(answer)]
}

/** A plain list; if it was cut, a second block has the cursor. */
export function printList(key: string): (answer: Answer, input: Answer) => readonly string[] {
  return (answer, input) => {
    const entries = answer[key]
    const isEmpty = Array.isArray(entries) && entries.length === 0
    const words = isEmpty ? `There are no ${key} to show.` : printAsText(entries)
    const text = input['format'] === 'text' ? words : JSON.stringify(entries)
    const cursor = answer['next_cursor']
    if (typeof cursor !== 'string' || !Array.isArray(entries)) return [text]
    const total = `${answer['total_is_minimum'] === true ? 'more than ' : ''}${String(answer['total'])}`
    return [text, `${entries.length} of ${total}; next: cursor "${cursor}"`]
  }
}

/** The changed entity; an edit that names nothing to change prints nothing, as taskman's does. */
export function printEditedEntity(answer: Answer, input: Answer): readonly string[] {
  const fields = Object.keys(input).filter((key) => !['id', 'format', 'asked', 'brief'].includes(key))
  return fields.length === 0 ? [''] : printEntity(answer, input)
}

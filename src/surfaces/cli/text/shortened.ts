/** A text in one line, cut where it is long. */
export function shortened(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`
}

/** A name of the record as words: `bug_encountered` is `bug encountered`, `sortOrder` is `sort order`. */
export function plainWord(word: string): string {
  return word
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
}

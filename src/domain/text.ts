/** A text cut to a length, with `…` in the place of the rest. */
export function excerpt(text: string, longest = 240): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** `1 file`, `3 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** A text in one line, cut where it is long. */
export function shortened(text: string): string {
  return excerpt(text.replace(/\s+/g, ' '), 100)
}

/** A name of the record as words: `bug_encountered` is `bug encountered`, `sortOrder` is `sort order`. */
export function plainWord(word: string): string {
  return word
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
}

/** A text shortened to a length, ending with `…`. */
export function excerpt(text: string, longest = 240): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** `1 file`, `3 files`. */
export function formatCount(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

/** `one`, `one and two`, `one, two and three`. */
export function joinNames(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** A text in one line, shortened. */
export function shortenText(text: string): string {
  return excerpt(text.replace(/\s+/g, ' '), 100)
}

/** A text in one line, shortened, without control characters. */
export function plainLine(text: string, longest: number): string {
  const line = text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Bidi_Control}\u200B\u2028\u2029]/gu, '')
  return excerpt(line.trim(), longest).toWellFormed()
}

/** A name of the record as words: `bug_encountered` is `bug encountered`, `sortOrder` is `sort order`. */
export function plainWord(word: string): string {
  return word
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
}

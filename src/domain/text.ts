/** A text cut to a length, with `…` in the place of the rest. */
export function excerpt(text: string, longest = 240): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** `1 file`, `3 files`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`
}

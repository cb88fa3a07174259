/** A command for a person to copy: each value in it is one word, which no shell expands. */
export function shellCommand(
  parts: TemplateStringsArray,
  ...words: readonly (string | number | null | undefined)[]
): string {
  return String.raw({ raw: parts }, ...words.map((word) => quoteShellWord(String(word ?? ''))))
}

/** Quotes a word for a POSIX shell: nothing in it is expanded or run. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

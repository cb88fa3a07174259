/** A word as a POSIX shell reads it back: whatever it holds, nothing in it is expanded or run. */
export function quoteShellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Blanks HTML comments, keeping every line where it is. A comment that never ends is left as text. */
export function withoutComments(text: string): string {
  const kept: string[] = []
  let at = 0
  for (;;) {
    const start = text.indexOf('<!--', at)
    const end = start === -1 ? -1 : text.indexOf('-->', start + 4)
    if (end === -1) return kept.join('') + text.slice(at)
    kept.push(text.slice(at, start), text.slice(start, end + 3).replace(/[^\r\n]/g, ' '))
    at = end + 3
  }
}

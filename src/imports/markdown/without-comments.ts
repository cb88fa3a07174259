/** Blanks HTML comments, keeping every line where it is. A comment that never ends is left as text. */
export function withoutComments(text: string): string {
  return text.replace(/<!--[\s\S]*?-->/g, (comment) => comment.replace(/[^\r\n]/g, ' '))
}

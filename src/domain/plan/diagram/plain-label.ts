/** One line without control characters, lone surrogates and signs that turn the direction of text around. */
export function plainLabel(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/\p{Bidi_Control}/gu, '')
    .trim()
  return line === '' ? ' ' : line
}

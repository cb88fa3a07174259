/** One line without control characters, lone surrogates and signs that turn the direction of text around. */
export function plainLabel(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '')
    .trim()
  return line === '' ? ' ' : line
}

/** A part of a description that another program keeps in a field of its own. */
export interface DescriptionPart {
  /** Null for the description itself. */
  readonly title: string | null
  readonly text: string | null
}

/** Parts under their titles; those without text are left out. A short one takes one line. */
export function descriptionText(parts: readonly DescriptionPart[]): string | null {
  const written = parts.flatMap(({ title, text }) => {
    const body = text?.replace(/\r\n?/g, '\n').trim() ?? ''
    if (body === '') return []
    return title === null ? [{ text: body, short: false }] : [titled(title, body)]
  })
  if (written.length === 0) return null
  return written
    .map(({ text, short }, at) => (at === 0 ? '' : short && written[at - 1]?.short ? '\n' : '\n\n') + text)
    .join('')
}

function titled(title: string, body: string): { readonly text: string; readonly short: boolean } {
  const short = !body.includes('\n') && body.length <= 80
  return { text: short ? `${title}: ${body}` : `## ${title}\n\n${body}`, short }
}

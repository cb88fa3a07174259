import { createHash } from 'node:crypto'

/** Our section in a text that people write. Its markers carry the hash of the lines between them. */
export function sectionText(lines: readonly string[], eol = '\n'): string {
  const body = lines.join('\n')
  return [`<!-- waymark:begin ${hashOf(body)} -->`, ...lines, '<!-- waymark:end -->', ''].join(eol)
}

export type SectionState =
  | { readonly state: 'missing' }
  /** `text` is the whole section with its markers. */
  | { readonly state: 'current' | 'stale' | 'edited'; readonly text: string }

export function sectionIn(text: string, lines: readonly string[]): SectionState {
  const found = /<!-- waymark:begin ([0-9a-f]*) -->\r?\n([\s\S]*?)\r?\n?<!-- waymark:end -->(?:\r?\n)?/.exec(
    text,
  )
  if (!found) return { state: 'missing' }
  const [whole, hash = '', body = ''] = found
  const is = hashOf(body.replaceAll('\r\n', '\n'))
  if (is !== hash) return { state: 'edited', text: whole }
  return { state: is === hashOf(lines.join('\n')) ? 'current' : 'stale', text: whole }
}

function hashOf(body: string): string {
  return createHash('sha256').update(body).digest('hex').slice(0, 12)
}

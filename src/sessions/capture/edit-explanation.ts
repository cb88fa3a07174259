import type { PayloadEdit, Replacement } from './queued-event.ts'

/**
 * Whether the payload's edit alone explains a file's content after a call. Null if the payload does not describe the
 * edit, or the content before it is unknown.
 */
export function isExplained(
  edit: PayloadEdit | null,
  {
    path,
    before,
    after,
  }: { readonly path: string; readonly before: string | null; readonly after: string | null },
): boolean | null {
  const wanted = contentAfterEdit(edit, { path, before })
  if (wanted === undefined) return null
  return wanted === null || after === null ? wanted === after : sameLines(wanted) === sameLines(after)
}

/** The content that a call alone leaves; null if it leaves no file, undefined if unknown. */
export function contentAfterEdit(
  edit: PayloadEdit | null,
  { path, before }: { readonly path: string; readonly before: string | null },
): string | null | undefined {
  if (edit === null) return undefined
  if (edit.kind === 'content') return edit.content
  if (edit.kind === 'patch') return applyPatch(edit.patch, { path, before })
  if (before === null) {
    const [only, other] = edit.strings
    // An edit of nothing makes a file.
    return only?.from === '' && other === undefined ? only.to : undefined
  }
  let content: string = sameLines(before)
  for (const replacement of edit.strings) content = applyReplacement(content, replacement)
  return content
}

function applyReplacement(content: string, { from, to, all }: Replacement): string {
  const wanted = sameLines(from)
  if (wanted === '') return content === '' ? to : content
  if (all) return content.replaceAll(wanted, () => sameLines(to))
  return content.replace(wanted, () => sameLines(to))
}

// Editors keep a file's own line ends, whatever the payload has.
function sameLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The part of a patch that is about one file, applied to it. */
function applyPatch(
  patch: string,
  { path, before }: { readonly path: string; readonly before: string | null },
): string | null | undefined {
  const files = sameLines(patch).split(/^(?=\*\*\* (?:Add|Update|Delete) File: )/m)
  const here = path.replaceAll('\\', '/')
  const isHere = (name: string) => {
    const named = name.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '')
    return here === named || here.endsWith(`/${named}`)
  }
  for (const part of files) {
    const [, verb, given = ''] = /^\*\*\* (Add|Update|Delete) File: (.+)$/m.exec(part) ?? []
    if (verb === undefined) continue
    const named = given.trimEnd()
    const movedTo = /^\*\*\* Move to: (.+)$/m.exec(part)?.[1]?.trimEnd()
    if (verb === 'Update' && movedTo !== undefined) {
      if (isHere(named) && !isHere(movedTo)) return null
      if (isHere(movedTo)) return undefined
    }
    if (!isHere(named)) continue
    if (verb === 'Delete') return null
    const lines = part.split('\n').slice(1)
    if (verb === 'Add') {
      const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
      return added.map((line) => `${line}\n`).join('')
    }
    return before === null ? undefined : applyUpdate(lines, sameLines(before))
  }
  return undefined
}

function applyUpdate(lines: readonly string[], before: string): string | undefined {
  const content = before.split('\n')
  const parts: (readonly string[])[] = []
  let from = 0
  for (const hunk of hunksOf(lines)) {
    const old = hunk.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
    const now = hunk.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
    const at = indexOfLines(content, old, from)
    if (at === -1) return undefined
    parts.push(content.slice(from, at), now)
    from = at + old.length
  }
  return [...parts, content.slice(from)].flat().join('\n')
}

/** The index at which some lines begin in others, found in one pass (Knuth, Morris and Pratt). */
function indexOfLines(lines: readonly string[], wanted: readonly string[], from: number): number {
  const borders = [0]
  for (let at = 1, length = 0; at < wanted.length; at += 1) {
    while (length > 0 && wanted[at] !== wanted[length]) length = borders[length - 1] ?? 0
    if (wanted[at] === wanted[length]) length += 1
    borders.push(length)
  }
  for (let at = from, length = 0; at <= lines.length; at += 1) {
    if (length === wanted.length) return at - length
    while (length > 0 && lines[at] !== wanted[length]) length = borders[length - 1] ?? 0
    if (lines[at] === wanted[length]) length += 1
  }
  return -1
}

function hunksOf(lines: readonly string[]): readonly (readonly string[])[] {
  const hunks: string[][] = []
  for (const line of lines) {
    if (line.startsWith('@@')) hunks.push([])
    else if (/^[ +-]/.test(line)) {
      if (hunks.length === 0) hunks.push([])
      hunks.at(-1)?.push(line)
    } else if (line === '' && hunks.length > 0 && hunks.at(-1)?.length) hunks.at(-1)?.push(' ')
  }
  return hunks.map(withoutLastBlank).filter((hunk) => hunk.length > 0)
}

// The line break before the end of a patch is not a line of it.
function withoutLastBlank(hunk: readonly string[]): readonly string[] {
  return hunk.at(-1) === ' ' ? hunk.slice(0, -1) : hunk
}

import type { PayloadEdit, Replacement } from './event.ts'

/**
 * Whether a file's content after a call is what stood there with the payload's edit, and nothing else. Null where it
 * cannot be told: the payload does not say what the edit was, or what stood there is not known.
 */
export function isExplained(
  edit: PayloadEdit | null,
  {
    path,
    before,
    after,
  }: { readonly path: string; readonly before: string | null; readonly after: string | null },
): boolean | null {
  const wanted = meantBy(edit, { path, before })
  if (wanted === undefined) return null
  return wanted === null || after === null ? wanted === after : sameLines(wanted) === sameLines(after)
}

/** The content that a call alone leaves behind; null where it leaves no file, undefined where it cannot be told. */
export function meantBy(
  edit: PayloadEdit | null,
  { path, before }: { readonly path: string; readonly before: string | null },
): string | null | undefined {
  if (edit === null) return undefined
  if (edit.kind === 'content') return edit.content
  if (edit.kind === 'patch') return patched(edit.patch, { path, before })
  if (before === null) {
    const [only, other] = edit.strings
    // An edit of nothing makes a file.
    return only?.from === '' && other === undefined ? only.to : undefined
  }
  let content: string = sameLines(before)
  for (const replacement of edit.strings) content = replaced(content, replacement)
  return content
}

function replaced(content: string, { from, to, all }: Replacement): string {
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
function patched(
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
    const [, verb, named = ''] = /^\*\*\* (Add|Update|Delete) File: (.+?)[ \t]*$/m.exec(part) ?? []
    if (verb === undefined) continue
    const movedTo = /^\*\*\* Move to: (.+?)[ \t]*$/m.exec(part)?.[1]
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
    return before === null ? undefined : updated(lines, sameLines(before))
  }
  return undefined
}

function updated(lines: readonly string[], before: string): string | undefined {
  let content = before.split('\n')
  let from = 0
  for (const hunk of hunksOf(lines)) {
    const old = hunk.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
    const now = hunk.filter((line) => !line.startsWith('-')).map((line) => line.slice(1))
    const at = content.findIndex(
      (_, start) => start >= from && old.every((line, n) => content[start + n] === line),
    )
    if (at === -1) return undefined
    content = [...content.slice(0, at), ...now, ...content.slice(at + old.length)]
    from = at + now.length
  }
  return content.join('\n')
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

// The line break before the end of a patch is no line of it.
function withoutLastBlank(hunk: readonly string[]): readonly string[] {
  return hunk.at(-1) === ' ' ? hunk.slice(0, -1) : hunk
}

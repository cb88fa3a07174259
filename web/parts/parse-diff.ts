/** A file of a unified diff. */
export interface FileDiff {
  readonly path: string
  readonly hunks: readonly DiffHunk[]
  /** Why there are no lines: binary, or only the name or the mode changed. */
  readonly notes: readonly string[]
}

interface DiffHunk {
  readonly header: string
  readonly lines: readonly DiffTextLine[]
}

interface DiffTextLine {
  readonly kind: 'same' | 'added' | 'deleted' | 'note'
  readonly old: number | null
  readonly new: number | null
  readonly text: string
}

/** Parses the output of git diff. Lines outside the hunks become notes. */
export function parseDiff(text: string): readonly FileDiff[] {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  const files: { path: string; hunks: { header: string; lines: DiffTextLine[] }[]; notes: string[] }[] = []
  let [old, next, oldLeft, newLeft] = [0, 0, 0, 0]
  for (const line of lines) {
    const file = files.at(-1)
    const hunk = file?.hunks.at(-1)
    if (hunk && (oldLeft > 0 || newLeft > 0) && /^[ +-]/.test(line)) {
      const kind = kinds[line[0] ?? ' '] ?? 'same'
      hunk.lines.push({
        kind,
        old: kind === 'added' ? null : old,
        new: kind === 'deleted' ? null : next,
        text: line.slice(1),
      })
      if (kind !== 'added') [old, oldLeft] = [old + 1, oldLeft - 1]
      if (kind !== 'deleted') [next, newLeft] = [next + 1, newLeft - 1]
      continue
    }
    if (line.startsWith('diff --git ')) {
      files.push({ path: pathOfHeader(line), hunks: [], notes: [] })
      ;[oldLeft, newLeft] = [0, 0]
      continue
    }
    if (!file) continue
    const [, oldStart, oldCount, newStart, newCount, rest] =
      /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/.exec(line) ?? []
    if (oldStart !== undefined) {
      ;[old, next] = [Number(oldStart), Number(newStart)]
      ;[oldLeft, newLeft] = [Number(oldCount ?? 1), Number(newCount ?? 1)]
      file.hunks.push({ header: `@@ −${oldStart} +${newStart} @@${rest ?? ''}`, lines: [] })
    } else if (line.startsWith('\\ '))
      hunk?.lines.push({ kind: 'note', old: null, new: null, text: line.slice(2) })
    else if (line.startsWith('+++ b/')) file.path = unquoteDiffPath(line.slice(6))
    else if (line.startsWith('rename to ')) file.path = unquoteDiffPath(line.slice(10))
    else if (!gitHeader.test(line)) file.notes.push(line)
  }
  return files
}

const kinds: Readonly<Record<string, DiffTextLine['kind']>> = { '+': 'added', '-': 'deleted', ' ': 'same' }
/** Lines of git before the hunks that say nothing more than the path. */
const gitHeader = /^(index |--- |\+\+\+ )/

/** `diff --git a/x b/x`: both names are the same where there is neither `+++` nor a rename. */
function pathOfHeader(line: string): string {
  const names = line.slice('diff --git '.length)
  const [, same] = /^"?a\/(.*?)"? "?b\/\1"?$/.exec(names) ?? []
  return unquoteDiffPath(same ?? names)
}

function unquoteDiffPath(path: string): string {
  return path.replace(/\t$/, '').replace(/^"(.*)"$/, '$1')
}

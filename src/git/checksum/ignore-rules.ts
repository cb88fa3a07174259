import { hash } from 'node:crypto'
import ignore, { type Ignore } from 'ignore'
import type { PathBytes } from '../path-bytes.ts'

/** The ignore files that hold in a folder: its own, and those of the folders above it. */
export interface IgnoreRules {
  /** The folder of the nearest one, ending with `/`, or `''`. */
  readonly base: PathBytes
  readonly own: Ignore | null
  readonly above: IgnoreRules | null
  /** All of them are as they were at the earlier scan, so that what was listed then is listed now. */
  readonly unchanged: boolean
}

export function topRules(unchanged: boolean): IgnoreRules {
  return { base: '', own: null, above: null, unchanged }
}

/** The rules inside a folder. `text` is its ignore file, if it has one. */
export function rulesWithin(
  above: IgnoreRules,
  base: PathBytes,
  file: { readonly text: string | null; readonly earlier: string | undefined },
): IgnoreRules {
  const { text, earlier } = file
  const unchanged = above.unchanged && earlier === (text === null ? undefined : rulesHash(text))
  if (text === null) return unchanged === above.unchanged ? above : { ...above, unchanged }
  const own = ignore({ ignorecase: isCaseBlind, allowRelativePaths: true }).add(text)
  return { base, own, above, unchanged }
}

export function rulesHash(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Whether a path (folders end with `/`) is left out. The nearest ignore file that speaks of it decides. */
export function isIgnored(rules: IgnoreRules, path: PathBytes): boolean {
  for (let level: IgnoreRules | null = rules; level !== null; level = level.above) {
    if (level.own === null) continue
    const answer = level.own.test(path.slice(level.base.length))
    if (answer.ignored) return true
    if (answer.unignored) return false
  }
  return false
}

const isCaseBlind = process.platform === 'win32' || process.platform === 'darwin'

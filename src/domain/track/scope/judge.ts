import type { FileChange } from '../changes.ts'
import { fileKind } from './file-kind.ts'
import { scopePath } from './path.ts'
import { coverage, isDeclared, isGuarded, type Scope } from './scope.ts'

/** How a changed file stands to the declared areas. Only `out` breaks a scope; `imported` was not the task's work. */
export type FileVerdict = 'in' | 'companion' | 'shared' | 'out' | 'imported'

/** A verdict by path alone, without a change's origin. */
export type PathVerdict = Exclude<FileVerdict, 'imported'>

/** The verdict on one path: for an edit that has not happened yet, too. */
export function judgePath(scope: Scope, path: string): PathVerdict {
  const covers = coverage(scope, path)
  if (covers === 'covered') return 'in'
  if (covers === 'excluded' || isGuarded(scopePath(path, scope.prefix))) return 'out'
  const kind = fileKind(path)
  if (kind === 'source') return 'out'
  return kind === 'lock' ? 'companion' : 'shared'
}

/** The verdict on one change: the best that any of the declared scopes gives, and the worse end of a rename. */
export function judgeChange(scopes: readonly Scope[], change: FileChange): FileVerdict {
  if (change.origin === 'imported') return 'imported'
  const declared = scopes.filter(isDeclared)
  const ends = change.from === undefined ? [change.path] : [change.from, change.path]
  return ends.map((path) => best(declared.map((scope) => judgePath(scope, path)))).reduce(worse)
}

const RANK = { in: 0, companion: 1, shared: 2, out: 3 } as const satisfies Record<PathVerdict, number>

function worse(a: PathVerdict, b: PathVerdict): PathVerdict {
  return RANK[b] > RANK[a] ? b : a
}

function best(verdicts: readonly PathVerdict[]): PathVerdict {
  return verdicts.reduce((better, verdict) => (RANK[verdict] < RANK[better] ? verdict : better), 'out')
}

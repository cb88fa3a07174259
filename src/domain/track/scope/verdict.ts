import type { ChangeReport, FileChange } from '../changes.ts'
import { type FileVerdict, judgeChange } from './judge.ts'
import { isDeclared, type Scope } from './scope.ts'
import { scopeWarnings } from './warnings.ts'

export interface JudgedChange {
  readonly change: FileChange
  /** Null when no areas were declared: there is nothing to judge against. */
  readonly scope: FileVerdict | null
}

export interface ScopeVerdict {
  /** Null when no areas were declared or the changes are unknown: never true for "I do not know". */
  readonly scopeMatch: boolean | null
  /** The paths judged `out`, in the order of the report. */
  readonly unexpectedFiles: readonly string[]
  readonly warnings: readonly string[]
  /** Every change of the report, in its order. */
  readonly files: readonly JudgedChange[]
}

/** Judges a report's changes. `alsoAllowed` answers, for a path, other scopes that may allow it: a descendant attempt's. */
export function judgeScope(
  scope: Scope,
  report: Pick<ChangeReport, 'status' | 'changes'>,
  alsoAllowed: (path: string) => readonly Scope[] = () => [],
): ScopeVerdict {
  if (!isDeclared(scope)) {
    const files = report.changes.map((change) => ({ change, scope: null }))
    return { scopeMatch: null, unexpectedFiles: [], warnings: [], files }
  }
  const files = report.changes.map((change) => ({
    change,
    scope: judgeChange([scope, ...alsoAllowed(change.path)], change),
  }))
  const unexpectedFiles = files.filter((file) => file.scope === 'out').map((file) => file.change.path)
  return {
    scopeMatch: report.status === 'unknown' ? null : unexpectedFiles.length === 0,
    unexpectedFiles,
    warnings: scopeWarnings(scope, files),
    files,
  }
}

import type { Evidence } from '../../../domain/fact.ts'
import type { ChangeFacts } from '../../../domain/gate/evidence.ts'
import { type SharedKind, sharedKind } from '../../../domain/track/scope/file-kind.ts'
import { judgePath } from '../../../domain/track/scope/judge.ts'
import { isDeclared, parseScope, type Scope } from '../../../domain/track/scope/scope.ts'
import type { Attempt } from '../../../domain/track/task.ts'
import type { ChangedFile, RunSubject } from '../../../ports/reads/run-reads.ts'
import type { Reads } from '../../../ports/store.ts'

/** What the open attempts of a run's subject changed up to now. */
export type OpenChanges = ReadonlyMap<string, Evidence>

/**
 * All that the attempts at a run's subject changed: as it was stored when they were completed, as it was just measured
 * for open ones. Files that a person accepted by resolving a scope hold count as in scope.
 */
export async function changeFacts(
  reads: Reads,
  subject: RunSubject | null,
  measured: OpenChanges,
): Promise<ChangeFacts | null> {
  if (subject === null) return null
  const attempts = (await reads.runs.attemptsOf(subject)).filter(({ status }) => status !== 'abandoned')
  if (attempts.length === 0) return null
  const closed = attempts.filter(({ status }) => status !== 'open')
  const stored = await reads.runs.changesOf(closed.map(({ id }) => id))
  const open = attempts.filter(({ status }) => status === 'open').map(({ id }) => measured.get(id) ?? null)
  const files = [
    ...stored.flatMap(({ changes }) => changes),
    ...open.flatMap((evidence) => evidence?.changes ?? []),
  ].filter(({ scope }) => scope !== 'imported')
  const complete =
    stored.every(({ verification }) => verification !== null && verification !== 'unknown') &&
    open.every((evidence) => evidence !== null && evidence.verification !== 'unknown')
  const accepted = await acceptedPaths(reads, attempts)
  return { complete, ...judged(files, attempts, accepted) }
}

function judged(
  files: readonly ChangedFile[],
  attempts: readonly Attempt[],
  accepted: ReadonlySet<string>,
): Pick<ChangeFacts, 'files' | 'undeclared'> {
  const scopes = attempts
    .map(({ areas, snapshot }) => parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }))
    .filter(isDeclared)
  const byPath = new Map<string, { inScope: boolean; shared: SharedKind | null }>()
  const inAreas = new Set(files.flatMap(({ path, scope }) => (scope === 'in' ? [path] : [])))
  const isNamed = (path: string) =>
    inAreas.has(path) || accepted.has(path) || scopes.some((scope) => judgePath(scope, path) === 'in')
  const undeclared: string[] = []
  for (const { path, from, scope } of files) {
    // What no attempt's areas judged may be covered by those of another attempt; what was judged out stays out.
    const covered = scope === null ? coveredBy(scopes, path) : scope !== 'out'
    const inScope = covered || accepted.has(path)
    if (scope === null && !inScope) undeclared.push(path)
    // Of a rename, both ends were touched.
    const unnamed = [path, from].find((end) => end != null && !isNamed(end) && sharedKind(end) !== null)
    const before = byPath.get(path)
    byPath.set(path, {
      inScope: (before?.inScope ?? true) && inScope,
      shared: before?.shared ?? (unnamed == null ? null : sharedKind(unnamed)),
    })
  }
  return {
    undeclared: [...new Set(undeclared)],
    files: [...byPath].map(([path, judgement]) => ({ path, ...judgement })),
  }
}

function coveredBy(scopes: readonly Scope[], path: string): boolean {
  return scopes.some((scope) => judgePath(scope, path) !== 'out')
}

async function acceptedPaths(reads: Reads, attempts: readonly Attempt[]): Promise<ReadonlySet<string>> {
  const accepted = new Set<string>()
  for (const { id, status } of attempts) {
    // An open attempt has no scope hold yet.
    if (status === 'open') continue
    for (const hold of await reads.holds.ofAttempt(id)) {
      if (hold.kind === 'scope' && hold.status === 'resolved')
        for (const path of hold.paths) accepted.add(path)
    }
  }
  return accepted
}

import { type Author, identityOf } from '../../../domain/actor.ts'
import { judgePath } from '../../../domain/track/scope/judge.ts'
import { isDeclared, parseScope } from '../../../domain/track/scope/scope.ts'
import type { Attempt } from '../../../domain/track/task.ts'
import type { RunSubject } from '../../../ports/reads/run-reads.ts'
import type { Context } from '../../context.ts'
import type { OpenChanges } from './change-facts.ts'

/** The measured changes of a mission or task, as they are on disk now: what an approval `of: changes` is bound to. */
export interface MeasuredChanges {
  readonly files: readonly { readonly path: string; readonly sha256: string | null }[]
  /** People who did some of it themselves. */
  readonly authors: readonly Author[]
}

/**
 * Every file that an attempt of the subject changed, with the hash of what is there now; and what was touched since the
 * last of them ended, except by the work of others. Null where nothing was begun, or a part cannot be measured.
 */
export async function measuredChanges(
  context: Context,
  subject: RunSubject | null,
  measured: OpenChanges,
): Promise<MeasuredChanges | null> {
  if (subject === null) return null
  const { attempts, stored } = await context.store.view(async ({ runs }) => {
    const all = (await runs.attemptsOf(subject)).filter(({ status }) => status !== 'abandoned')
    const ended = all.filter(({ status }) => status !== 'open').map(({ id }) => id)
    return { attempts: all, stored: await runs.changesOf(ended) }
  })
  if (attempts.length === 0) return null
  const byAttempt = new Map(stored.map((one) => [one.attemptId as string, one]))
  const paths = new Map<string, Set<string>>()
  for (const attempt of attempts) {
    const changed = measured.get(attempt.id) ?? byAttempt.get(attempt.id)
    if (!changed || changed.verification === null || changed.verification === 'unknown') return null
    const own = pathsIn(paths, attempt.snapshot.top)
    for (const { path, from, scope } of changed.changes) {
      if (scope === 'imported') continue
      own.add(path)
      if (from !== undefined) own.add(from)
    }
  }
  for (const last of lastEnded(attempts)) {
    const later = await touchedLater(context, last, attempts)
    if (later === null) return null
    for (const path of later) pathsIn(paths, last.snapshot.top).add(path)
  }
  return { files: await hashed(context, paths), authors: authorsOf(attempts) }
}

function pathsIn(paths: Map<string, Set<string>>, top: string): Set<string> {
  const known = paths.get(top) ?? new Set()
  paths.set(top, known)
  return known
}

/** The last attempt of each work tree in which none is open. */
function lastEnded(attempts: readonly Attempt[]): readonly Attempt[] {
  const tops = [...new Set(attempts.map(({ snapshot }) => snapshot.top))]
  return tops.flatMap((top) => {
    const here = attempts.filter(({ snapshot }) => snapshot.top === top)
    if (here.some(({ status }) => status === 'open')) return []
    return here.toSorted((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0)).slice(0, 1)
  })
}

/** What was touched after an attempt, without what lies in the areas or the changes of others. Null: not known. */
async function touchedLater(
  { witness, ids, store }: Context,
  last: Attempt,
  own: readonly Attempt[],
): Promise<readonly string[] | null> {
  const { top, prefix, engine } = last.snapshot
  if (last.endSnapshot === null) return null
  const name = ids.next('attempt')
  const now = await witness.snapshot({ folder: `${top}/${prefix}`, name, engine, top }).catch(() => null)
  const touched = now && (await witness.touched(last.endSnapshot, now.ref))
  if (touched === null || touched.length === 0) return touched
  const ownIds = new Set<string>(own.map(({ id }) => id))
  const { others, changed } = await store.view(async ({ tasks, runs }) => {
    const since = await tasks.attemptsInTree(top, last.closedAt ?? 0)
    const foreign = since.filter(({ id }) => !ownIds.has(id))
    const ended = foreign.filter(({ status }) => status !== 'open').map(({ id }) => id)
    return { others: foreign, changed: await runs.changesOf(ended) }
  })
  const scopes = others
    .map(({ areas, snapshot }) => parseScope(areas, { prefix: snapshot.prefix, packages: new Map() }))
    .filter(isDeclared)
  const theirs = new Set(changed.flatMap(({ changes }) => changes.map(({ path }) => path)))
  return touched.filter(
    (path) => !theirs.has(path) && !scopes.some((scope) => judgePath(scope, path) !== 'out'),
  )
}

async function hashed(
  { evidenceFiles }: Context,
  paths: ReadonlyMap<string, ReadonlySet<string>>,
): Promise<MeasuredChanges['files']> {
  const files: { path: string; sha256: string | null }[] = []
  for (const [top, inTree] of paths) {
    const prefix = paths.size > 1 ? `${top}/` : ''
    for (const { path, sha256 } of await evidenceFiles.contents(top, [...inTree].sort())) {
      files.push({ path: `${prefix}${path}`, sha256 })
    }
  }
  return files
}

function authorsOf(attempts: readonly Attempt[]): readonly Author[] {
  return attempts
    .filter(({ actor }) => actor.kind === 'person')
    .map(({ actor }) => ({
      name: actor.name,
      identity: actor.identity === undefined ? null : identityOf(actor),
    }))
}

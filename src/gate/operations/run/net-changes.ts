import type { FileState, SnapshotRef } from '../../../git/ports/work-tree.ts'
import { Failure } from '../../../kernel/failure.ts'
import type { QueryContext } from '../../../kernel/operations/operation.ts'
import { type Attempt, treeOf } from '../../../track/domain/task.ts'
import type { RunSubject } from '../../ports/run-reads.ts'
import type { OpenChanges } from './external-state.ts'

/**
 * By work tree and path, whether a file that the work on a subject changed is other than it was when that work began
 * there. Null, and a path that is missing: it cannot be seen from here.
 */
export type NetChanges = ReadonlyMap<string, ReadonlyMap<string, boolean | null>>

/** Compares what the attempts at a subject changed with how it was before the first of them. */
export async function netChanges(
  context: QueryContext,
  subject: RunSubject | null,
  measured: OpenChanges,
): Promise<NetChanges> {
  if (subject === null) return new Map()
  const { attempts, stored } = await context.store.view(async ({ runs }) => {
    const all = await runs.attemptsOf(subject)
    return { attempts: all, stored: await runs.changesOf(all.map(({ id }) => id)) }
  })
  const closed = new Map(stored.map((one) => [one.attemptId as string, one.changes]))
  const trees = Map.groupBy(attempts, ({ snapshot }) => treeOf(snapshot))
  const compared = [...trees].map(async ([tree, inTree]) => {
    const changes = inTree.flatMap(({ id }) => measured.get(id)?.changes ?? closed.get(id) ?? [])
    const paths = changes.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
    return [tree, await compare(context, inTree, [...new Set(paths)])] as const
  })
  return new Map(await Promise.all(compared))
}

async function compare(
  context: QueryContext,
  inTree: readonly Attempt[],
  paths: readonly string[],
): Promise<ReadonlyMap<string, boolean | null>> {
  const [first] = inTree.toSorted((one, other) => one.openedAt - other.openedAt)
  if (first === undefined || paths.length === 0 || first.snapshot.edge !== context.edge?.id) return new Map()
  const now = await stateNow(context, first.snapshot)
  const states = (place: SnapshotRef) => ignoreMissing(() => context.witness.contents.states(place, paths))
  const [before, after] = now === null ? [] : await Promise.all([states(first.snapshot), states(now)])
  if (!before || !after) return new Map()
  return new Map(paths.map((path) => [path, isDifferentState(before.get(path), after.get(path))]))
}

/** A work tree as it is; where it was removed, what it held has been merged into the project's own. */
async function stateNow(
  { witness, folder, ids }: QueryContext,
  { top, prefix, engine }: SnapshotRef,
): Promise<SnapshotRef | null> {
  const take = (place: { readonly folder: string; readonly top?: string }) =>
    ignoreMissing(async () => (await witness.snapshot({ ...place, name: ids.next('attempt'), engine })).ref)
  return (await take({ folder: `${top}/${prefix}`, top })) ?? take({ folder })
}

/** Null for a folder that is gone. A connected machine refuses to look into one that is no work tree any more. */
async function ignoreMissing<Found>(look: () => Promise<Found>): Promise<Found | null> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Failure && ['UNAVAILABLE', 'FORBIDDEN'].includes(error.code)) return null
    throw error
  }
}

type NetFileState = FileState | null | undefined

function isDifferentState(before: NetFileState, after: NetFileState): boolean | null {
  if (before === undefined || after === undefined) return null
  if (before === null || after === null) return before !== after
  if (before.mode !== after.mode) return true
  return before.id === null || after.id === null ? null : before.id !== after.id
}

import type { FileState } from '../../git/ports/work-tree.ts'
import type { WorkTree } from '../../kernel/operations/measuring.ts'
import { fromProject } from '../../kernel/path-pattern.ts'
import type { FileChange } from '../domain/changes.ts'
import {
  changesScripts,
  type SensitiveKind,
  sensitiveDefault,
  sensitiveKind,
  sensitiveList,
} from '../domain/scope/sensitive.ts'
import type { SnapshotPlace } from '../domain/task.ts'

type Looking = Pick<WorkTree, 'witness' | 'setupFiles'>

/** By path, what changed files decide that decide what runs, or what agents are told. */
export type SensitiveChanges = ReadonlyMap<string, SensitiveKind>

/** Larger manifests are not read: they count as if their scripts had changed. */
const maxManifestBytes = 2_000_000

/** The sensitive files among the changes of an attempt, without what git brought and what Waymark's setup wrote. */
export async function sensitiveChanges(
  context: Looking,
  snapshot: SnapshotPlace,
  {
    changes,
    end,
    setting,
  }: {
    readonly changes: readonly FileChange[]
    readonly end: SnapshotPlace
    /** The project's own list; null where it has none. */
    readonly setting: string | null
  },
): Promise<SensitiveChanges> {
  const list = sensitiveList(setting ?? sensitiveDefault)
  const found = changes
    .filter(({ origin }) => origin !== 'imported')
    .flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
    .flatMap((path) => {
      const kind = sensitiveKind(path, fromProject(path, snapshot.prefix), list)
      return kind === null ? [] : [{ path, kind }]
    })
  if (found.length === 0) return new Map()
  const contents = await contentsOf(
    context,
    [snapshot, end],
    found.map(({ path }) => path),
  )
  const judged = await Promise.all(
    found.map(async ({ path, kind }): Promise<readonly (readonly [string, SensitiveKind])[]> => {
      const { before, after } = contents(path)
      if (await isOfSetup(context, `${snapshot.top}/${path}`, { before, after })) return []
      if (kind !== 'manifest') return [[path, kind]]
      if (before !== undefined && after !== undefined && !changesScripts(path, text(before), text(after)))
        return []
      return [[path, 'scripts']]
    }),
  )
  return new Map(judged.flat())
}

/** Null for no file, undefined where it is not known. */
type Content = Uint8Array | null | undefined

async function contentsOf(
  { witness }: Looking,
  places: readonly [SnapshotPlace, SnapshotPlace],
  paths: readonly string[],
): Promise<(path: string) => { readonly before: Content; readonly after: Content }> {
  const [before, after] = await Promise.all(places.map((place) => witness.contents.states(place, paths)))
  const ids = [before, after].flatMap((states) =>
    [...(states?.values() ?? [])].flatMap((state) => state?.id ?? []),
  )
  const kept = await witness.contents.read(places, ids, maxManifestBytes)
  const contentIn = (
    states: ReadonlyMap<string, FileState | null> | null | undefined,
    path: string,
  ): Content => {
    const state = states?.get(path)
    if (state === null) return null
    return (state?.id == null ? undefined : kept.get(state.id)?.bytes) ?? undefined
  }
  return (path) => ({ before: contentIn(before, path), after: contentIn(after, path) })
}

function text(content: Uint8Array | null): string | null {
  return content === null ? null : new TextDecoder().decode(content)
}

/** Whether a file was as setup found it, and is as setup left it. */
async function isOfSetup(
  { setupFiles }: Looking,
  file: string,
  { before, after }: { readonly before: Content; readonly after: Content },
): Promise<boolean> {
  if (setupFiles === undefined || before === undefined || after == null) return false
  return setupFiles.wrote(file, before, after)
}

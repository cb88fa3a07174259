import type { FileState } from '../../git/ports/work-tree.ts'
import type { WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import { pathInsidePrefix } from '../../kernel/path-pattern.ts'
import type { FileChange } from '../domain/changes.ts'
import {
  isScriptChange,
  type SensitiveKind,
  sensitiveDefault,
  sensitiveKind,
  sensitiveList,
} from '../domain/scope/sensitive.ts'
import type { SnapshotLocation } from '../domain/task.ts'

type SensitiveContext = Pick<WorkTree, 'witness' | 'setupFiles'>

/** By path, what a changed file controls: what runs, or what agents are told. */
export type SensitiveChanges = ReadonlyMap<string, SensitiveKind>

/** Larger manifests are not read: they count as if their scripts had changed. */
export const maxManifestBytes = 2_000_000

/** The sensitive files among the changes of an attempt, without what git brought and what Waymark's setup wrote. */
export async function sensitiveChanges(
  context: SensitiveContext,
  snapshot: SnapshotLocation,
  {
    changes,
    end,
    setting,
  }: {
    readonly changes: readonly FileChange[]
    readonly end: SnapshotLocation
    /** The project's own list; null where it has none. */
    readonly setting: string | null
  },
): Promise<SensitiveChanges> {
  const list = sensitiveList(setting ?? sensitiveDefault)
  const found = changes
    .filter(({ origin }) => origin !== 'imported')
    .flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
    .flatMap((path) => {
      const kind = sensitiveKind(path, pathInsidePrefix(path, snapshot.prefix), list)
      return kind === null ? [] : [{ path, kind }]
    })
  if (found.length === 0) return new Map()
  const contents = await contentsOfSnapshots(
    context,
    [snapshot, end],
    found.map(({ path }) => path),
  )
  const judged = await Promise.all(
    found.map(async ({ path, kind }): Promise<readonly (readonly [string, SensitiveKind])[]> => {
      const { before, after } = contents(path)
      if (await isOfSetup(context, `${snapshot.top}/${path}`, { before, after })) return []
      if (kind !== 'manifest') return [[path, kind]]
      if (
        before !== undefined &&
        after !== undefined &&
        !isScriptChange(path, decodeText(before), decodeText(after))
      )
        return []
      return [[path, 'scripts']]
    }),
  )
  return new Map(judged.flat())
}

/** Null for no file, undefined for unknown content. */
type FileBytes = Uint8Array | null | undefined

/** The contents of paths in two snapshots. Files that may hold secrets are unknown. */
export async function contentsOfSnapshots(
  { witness }: Pick<WorkTree, 'witness'>,
  places: readonly [SnapshotLocation, SnapshotLocation],
  paths: readonly string[],
): Promise<(path: string) => { readonly before: FileBytes; readonly after: FileBytes }> {
  const [before, after] = await Promise.all(places.map((place) => witness.contents.states(place, paths)))
  const ids = [before, after].flatMap((states) =>
    [...(states?.values() ?? [])].flatMap((state) => state?.id ?? []),
  )
  const texts = await witness.contents.read(places, ids, maxManifestBytes)
  const contentIn = (
    states: ReadonlyMap<string, FileState | null> | null | undefined,
    path: string,
  ): FileBytes => {
    const state = states?.get(path)
    if (state === null) return null
    return (state?.id == null ? undefined : texts.get(state.id)?.bytes) ?? undefined
  }
  return (path) => ({ before: contentIn(before, path), after: contentIn(after, path) })
}

export function decodeText(content: Uint8Array | null): string | null {
  return content === null ? null : new TextDecoder().decode(content)
}

/** Whether setup wrote exactly this change. */
async function isOfSetup(
  { setupFiles }: SensitiveContext,
  file: string,
  { before, after }: { readonly before: FileBytes; readonly after: FileBytes },
): Promise<boolean> {
  if (setupFiles === undefined || before === undefined || after == null) return false
  return setupFiles.wrote(file, before, after)
}

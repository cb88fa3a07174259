import type { Measured } from '../../events/domain/fact.ts'
import { settingOf } from '../../gate/domain/settings.ts'
import type { KeptContent, WorkTreeWitness } from '../../git/ports/work-tree.ts'
import { hexDigest } from '../../kernel/operations/digest.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Attempt, SnapshotPlace } from '../../track/domain/task.ts'
import type { FileStates } from '../ports/review-reads.ts'

export interface FilesToKeep {
  readonly files: readonly FileStates[]
  readonly contents: readonly { readonly id: string; readonly bytes: Uint8Array }[]
}

/** Bytes of one content, and of all contents of an attempt: an edge sends them with all else that it measured. */
const longestKept = 1_000_000
const mostKept = 3_000_000
const mostFiles = 2000

/**
 * Where the files are on another machine, what they held before and after is kept here, so that people can look at the
 * work when that one is shut. Null where they are here, or the project sends no contents.
 */
export async function filesToKeep(
  { edge, store, witness }: Context,
  attempt: Attempt,
  { changes, endSnapshot }: Measured,
): Promise<FilesToKeep | null> {
  const own = changes.filter(({ origin }) => origin !== 'imported').slice(0, mostFiles)
  if (!edge || endSnapshot === null || own.length === 0) return null
  const settings = await store.view(({ runs }) => runs.settings())
  if (settingOf(settings, 'upload_diff') === 'off') return null
  const [before, after] = await Promise.all([
    witness.contents.states(
      attempt.snapshot,
      own.map(({ path, from }) => from ?? path),
    ),
    witness.contents.states(
      endSnapshot,
      own.map(({ path }) => path),
    ),
  ])
  if (before === null || after === null) return null
  const files = own.flatMap(({ path, from }): readonly FileStates[] => {
    const [old, now] = [before.get(from ?? path), after.get(path)]
    if (old === undefined || now === undefined) return []
    return [{ path, ...(from !== undefined && { from }), before: old, after: now }]
  })
  const ids = [...new Set(files.flatMap((file) => [file.before?.id, file.after?.id]))].filter(
    (id) => id != null,
  )
  return { files, contents: await contentsToKeep(witness, [attempt.snapshot, endSnapshot], ids) }
}

/** As many of the contents as there is room for, the shortest first. */
async function contentsToKeep(
  { contents }: Pick<WorkTreeWitness, 'contents'>,
  places: readonly SnapshotPlace[],
  ids: readonly string[],
): Promise<FilesToKeep['contents']> {
  const wanted =
    ids.length * longestKept <= mostKept ? ids : shortest(ids, await contents.read(places, ids, 0))
  const read = wanted.length === 0 ? new Map() : await contents.read(places, wanted, longestKept)
  const kept: FilesToKeep['contents'][number][] = []
  for (const id of wanted) {
    const bytes = read.get(id)?.bytes ?? null
    // What another machine sends is kept under the id of what it is, whatever it calls it.
    if (bytes !== null && (await isContentOf(id, bytes))) kept.push({ id, bytes })
  }
  return kept
}

function shortest(ids: readonly string[], sizes: ReadonlyMap<string, KeptContent>): readonly string[] {
  const sized = ids.flatMap((id) => {
    const size = sizes.get(id)?.size
    return size === undefined || size > longestKept ? [] : [{ id, size }]
  })
  let total = 0
  return sized
    .toSorted((a, b) => a.size - b.size)
    .filter(({ size }) => {
      total += size
      return total <= mostKept
    })
    .map(({ id }) => id)
}

/** Whether an id is that of a content, as git makes it. */
async function isContentOf(id: string, bytes: Uint8Array): Promise<boolean> {
  const head = new TextEncoder().encode(`blob ${bytes.length}\0`)
  const whole = new Uint8Array(head.length + bytes.length)
  whole.set(head)
  whole.set(bytes, head.length)
  return (await hexDigest(id.length === 40 ? 'SHA-1' : 'SHA-256', whole)) === id
}

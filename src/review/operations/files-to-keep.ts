import { z } from 'zod'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { StoredContent } from '../../git/ports/work-tree.ts'
import { measuredList, oid, path, place } from '../../kernel/operations/fields.ts'
import {
  type BriefOf,
  isAmong,
  type MeasurementOf,
  measurement,
  type WorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import type { Attempt, SnapshotLocation } from '../../track/domain/task.ts'
import type { FileStates } from '../ports/review-reads.ts'
import { fileState } from './measure-files.ts'
import { base64Of, decodeBase64, isContentOf } from './stored-content.ts'

export interface FilesToKeep {
  readonly files: readonly FileStates[]
  readonly contents: readonly { readonly id: string; readonly bytes: Uint8Array }[]
}

/** The most bytes of one content, and of all contents of an attempt, as a remote machine sends all of them at once. */
const maxKeptLength = 1_000_000
const maxKept = 3_000_000
const maxFiles = 2000

/** The contents of files before and after an attempt. */
export const fileContentsToKeep = measurement({
  brief: z.strictObject({
    from: place,
    to: place,
    files: measuredList(z.strictObject({ path, from: path.exactOptional() }), maxFiles),
  }),
  measured: z
    .strictObject({
      files: measuredList(
        z.strictObject({ path, from: path.exactOptional(), before: fileState, after: fileState }),
        maxFiles,
      ),
      contents: measuredList(
        z.strictObject({ id: oid, base64: z.string().max(2 * maxKeptLength) }),
        2 * maxFiles,
      ),
    })
    .nullable(),
  fits: ({ files }, held) =>
    isAmong(
      (held?.files ?? []).map((file) => file.path),
      files.map((file) => file.path),
    ),
  measure: async ({ witness }, { from, to, files }) => {
    const [before, after] = await Promise.all([
      witness.contents.states(
        from,
        files.map((file) => file.from ?? file.path),
      ),
      witness.contents.states(
        to,
        files.map((file) => file.path),
      ),
    ])
    if (before === null || after === null) return null
    const states = files.flatMap((file) => {
      const [old, now] = [before.get(file.from ?? file.path), after.get(file.path)]
      return old === undefined || now === undefined ? [] : [{ ...file, before: old, after: now }]
    })
    const ids = [...new Set(states.flatMap((file) => [file.before?.id, file.after?.id]))].filter(
      (id) => id != null,
    )
    return { files: states, contents: await contentsToKeep(witness, [from, to], ids) }
  },
})

/**
 * The contents to keep of files on another machine, so that people can review the work while that machine is off.
 * Undefined for files here, or if the project sends no contents.
 */
export function reportedBriefFor(
  { machine, isOn }: { readonly machine: unknown; readonly isOn: boolean },
  attempt: Attempt,
  { changes, endSnapshot }: AttemptMeasurement,
): BriefOf<typeof fileContentsToKeep> | undefined {
  const own = changes.filter(({ origin }) => origin !== 'imported').slice(0, maxFiles)
  if (!machine || !isOn || endSnapshot === null || own.length === 0) return undefined
  return {
    from: attempt.snapshot,
    to: endSnapshot,
    files: own.map((change) => ({
      path: change.path,
      ...(change.from !== undefined && { from: change.from }),
    })),
  }
}

/** Checks contents from another machine: one that does not match its id is left out. */
export async function filesToKeep(
  held: MeasurementOf<typeof fileContentsToKeep> | undefined,
): Promise<FilesToKeep | null> {
  if (held == null) return null
  const contents: FilesToKeep['contents'][number][] = []
  for (const { id, base64 } of held.contents) {
    const bytes = decodeBase64(base64)
    if (await isContentOf(id, bytes)) contents.push({ id, bytes })
  }
  return { files: held.files, contents }
}

/** As many of the contents as fit, the shortest first. */
async function contentsToKeep(
  { contents }: Pick<WorkTree['witness'], 'contents'>,
  places: readonly SnapshotLocation[],
  ids: readonly string[],
) {
  const wanted =
    ids.length * maxKeptLength <= maxKept ? ids : shortestContents(ids, await contents.read(places, ids, 0))
  const read = wanted.length === 0 ? new Map() : await contents.read(places, wanted, maxKeptLength)
  return wanted.flatMap((id) => {
    const bytes: Uint8Array | null = read.get(id)?.bytes ?? null
    return bytes === null ? [] : [{ id, base64: base64Of(bytes) }]
  })
}

function shortestContents(
  ids: readonly string[],
  sizes: ReadonlyMap<string, StoredContent>,
): readonly string[] {
  const sized = ids.flatMap((id) => {
    const size = sizes.get(id)?.size
    return size === undefined || size > maxKeptLength ? [] : [{ id, size }]
  })
  let total = 0
  return sized
    .toSorted((a, b) => a.size - b.size)
    .filter(({ size }) => {
      total += size
      return total <= maxKept
    })
    .map(({ id }) => id)
}

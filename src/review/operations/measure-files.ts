import { z } from 'zod'
import type { FileState, StoredContent } from '../../git/ports/work-tree.ts'
import { setNewest } from '../../kernel/limited-map.ts'
import { count, measuredList, names, oid, path, place, words } from '../../kernel/operations/fields.ts'
import { isAmong, measurement, type WorkTree } from '../../kernel/operations/measurement-protocol.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { displayKind, displayKinds, foldReason, foldReasons } from '../domain/files.ts'
import { countLines, followLine, mergedLines, splitTextLines, uniqueLineIndex } from '../domain/lines.ts'
import { lineStates } from '../domain/review.ts'
import { base64Of } from './stored-content.ts'

/** Measurements of reviews: states and contents of files in snapshots, their figures, and the lines of comments. */

const maxPlaces = 2_000
const maxFiles = 200_000
const maxComments = 10_000
/** Longest content that is compared line by line, in bytes. */
export const maxComparedBytes = 2_000_000
/** Longest content that is sent, and of all contents in one answer, in bytes. */
export const maxContentBytes = 5_000_000
const maxContentsBytes = 6_000_000

export const fileState = z
  .strictObject({ id: oid.nullable(), hash: oid.optional(), mode: z.string().max(10) })
  .nullable()

/** The states of paths in snapshots; null for a snapshot that is gone. Unknown ones are left out. */
export const fileStates = measurement({
  brief: measuredList(z.strictObject({ place, paths: names }), maxPlaces),
  measured: measuredList(
    z.strictObject({
      directory: path,
      states: measuredList(z.tuple([z.string().max(4_096), fileState]), maxFiles).nullable(),
    }),
    maxPlaces,
  ),
  fits: (requests, results) =>
    isAmong(
      results.flatMap(({ directory, states }) => (states ?? []).map(([file]) => `${directory}\0${file}`)),
      requests.flatMap((one) => one.paths.map((file) => `${one.place.directory}\0${file}`)),
    ),
  measure: async ({ witness }, requests) => {
    const results: MeasuredStates[number][] = []
    for (const one of requests) {
      const states = await witness.contents.states(one.place, one.paths)
      results.push({ directory: one.place.directory, states: states && [...states] })
    }
    return results
  },
})

type MeasuredStates = { directory: string; states: [string, FileState | null][] | null }[]

/** Contents by their ids, from snapshots. Without bytes if one is too long, or all together are. */
export const fileContents = measurement({
  brief: z.strictObject({
    places: measuredList(place, maxPlaces),
    ids: measuredList(oid, maxFiles),
    most: count.max(maxContentBytes),
  }),
  measured: measuredList(
    z.strictObject({
      id: oid,
      size: count,
      base64: z
        .string()
        .max(2 * maxContentBytes)
        .nullable(),
    }),
    maxFiles,
  ),
  fits: ({ ids }, results) =>
    isAmong(
      results.map(({ id }) => id),
      ids,
    ),
  measure: async (workTree, { places, ids, most }) => {
    const contents = await readContents(workTree, places, ids, most)
    let left = maxContentsBytes
    return ids.flatMap((id) => {
      const content = contents.get(id)
      if (content === undefined) return []
      const bytes = content.size <= left ? content.bytes : null
      left -= bytes?.length ?? 0
      return [{ id, size: content.size, base64: bytes && base64Of(bytes) }]
    })
  },
})

/** The figures of a file in a list. */
export const FileFigures = z.strictObject({
  kind: z.enum(displayKinds),
  /** Null if lines are not counted: no text, or content that is not kept. */
  added: count.nullable(),
  removed: count.nullable(),
  folded: z.enum(foldReasons).nullable(),
  /** Why its lines cannot be shown, as a sentence; else null. */
  error: words.nullable(),
})
export type FileFigures = z.output<typeof FileFigures>

/** The figures of files, in their order. */
export const fileFigures = measurement({
  brief: z.strictObject({
    places: measuredList(place, maxPlaces),
    files: measuredList(z.strictObject({ path, before: fileState, after: fileState }), maxFiles),
  }),
  measured: measuredList(FileFigures, maxFiles),
  fits: ({ files }, figures) => figures.length === files.length,
  measure: (workTree, { places, files }) =>
    figuresOf(files, (ids, most) => readContents(workTree, places, ids, most)),
})

/** The lines of comments in snapshots. */
export const commentLines = measurement({
  brief: z.strictObject({
    /** Further snapshots that may have the contents that the comments are on. */
    places: measuredList(place, maxPlaces),
    comments: measuredList(
      z.strictObject({
        id: z.string().max(100),
        place,
        path,
        line: z.int(),
        content: z.string().max(100).nullable(),
        quoted: z.string().nullable(),
      }),
      maxComments,
    ),
  }),
  measured: measuredList(
    z.strictObject({ id: z.string().max(100), line: z.int().nullable(), line_is: z.enum(lineStates) }),
    maxComments,
  ),
  fits: ({ comments }, results) =>
    isAmong(
      results.map(({ id }) => id),
      comments.map(({ id }) => id),
    ),
  measure: async (workTree, { places, comments }) => {
    const byPlace = Map.groupBy(comments, ({ place: { directory } }) => directory)
    const located: { comment: (typeof comments)[number]; state: FileState | null | undefined }[] = []
    for (const some of byPlace.values()) {
      const [first] = some
      const states =
        first &&
        (await workTree.witness.contents.states(
          first.place,
          some.map((one) => one.path),
        ))
      located.push(...some.map((comment) => ({ comment, state: states?.get(comment.path) })))
    }
    const ids = located.flatMap(({ comment, state }) =>
      state?.id == null || comment.content === null || state.id === comment.content
        ? []
        : [comment.content, state.id],
    )
    const all = [...places, ...comments.map((comment) => comment.place)]
    const contents = await readContents(workTree, all, ids, maxComparedBytes)
    return located.map(({ comment, state }) => ({ id: comment.id, ...lineNow(comment, state, contents) }))
  },
})

interface LineNow {
  readonly line: number | null
  readonly line_is: (typeof lineStates)[number]
}

export type Contents = ReadonlyMap<string, StoredContent>

/** The line in another content, by the diff of both; by its text if the first is not kept. */
export function lineNow(
  {
    line,
    content,
    quoted,
  }: { readonly line: number; readonly content: string | null; readonly quoted: string | null },
  state: FileState | null | undefined,
  contents: Contents,
): LineNow {
  if (state === undefined) return { line: null, line_is: 'unknown' }
  if (state === null) return { line: null, line_is: 'gone' }
  if (state.id !== null && state.id === content) return { line, line_is: 'same' }
  const to = splitTextLines(textOfState(state, contents))
  if (content === null || contents.get(content)?.bytes == null || state.id === null) {
    const only = quoted === null || quoted.trim() === '' ? null : uniqueLineIndex(quoted, to)
    return { line: only, line_is: only === null ? 'unknown' : 'moved' }
  }
  const from = splitTextLines(textOfState({ id: content, mode: state.mode }, contents))
  const current = followLine(line, { from, to })
  return { line: current, line_is: current === null ? 'gone' : current === line ? 'same' : 'moved' }
}

// Each snapshot adds folders to one environment variable, whose length is limited.
const placesAtOnce = 100

async function readContents(
  { witness, now }: Pick<WorkTree, 'witness' | 'now'>,
  places: readonly SnapshotLocation[],
  ids: readonly string[],
  most: number,
): Promise<Contents> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const recent = recentOf(witness)
  recent.forgetBefore(now() - recently)
  const once = [...new Map(places.map((one) => [one.directory, one])).values()]
  const contents = recent.among(wanted)
  for (let at = 0; at < once.length; at += placesAtOnce) {
    const missing = wanted.filter((id) => !contents.has(id))
    if (missing.length === 0) break
    const some = await witness.contents.read(once.slice(at, at + placesAtOnce), missing, most)
    for (const [id, content] of some) {
      contents.set(id, content)
      recent.keep(id, content, now())
    }
  }
  return contents
}

/** How long contents are cached, in milliseconds: a reader opens the files of a review soon. */
const recently = 120_000
const maxRecent = 16_000_000
const largestRecent = 500_000

/** A cache of recently read contents. The content of an id never changes. */
class RecentContents {
  readonly #kept = new Map<string, { readonly content: StoredContent; readonly at: number }>()
  #bytes = 0

  among(ids: readonly string[]): Map<string, StoredContent> {
    return new Map(ids.flatMap((id) => this.#entryOf(id)))
  }

  keep(id: string, content: StoredContent, at: number): void {
    if (content.bytes === null || content.size > largestRecent || this.#kept.has(id)) return
    this.#kept.set(id, { content, at })
    this.#bytes += content.size
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= maxRecent) return
      this.#forget(oldest)
    }
  }

  forgetBefore(since: number): void {
    for (const [id, { at }] of this.#kept) if (at < since) this.#forget(id)
  }

  #entryOf(id: string): readonly (readonly [string, StoredContent])[] {
    const kept = this.#kept.get(id)
    return kept === undefined ? [] : [[id, kept.content]]
  }

  #forget(id: string): void {
    this.#bytes -= this.#kept.get(id)?.content.size ?? 0
    this.#kept.delete(id)
  }
}

const recents = new WeakMap<WorkTree['witness'], RecentContents>()

function recentOf(witness: WorkTree['witness']): RecentContents {
  const recent = recents.get(witness) ?? new RecentContents()
  recents.set(witness, recent)
  return recent
}

export interface FiguredFile {
  readonly path: string
  readonly before: FileState | null
  readonly after: FileState | null
}

// Keyed by both contents and the path, so entries never become stale.
const figures = new Map<string, FileFigures>()
const maxFigures = 20_000
/** Contents up to this size are read with one question for many files. */
const smallBytes = 16_000
const filesAtOnce = 2_000
/** The maximum of bytes that are read together, of larger contents. */
const bytesAtOnce = 40_000_000

/** The figures of files, in their order. `read` answers contents by their ids, larger ones than `most` by their size. */
export async function figuresOf(
  files: readonly FiguredFile[],
  read: (ids: readonly string[], most: number) => Promise<Contents>,
): Promise<FileFigures[]> {
  const keyOf = ({ path: name, before, after }: FiguredFile) =>
    [name, before?.mode, before?.id, after?.mode, after?.id].join(' ')
  const byFile = new Map(files.map((file) => [file, figures.get(keyOf(file))]))
  const unknown = files.filter((file) => byFile.get(file) === undefined)
  const keep = (file: FiguredFile, contents: Contents): void => {
    const computed = figuresFrom(file, contents)
    byFile.set(file, computed)
    if (computed.error === null) setNewest(figures, maxFigures, keyOf(file), computed)
  }
  for (let at = 0; at < unknown.length; at += filesAtOnce) {
    const some = unknown.slice(at, at + filesAtOnce)
    const contents = await read(some.flatMap(contentIds), smallBytes)
    const large: { readonly file: FiguredFile; readonly bytes: number }[] = []
    for (const file of some) {
      const sizes = contentIds(file).flatMap((id) => contents.get(id) ?? [])
      if (sizes.every(({ bytes }) => bytes !== null)) keep(file, contents)
      else
        large.push({
          file,
          bytes: sizes.reduce((sum, { size }) => sum + Math.min(size, maxComparedBytes), 0),
        })
    }
    for (const together of inBudget(large)) {
      const whole = await read(together.flatMap(contentIds), maxComparedBytes)
      for (const file of together) keep(file, whole)
    }
  }
  return files.map((file) => byFile.get(file) ?? figuresFrom(file, new Map()))
}

function inBudget(
  large: readonly { readonly file: FiguredFile; readonly bytes: number }[],
): readonly (readonly FiguredFile[])[] {
  const groups: FiguredFile[][] = []
  let left = 0
  for (const { file, bytes } of large) {
    left -= bytes
    if (left < 0 || groups.length === 0) {
      groups.push([])
      left = bytesAtOnce - bytes
    }
    groups.at(-1)?.push(file)
  }
  return groups
}

export function contentIds({ before, after }: Omit<FiguredFile, 'path'>): readonly string[] {
  return [before?.id, after?.id].filter((id) => id != null)
}

export function figuresFrom({ path: name, before, after }: FiguredFile, contents: Contents): FileFigures {
  const modes = [before?.mode, after?.mode].filter((mode) => mode !== undefined)
  const none = { added: null, removed: null, folded: null }
  if (modes.includes('160000')) return { kind: 'submodule', ...none, error: null }
  const sides = [before, after].filter((state) => state !== null)
  if (isSecretFile(name)) {
    return { kind: 'binary', ...none, error: 'Its content is not shown: it is a secret file.' }
  }
  const kept = sides.map(({ id }) => (id === null ? undefined : contents.get(id)))
  const starts = kept.flatMap((content) => content?.bytes ?? [])
  const kind = displayKind(name, { modes, starts })
  if (kept.some((content) => content === undefined)) {
    return { kind, ...none, error: 'Its content is not kept.' }
  }
  const bytes = Math.max(0, ...kept.map((content) => content?.size ?? 0))
  if (kept.some((content) => content?.bytes === null)) {
    return { kind, ...none, folded: 'large', error: `It is too large to be shown: ${bytes} bytes.` }
  }
  if (kind !== 'text' && kind !== 'link') return { kind, ...none, error: null }
  const [old, now] = [textOfState(before, contents), textOfState(after, contents)]
  const { added, removed } = countLines(mergedLines(old, now))
  const head = (after === null ? old : now).slice(0, 1000)
  return {
    kind,
    added,
    removed,
    folded: foldReason(name, { head, lines: added + removed, bytes }),
    error: null,
  }
}

/** The text of a state; empty for no file. */
export function textOfState(state: FileState | null, contents: Contents): string {
  const bytes = state?.id == null ? null : contents.get(state.id)?.bytes
  return bytes == null ? '' : decoder.decode(bytes)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

import type { FileState, StoredContent } from '../../git/ports/work-tree.ts'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import type { QueryContext } from '../../kernel/operations/operation.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import { formatCount } from '../../kernel/text.ts'
import type { ReportedChange } from '../../track/domain/changes.ts'
import type { Attempt, SnapshotLocation } from '../../track/domain/task.ts'
import { measure } from '../../track/operations/measure.ts'
import {
  type FileDisplayKind,
  type FoldReason,
  foldReason,
  type ReviewedAttempt,
  shownKind,
  type TouchedFile,
  touchedFiles,
} from '../domain/files.ts'
import { countLines, linesOf, mergedLines } from '../domain/lines.ts'
import type { FileStates } from '../ports/review-reads.ts'
import type { ResolvedSubject } from './subject.ts'

/** A file under review with its two states. */
export interface ReviewedFile {
  readonly path: string
  /** Its old path, where it has another now. */
  readonly from: string | null
  /** Its work tree, where the review has several. */
  readonly tree: string | null
  readonly status: ReportedChange['change']
  readonly before: FileState | null
  readonly after: FileState | null
  readonly touched: TouchedFile
}

export interface ReviewMaterial {
  readonly files: readonly ReviewedFile[]
  /** A hash over what is shown: path, state before, state after, in order. */
  readonly content: string
  readonly works: readonly ReviewedAttempt[]
  /** Sentences about what is not shown. */
  readonly notes: readonly string[]
}

/** The files that the attempts at a subject changed, with the ids of what they held before and hold now. */
export async function gatherFiles(
  context: QueryContext,
  { attempts, isCut }: ResolvedSubject,
): Promise<ReviewMaterial> {
  const worked = await readEndedAttempts(context, attempts)
  const touched = touchedFiles(worked.works)
  const stored = await storedStates(context, worked.works)
  const stateOf = await statesOf(context, touched, stored)
  const trees = new Set(touched.map(({ tree }) => tree))
  const unknown = new Set<TouchedFile>()
  const files = touched.flatMap((file): readonly ReviewedFile[] => {
    const [old, now] = [stateOf(file, 'before'), stateOf(file, 'after')]
    if (old === undefined || now === undefined) unknown.add(file)
    // A file of which it is not known what it held is shown as one: whoever approves must see that it changed.
    const before = old === undefined ? unknownState(file.wasThere, now) : old
    const after = now === undefined ? unknownState(file.isThere, old) : now
    const isMoved = file.from !== file.path && before !== null && after !== null
    const isSame =
      contentId(before) !== null && contentId(before) === contentId(after) && before?.mode === after?.mode
    if (!isMoved && (isSame || (before === null && after === null))) return []
    return [
      {
        path: file.path,
        from: isMoved ? file.from : null,
        tree: trees.size > 1 ? file.tree : null,
        status: isMoved ? 'renamed' : before === null ? 'added' : after === null ? 'deleted' : 'modified',
        before,
        after,
        touched: file,
      },
    ]
  })
  const notes = [
    ...worked.notes,
    ...(unknown.size === 0
      ? []
      : [
          `What ${formatCount(unknown.size, 'file')} held is not known here: snapshots are kept for 30 days, and of other machines what they sent.`,
        ]),
    ...(isCut ? ['Only part of the attempts is shown: there are too many of them.'] : []),
  ]
  const content = context.fingerprint(
    files.map(({ path, from, tree, before, after }) => [path, from, tree, before, after]),
  )
  return { files, content, works: worked.works, notes }
}

/** What tells contents apart, also of one that is not kept. */
function contentId(state: FileState | null): string | null {
  return state?.id ?? state?.hash ?? null
}

function unknownState(isThere: boolean, other: FileState | null | undefined): FileState | null {
  return isThere ? { id: null, mode: other?.mode ?? '100644' } : null
}

/** Measured attempts as they were recorded, and open ones as they are now. */
async function readEndedAttempts(context: QueryContext, attempts: readonly Attempt[]) {
  const { store, edge } = context
  const notes: string[] = []
  const ended = attempts.filter(({ endSnapshot }) => endSnapshot !== null)
  const recorded = await store.view(({ runs }) => runs.changesOf(ended.map(({ id }) => id)))
  const changes = new Map(recorded.map((one) => [one.attemptId, one]))
  const works: ReviewedAttempt[] = []
  for (const attempt of attempts) {
    if (attempt.status === 'open') {
      if (attempt.snapshot.edge !== edge?.id) {
        const { machine = 'another machine' } = attempt.snapshot
        notes.push(`Attempt ${attempt.id} is open on ${machine}: its changes are shown when it has ended.`)
        continue
      }
      const now = await measure(context, attempt)
      if (now.endSnapshot === null) notes.push(`Attempt ${attempt.id} is open, and could not be measured.`)
      else works.push({ attempt, end: now.endSnapshot, changes: now.changes })
      continue
    }
    const end = attempt.endSnapshot
    const measured = changes.get(attempt.id)
    if (end === null) notes.push(`The end of attempt ${attempt.id} was not measured (${attempt.status}).`)
    else if (measured?.measurement === 'unknown')
      notes.push(`What attempt ${attempt.id} changed is not known.`)
    else if (measured) works.push({ attempt, end, changes: measured.changes.map(toReportedChange) })
  }
  return { works, notes }
}

/** The read of them is typed by what runs need; they are whole in the record. */
function toReportedChange(change: object): ReportedChange {
  return change as ReportedChange // as it was written
}

type StoredFileStates = ReadonlyMap<string, ReadonlyMap<string, FileStates>>

/** What machines elsewhere sent of the files of their attempts. */
async function storedStates(
  { store, edge }: QueryContext,
  works: readonly ReviewedAttempt[],
): Promise<StoredFileStates> {
  const elsewhere = works.filter(({ attempt }) => attempt.snapshot.edge !== edge?.id)
  if (elsewhere.length === 0) return new Map()
  const kept = await store.view(({ reviews }) => reviews.filesOf(elsewhere.map(({ attempt }) => attempt.id)))
  return new Map([...kept].map(([id, files]) => [id, new Map(files.map((file) => [file.path, file]))]))
}

/** Undefined where it is not known. */
type StateOf = (file: TouchedFile, side: 'before' | 'after') => FileState | null | undefined

/** Each snapshot is asked once, for all the paths that are wanted of it. */
async function statesOf(
  { witness, edge }: QueryContext,
  files: readonly TouchedFile[],
  stored: StoredFileStates,
): Promise<StateOf> {
  const wanted = new Map<string, { readonly place: SnapshotLocation; readonly paths: Set<string> }>()
  const want = (place: SnapshotLocation, path: string) => {
    if (place.edge !== edge?.id) return
    const known = wanted.get(place.directory) ?? { place, paths: new Set() }
    known.paths.add(path)
    wanted.set(place.directory, known)
  }
  for (const file of files) {
    want(file.before, file.from)
    want(file.after, file.path)
  }
  const found = new Map<string, ReadonlyMap<string, FileState | null> | null>()
  for (const [directory, { place, paths }] of wanted) {
    found.set(directory, await witness.contents.states(place, [...paths]))
  }
  return (file, side) => {
    const [place, path] = side === 'before' ? [file.before, file.from] : [file.after, file.path]
    return place.edge === edge?.id ? found.get(place.directory)?.get(path) : sentState(file, side, stored)
  }
}

function sentState(
  { by }: TouchedFile,
  side: 'before' | 'after',
  stored: StoredFileStates,
): FileState | null | undefined {
  const step = side === 'before' ? by[0] : by.at(-1)
  return step === undefined ? undefined : stored.get(step.work.attempt.id)?.get(step.path)?.[side]
}

/** Longest content that is compared line by line, in bytes. */
export const longestCompared = 2_000_000

/** Contents by their ids: of snapshots here, or as other machines sent them. */
export async function readContents(
  { witness, store, edge, clock }: QueryContext,
  files: readonly Pick<TouchedFile, 'before' | 'after' | 'by'>[],
  ids: readonly string[],
  most: number = longestCompared,
): Promise<ReadonlyMap<string, StoredContent>> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0) return new Map()
  const recent = recentOf(witness)
  recent.forgetBefore(clock.now() - recently)
  const places = files.flatMap(({ before, after, by }) => [
    before,
    after,
    ...by.flatMap(({ work }) => [work.attempt.snapshot, work.end]),
  ])
  const local = [
    ...new Map(places.filter((place) => place.edge === edge?.id).map((one) => [one.directory, one])).values(),
  ]
  const contents = recent.among(wanted)
  for (let at = 0; at < local.length; at += placesAtOnce) {
    const missing = wanted.filter((id) => !contents.has(id))
    if (missing.length === 0) break
    const some = await witness.contents.read(local.slice(at, at + placesAtOnce), missing, most)
    for (const [id, content] of some) {
      contents.set(id, content)
      recent.keep(id, content, clock.now())
    }
  }
  const missing = wanted.filter((id) => !contents.has(id))
  if (missing.length === 0 || places.every((place) => place.edge === undefined)) return contents
  const sent = await store.view(({ reviews }) => reviews.contents(missing, most))
  for (const [id, content] of sent) contents.set(id, content)
  return contents
}

/** Milliseconds for which a content is read once: whoever opens a review looks at its files next. */
const recently = 120_000
const mostRecent = 16_000_000
const largestRecent = 500_000

/** Contents that were read a moment ago, by their ids. What an id names never changes. */
class RecentContents {
  readonly #kept = new Map<string, { readonly content: StoredContent; readonly at: number }>()
  #bytes = 0

  among(ids: readonly string[]): Map<string, StoredContent> {
    return new Map(ids.flatMap((id) => this.#found(id)))
  }

  keep(id: string, content: StoredContent, at: number): void {
    if (content.bytes === null || content.size > largestRecent || this.#kept.has(id)) return
    this.#kept.set(id, { content, at })
    this.#bytes += content.size
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= mostRecent) return
      this.#forget(oldest)
    }
  }

  forgetBefore(since: number): void {
    for (const [id, { at }] of this.#kept) if (at < since) this.#forget(id)
  }

  #found(id: string): readonly (readonly [string, StoredContent])[] {
    const known = this.#kept.get(id)
    return known === undefined ? [] : [[id, known.content]]
  }

  #forget(id: string): void {
    this.#bytes -= this.#kept.get(id)?.content.size ?? 0
    this.#kept.delete(id)
  }
}

const recents = new WeakMap<QueryContext['witness'], RecentContents>()

function recentOf(witness: QueryContext['witness']): RecentContents {
  const known = recents.get(witness) ?? new RecentContents()
  recents.set(witness, known)
  return known
}

// Each adds folders to one variable of git's environment, whose length is limited.
const placesAtOnce = 100

/** What a list says of a file beside its states. */
export interface FileFigures {
  readonly kind: FileDisplayKind
  /** Null where it is not counted: no text, or content that is not kept. */
  readonly added: number | null
  readonly removed: number | null
  readonly folded: FoldReason | null
  /** Why its lines cannot be shown, as a sentence; null where they can. */
  readonly trouble: string | null
}

// By both contents and the path: what was counted once is the same for ever.
const figures = new Map<string, FileFigures>()
const mostFigures = 20_000
// Each has two contents of up to 2 MB.
const filesAtOnce = 20

export async function figuresOf(
  context: QueryContext,
  files: readonly ReviewedFile[],
): Promise<ReadonlyMap<ReviewedFile, FileFigures>> {
  const found = new Map<ReviewedFile, FileFigures>()
  const keyOf = (file: ReviewedFile) =>
    [file.path, file.before?.mode, file.before?.id, file.after?.mode, file.after?.id].join(' ')
  const unknown = files.filter((file) => {
    const known = figures.get(keyOf(file))
    if (known) found.set(file, known)
    return known === undefined
  })
  for (let at = 0; at < unknown.length; at += filesAtOnce) {
    const some = unknown.slice(at, at + filesAtOnce)
    const ids = some.flatMap(({ before, after }) => [before?.id, after?.id]).filter((id) => id != null)
    const contents = await readContents(
      context,
      some.map(({ touched }) => touched),
      ids,
    )
    for (const file of some) {
      const made = figuresFrom(file, contents)
      found.set(file, made)
      if (made.trouble !== null) continue
      figures.set(keyOf(file), made)
      const [oldest] = figures.keys()
      if (figures.size > mostFigures && oldest !== undefined) figures.delete(oldest)
    }
  }
  return found
}

export function figuresFrom(
  { path, before, after }: Pick<ReviewedFile, 'path' | 'before' | 'after'>,
  contents: ReadonlyMap<string, StoredContent>,
): FileFigures {
  const modes = [before?.mode, after?.mode].filter((mode) => mode !== undefined)
  const none = { added: null, removed: null, folded: null }
  if (modes.includes('160000')) return { kind: 'submodule', ...none, trouble: null }
  const sides = [before, after].filter((state) => state !== null)
  if (isSecretFile(path)) {
    return { kind: 'binary', ...none, trouble: 'It is a secret file: its content is not shown.' }
  }
  const kept = sides.map(({ id }) => (id === null ? undefined : contents.get(id)))
  const starts = kept.flatMap((content) => content?.bytes ?? [])
  const kind = shownKind(path, { modes, starts })
  if (kept.some((content) => content === undefined)) {
    return { kind, ...none, trouble: 'What it held is not kept.' }
  }
  const bytes = Math.max(0, ...kept.map((content) => content?.size ?? 0))
  if (kept.some((content) => content?.bytes === null)) {
    return { kind, ...none, folded: 'large', trouble: `It is too large to be shown: ${bytes} bytes.` }
  }
  if (kind !== 'text' && kind !== 'link') return { kind, ...none, trouble: null }
  const [old, now] = [textOf(before, contents), textOf(after, contents)]
  const { added, removed } = countLines(mergedLines(linesOf(old), linesOf(now)))
  const head = (after === null ? old : now).slice(0, 1000)
  return {
    kind,
    added,
    removed,
    folded: foldReason(path, { head, lines: added + removed, bytes }),
    trouble: null,
  }
}

/** The text of a state; empty for no file. */
export function textOf(state: FileState | null, contents: ReadonlyMap<string, StoredContent>): string {
  const bytes = state?.id == null ? null : contents.get(state.id)?.bytes
  return bytes == null ? '' : decoder.decode(bytes)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The last attempt's task: whose agent is asked about the file. */
export function taskOf({ touched }: Pick<ReviewedFile, 'touched'>): TaskId | null {
  return touched.by.at(-1)?.work.attempt.taskId ?? null
}

export function attemptsOf({ touched }: Pick<ReviewedFile, 'touched'>): readonly AttemptId[] {
  return [...new Set(touched.by.map(({ work }) => work.attempt.id))]
}

/** Names a file of a work tree for what people looked at. */
export function placeKey({ path, touched }: Pick<ReviewedFile, 'path' | 'touched'>): string {
  return JSON.stringify([touched.tree, path])
}

/** What a mark says was looked at: the content; empty for a file that is gone, or of which no content is known. */
export function viewedContentId({ after }: Pick<ReviewedFile, 'after'>): string {
  return after?.id ?? ''
}

/** The same as it is kept, with the mode where that is not the usual one: a file that became a program comes back. */
export function markOf({ after }: Pick<ReviewedFile, 'after'>): string {
  const content = viewedContentId({ after })
  return content === '' || after === null || after.mode === '100644' ? content : `${content} ${after.mode}`
}

export function contentOfMark(mark: string): string {
  return mark.split(' ')[0] ?? ''
}

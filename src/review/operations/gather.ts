import type { FileState } from '../../git/ports/work-tree.ts'
import type { AttemptId, TaskId } from '../../kernel/id.ts'
import type {
  BriefOf,
  MeasurementValues,
  PreparedOperation,
} from '../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../kernel/operations/operation.ts'
import { formatCount, plainLine } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { ReportedChange } from '../../track/domain/changes.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../track/domain/task.ts'
import type { TreeWrite } from '../../track/domain/tree-write.ts'
import { measuredOpenAttempts, openAttemptMeasurements } from '../../track/operations/measure-attempt.ts'
import {
  type LaterWrite,
  laterStates,
  type ReviewedAttempt,
  type TouchedFile,
  touchedFiles,
  withoutTyped,
  workTreeNames,
} from '../domain/files.ts'
import type { FileStates } from '../ports/review-reads.ts'
import { type Contents, type fileContents, fileStates, maxComparedBytes } from './measure-files.ts'
import { sentContents } from './stored-content.ts'
import type { ResolvedSubject } from './subject.ts'

/** A file under review with its two states. */
export interface ReviewedFile {
  readonly path: string
  /** Its old path, if it was renamed. */
  readonly from: string | null
  /** Its work tree, if the review has several. */
  readonly tree: string | null
  /** What people call that work tree. */
  readonly treeName: string | null
  readonly status: ReportedChange['change']
  readonly before: FileState | null
  readonly after: FileState | null
  readonly touched: TouchedFile
}

export interface ReviewMaterial {
  readonly files: readonly ReviewedFile[]
  /** A hash over the files of the review: path, state before, state after, in order. */
  readonly content: string
  readonly works: readonly ReviewedAttempt[]
  /** Sentences about missing content. */
  readonly notes: readonly string[]
  /** The state of a path in a snapshot; undefined if unknown. */
  readonly stateAt: (place: SnapshotLocation, path: string) => FileState | null | undefined
}

export const materialMeasurements = { ...openAttemptMeasurements, states: fileStates }

const maxNamed = 5

export type GatherContext = Pick<RecordContext, 'machine' | 'clock' | 'fingerprint'>

interface GatherRequest {
  readonly found: ResolvedSubject
  readonly measured: MeasurementValues<typeof materialMeasurements>
  /** Only this file, by its path or its old one, with the states around each attempt. */
  readonly path?: string | undefined
}

/**
 * The files that the attempts at a subject changed, with the ids of their contents before and now. Null until all is
 * measured.
 */
export async function gatherFiles(
  reads: Reads,
  context: GatherContext,
  { found: { attempts, isCut }, measured, path: only }: GatherRequest,
): Promise<PreparedOperation<typeof materialMeasurements, ReviewMaterial | null>> {
  const { briefs, found: endedAttempts } = await readEndedAttempts(reads, context, { attempts, measured })
  if (endedAttempts === null) return { briefs, found: null }
  const later = await laterWrites(reads, context, endedAttempts.works)
  const all = touchedFiles(endedAttempts.works, later)
  const written = all.filter(({ path, from }) => only === undefined || path === only || from === only)
  const stored = await storedStates(reads, context, written)
  const states = statesBrief(context, written, only !== undefined)
  const newBriefs = { ...briefs, ...(states.length > 0 && { states }) }
  if (states.length > 0 && measured.states === undefined) return { briefs: newBriefs, found: null }
  const stateMaps = new Map(measured.states?.map((one) => [one.directory, one.states && new Map(one.states)]))
  const stateAt: ReviewMaterial['stateAt'] = (place, path) => stateMaps.get(place.directory)?.get(path)
  const contentAt = (place: SnapshotLocation, path: string) => {
    const state = stateAt(place, path)
    return state ? `${state.mode} ${contentId(state)}` : state
  }
  const touched = written.map((file) => withoutTyped(file, contentAt))
  const typed = written.filter((file, at) => file !== touched[at]).map(({ path }) => path)
  const stateOf = (file: TouchedFile, side: 'before' | 'after') => {
    const [place, path] = side === 'before' ? [file.before, file.from] : [file.after, file.path]
    return isHere(context, place) ? stateAt(place, path) : sentState(file, side, stored)
  }
  const trees = workTreeNames(all.map(({ before }) => before))
  const unknown = new Set<TouchedFile>()
  const files = touched.flatMap((file): readonly ReviewedFile[] => {
    const [old, now] = [stateOf(file, 'before'), stateOf(file, 'after')]
    if (old === undefined || now === undefined) unknown.add(file)
    // A file with unknown content is listed, so that the reviewer sees that it changed.
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
        treeName: trees.size > 1 ? (trees.get(file.tree) ?? null) : null,
        status: isMoved ? 'renamed' : before === null ? 'added' : after === null ? 'deleted' : 'modified',
        before,
        after,
        touched: file,
      },
    ]
  })
  const notes = [
    ...endedAttempts.notes,
    ...(unknown.size === 0
      ? []
      : [
          `The content of ${formatCount(unknown.size, 'file')} is not available: snapshots are kept for 30 days, and other machines send only a part.`,
        ]),
    ...(later.size > 0
      ? [
          'Work was undone or restored since the last attempt ended: the files are shown as they were after that.',
        ]
      : []),
    ...(typed.length === 0
      ? []
      : [
          `${plainLine(typed.slice(0, maxNamed).join(', '), 300)}${typed.length > maxNamed ? ' and others' : ''} also changed while no attempt was open: that is not the agents’ work.`,
        ]),
    ...(isCut ? ['Only some attempts are shown: there are too many.'] : []),
  ]
  const content = context.fingerprint(
    files.map(({ path, from, tree, before, after }) => [path, from, tree, before, after]),
  )
  return { briefs: newBriefs, found: { files, content, works: endedAttempts.works, notes, stateAt } }
}

/** The id of a content, even if it is not kept. */
function contentId(state: FileState | null): string | null {
  return state?.id ?? state?.hash ?? null
}

function unknownState(isThere: boolean, other: FileState | null | undefined): FileState | null {
  return isThere ? { id: null, mode: other?.mode ?? '100644' } : null
}

/** Whether a snapshot is on the caller's machine. */
export function isHere({ machine }: Pick<GatherContext, 'machine'>, place: SnapshotLocation): boolean {
  return place.machineId === machine?.id
}

/** Whether all states of a file are on the caller's machine. */
export function isOwnFile(context: GatherContext, file: Pick<ReviewedFile, 'touched'>): boolean {
  return placesOfContents([file]).every((place) => isHere(context, place))
}

interface EndedAttempts {
  readonly works: readonly ReviewedAttempt[]
  readonly notes: readonly string[]
}

/** Ended attempts as recorded, and open ones as measured now. */
async function readEndedAttempts(
  reads: Reads,
  context: GatherContext,
  { attempts, measured }: { readonly attempts: readonly Attempt[] } & Pick<GatherRequest, 'measured'>,
): Promise<PreparedOperation<typeof openAttemptMeasurements, EndedAttempts | null>> {
  const ended = attempts.filter(({ endSnapshot }) => endSnapshot !== null)
  const open = attempts.filter(({ status, snapshot }) => status === 'open' && isHere(context, snapshot))
  const [recorded, { briefs, found: current }] = await Promise.all([
    reads.runs.changesOf(ended.map(({ id }) => id)),
    measuredOpenAttempts(reads, context, open, measured),
  ])
  if (current === null) return { briefs, found: null }
  const changes = new Map(recorded.map((one) => [one.attemptId, one]))
  const notes: string[] = []
  const works: ReviewedAttempt[] = []
  for (const attempt of attempts) {
    const { id, status, endSnapshot, snapshot } = attempt
    const now = current.get(id)?.evidence
    const change = changes.get(id)
    if (status === 'open' && now === undefined) {
      const { machineName: machine = 'another machine' } = snapshot
      notes.push(`Attempt ${id} is open on ${machine}: its changes are shown when it has ended.`)
    } else if (now !== undefined) {
      if (now.endSnapshot === null) notes.push(`Attempt ${id} is open, and could not be measured.`)
      else works.push({ attempt, end: now.endSnapshot, changes: now.changes })
    } else if (endSnapshot === null) notes.push(`The end of attempt ${id} was not measured (${status}).`)
    else if (change?.measurement === 'unknown') notes.push(`The changes of attempt ${id} are unknown.`)
    else if (change) works.push({ attempt, end: endSnapshot, changes: change.changes.map(toReportedChange) })
  }
  return { briefs, found: { works, notes } }
}

/** What a person undid or restored of this work after it ended, by work tree, in order. */
async function laterWrites(
  { tasks, treeWrites }: Reads,
  context: GatherContext,
  works: readonly ReviewedAttempt[],
): Promise<ReadonlyMap<string, readonly LaterWrite[]>> {
  const ids = [...new Set(works.map(({ attempt }) => attempt.taskId))]
  const above = await tasks.ancestors(ids)
  const concerned = new Set([...ids, ...[...above.values()].flat()])
  const reviewed = new Set<string>(works.map(({ attempt }) => attempt.id))
  const found = new Map<string, readonly LaterWrite[]>()
  for (const [tree, inTree] of Map.groupBy(works, ({ attempt }) => treeOf(attempt.snapshot))) {
    const ends = inTree.map(({ attempt }) => attempt.closedAt)
    // An open attempt is measured now.
    if (ends.includes(null)) continue
    const last = Math.max(...ends.map((at) => at ?? 0))
    const writes: LaterWrite[] = []
    for (const write of await treeWrites.since(last, tree)) {
      const { before, after, cause, taskId } = write
      const files =
        taskId === null ? await filesLastOf(tasks, write, reviewed) : concerned.has(taskId) ? write.files : []
      if (files.length === 0 || after === null || !isHere(context, after)) continue
      const isUndone = (id: TaskId) => [id, ...(above.get(id) ?? [])].some((one) => one === taskId)
      const undone = cause === 'undo' ? new Set(ids.filter(isUndone)) : null
      writes.unshift({ before, after, undone, files: new Set(files) })
    }
    if (writes.length > 0) found.set(tree, writes)
  }
  return found
}

/** The files of a write, as of lost work of several tasks, that an attempt under review was the last to change. */
async function filesLastOf(
  tasks: Reads['tasks'],
  { files, before, writtenAt }: TreeWrite,
  reviewed: ReadonlySet<string>,
): Promise<readonly string[]> {
  const changed = await tasks.changedBy(files)
  const ids = [...new Set(changed.map(({ attemptId }) => attemptId))]
  const ends = new Map<string, number>()
  for (const attempt of await Promise.all(ids.map((id) => tasks.attempt(id)))) {
    const isThere = attempt !== null && treeOf(attempt.snapshot) === treeOf(before)
    if (isThere && attempt.closedAt !== null && attempt.closedAt <= writtenAt)
      ends.set(attempt.id, attempt.closedAt)
  }
  const byPath = Map.groupBy(changed, ({ path }) => path)
  return files.filter((path) => {
    const there = (byPath.get(path) ?? []).filter(({ attemptId }) => ends.has(attemptId))
    const [last] = there.toSorted((a, b) => (ends.get(b.attemptId) ?? 0) - (ends.get(a.attemptId) ?? 0))
    return last !== undefined && reviewed.has(last.attemptId)
  })
}

/** The query's type has only the fields that runs need; the record has all of them. */
function toReportedChange(change: object): ReportedChange {
  return change as ReportedChange // as it was written
}

type StoredFileStates = ReadonlyMap<string, ReadonlyMap<string, FileStates>>

/** The states of files that other machines sent for their attempts. */
async function storedStates(
  { reviews }: Reads,
  context: GatherContext,
  touched: readonly TouchedFile[],
): Promise<StoredFileStates> {
  const attempts = touched.flatMap(({ steps }) => steps.map(({ work }) => work.attempt))
  const elsewhere = attempts.filter(({ snapshot }) => !isHere(context, snapshot)).map(({ id }) => id)
  const kept = elsewhere.length === 0 ? new Map() : await reviews.filesOf([...new Set(elsewhere)])
  return new Map(
    [...kept].map(([id, files]: [string, readonly FileStates[]]) => [
      id,
      new Map(files.map((file) => [file.path, file])),
    ]),
  )
}

/** Each snapshot is read once, for all of its wanted paths. */
function statesBrief(
  context: GatherContext,
  files: readonly TouchedFile[],
  ofSteps: boolean,
): BriefOf<typeof fileStates> {
  const wanted = new Map<string, { readonly place: SnapshotLocation; readonly paths: Set<string> }>()
  const want = (place: SnapshotLocation, path: string) => {
    if (!isHere(context, place)) return
    const request = wanted.get(place.directory) ?? { place, paths: new Set() }
    request.paths.add(path)
    wanted.set(place.directory, request)
  }
  for (const file of files) {
    const { before, from, after, path, steps } = file
    want(before, from)
    want(after, path)
    const later = laterStates(file)
    for (const place of later.places) for (const name of later.names) want(place, name)
    if (!ofSteps || steps.length === 1) continue
    for (const step of steps) {
      want(step.work.attempt.snapshot, step.from)
      want(step.work.end, step.path)
    }
  }
  return [...wanted.values()].map(({ place, paths }) => ({ place, paths: [...paths] }))
}

function sentState(
  { steps, before }: TouchedFile,
  side: 'before' | 'after',
  stored: StoredFileStates,
): FileState | null | undefined {
  const first = steps.find(({ work }) => work.attempt.snapshot === before)
  const step = side === 'before' ? first : steps.at(-1)
  return step === undefined ? undefined : stored.get(step.work.attempt.id)?.get(step.path)?.[side]
}

/** The snapshots that may have the contents of files. */
export function placesOfContents(
  files: readonly Pick<ReviewedFile, 'touched'>[],
): readonly SnapshotLocation[] {
  const places = files.flatMap(({ touched: { before, after, steps } }) => [
    before,
    after,
    ...steps.flatMap(({ work }) => [work.attempt.snapshot, work.end]),
  ])
  return [...new Map(places.map((place) => [place.directory, place])).values()]
}

/** The measurement of contents; undefined if the caller's machine has none of them. */
export function contentsBrief(
  context: GatherContext,
  files: readonly Pick<ReviewedFile, 'touched'>[],
  ids: readonly (string | null | undefined)[],
  most = maxComparedBytes,
): BriefOf<typeof fileContents> | undefined {
  const places = placesOfContents(files).filter((place) => isHere(context, place))
  const wanted = [...new Set(ids.filter((id) => id != null))]
  return places.length === 0 || wanted.length === 0 ? undefined : { places, ids: wanted, most }
}

/** Contents by their ids: as measured, else as other machines sent them. */
export async function knownContents(
  { reviews }: Reads,
  measured: MeasurementValues<{ contents: typeof fileContents }>,
  ids: readonly (string | null | undefined)[],
  most = maxComparedBytes,
): Promise<Contents> {
  const contents = await sentContents(measured.contents ?? [])
  const missing = [...new Set(ids.filter((id) => id != null && !contents.has(id)))] as string[] // no null is among them
  const sent = missing.length === 0 ? [] : await reviews.contents(missing, most)
  return new Map([...contents, ...sent])
}

/** The last attempt's task: its agent gets the comments on the file. */
export function taskOfFile({ touched }: Pick<ReviewedFile, 'touched'>): TaskId | null {
  return touched.steps.at(-1)?.work.attempt.taskId ?? null
}

export function attemptsOf({ touched }: Pick<ReviewedFile, 'touched'>): readonly AttemptId[] {
  return [...new Set(touched.steps.map(({ work }) => work.attempt.id))]
}

/** The key of a file of a work tree, for viewed files. */
export function placeKey({ path, touched }: Pick<ReviewedFile, 'path' | 'touched'>): string {
  return JSON.stringify([touched.tree, path])
}

/** The id of the viewed content; empty for a deleted file or an unknown content. */
export function viewedContentId({ after }: Pick<ReviewedFile, 'after'>): string {
  return after?.id ?? ''
}

/** The stored form of the same, with an unusual mode: a file that became executable must be viewed again. */
export function viewedMark({ after }: Pick<ReviewedFile, 'after'>): string {
  const content = viewedContentId({ after })
  return content === '' || after === null || after.mode === '100644' ? content : `${content} ${after.mode}`
}

export function contentOfMark(mark: string): string {
  return mark.split(' ')[0] ?? ''
}

import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { namesOf } from '../../../track/domain/changes.ts'
import { type Attempt, type SnapshotLocation, treeOf } from '../../../track/domain/task.ts'
import type { TreeWrite } from '../../../track/domain/tree-write.ts'
import { maxAttempts } from '../../ports/run-reads.ts'
import { peopleAmong } from './own-work.ts'
import {
  isKnown,
  type MeasuredChanges,
  type MeasuredWorkTree,
  type Questions,
  type SubjectWork,
} from './subject-changes.ts'

/** What an approval is bound to where the files cannot be measured: the work as its attempts recorded it at their ends. */
export interface WorkRecord {
  readonly changes: MeasuredChanges
  /** In place of the hash of the tree, for approvals of the state. */
  readonly tree: string
}

/** Null if no attempt began, one is open, or the changes of one are not known. */
export async function recordedWork(
  { treeWrites }: Pick<Reads, 'treeWrites'>,
  { fingerprint }: Pick<RecordContext, 'fingerprint'>,
  { subject, attempts: all, stored }: SubjectWork,
): Promise<WorkRecord | null> {
  const attempts = all.filter(({ status }) => status !== 'abandoned')
  const [first] = attempts
  if (subject === null || first === undefined || all.length >= maxAttempts) return null
  const changed = attempts.flatMap((attempt) => {
    const changes = attempt.status === 'open' ? undefined : stored.get(attempt.id)
    const isWhole = changes !== undefined && isKnown(changes) && (changes.unreadable ?? []).length === 0
    return isWhole ? [{ attempt, paths: changes.changes.flatMap(namesOf) }] : []
  })
  if (changed.length < attempts.length) return null
  const pathsByTree = Map.groupBy(changed, ({ attempt }) => treeOf(attempt.snapshot))
  const taskIds = new Set(attempts.map((attempt) => attempt.taskId))
  // An undo or a restore wrote over files of the work.
  const writes = (await treeWrites.since(Math.min(...attempts.map(({ openedAt }) => openedAt)))).filter(
    ({ before, files, taskId }) => {
      if (taskId !== null && taskIds.has(taskId)) return true
      const own = new Set(pathsByTree.get(treeOf(before))?.flatMap(({ paths }) => paths))
      return files.some((file) => own.has(file))
    },
  )
  const unseen = [
    ...all.map(({ id, status }) => (status === 'abandoned' ? `abandoned attempt ${id}` : `attempt ${id}`)),
    ...writes.map(({ id }) => `files written by ${id}`),
  ].sort()
  const authors = peopleAmong(all.map(({ actor }) => actor))
  return { changes: { files: [], unseen, authors }, tree: fingerprint(unseen) }
}

/**
 * The files of the attempts that are not as the last of them left each, in these work trees; also those that cannot be told.
 * A file that is as the last attempt in any of the trees left it was merged. Null until measured.
 */
export async function prepareDifferent(
  { treeWrites }: Pick<Reads, 'treeWrites'>,
  questions: Questions,
  { stored }: Pick<SubjectWork, 'stored'>,
  trees: readonly MeasuredWorkTree[],
): Promise<readonly string[] | null> {
  const all = trees.flatMap(({ own }) => own)
  if (all.length === 0) return []
  const writes = await treeWrites.since(Math.min(...all.map(({ openedAt }) => openedAt)))
  const inAll = lastChanges(all, stored, writes)
  const compared = trees.map(({ own, measured: { now } }) => {
    const since = prepareSince(questions, now, lastChanges(own, stored, writes))
    if (since === null || since.length === 0) return since
    const open = new Set(since)
    const merged = inAll.map(({ end, paths }) => ({ end, paths: paths.filter((file) => open.has(file)) }))
    return prepareSince(
      questions,
      now,
      merged.filter(({ paths }) => paths.length > 0),
    )
  })
  if (compared.includes(null)) return null
  return [...new Set(compared.flatMap((files) => files ?? []))].sort()
}

type AttemptEnds = ReturnType<typeof lastChanges>

/** The files that differ now from these ends of attempts, or cannot be compared. Null until measured. */
function prepareSince(
  questions: Questions,
  now: SnapshotLocation | null,
  ends: AttemptEnds,
): readonly string[] | null {
  const compared = ends.map(({ end, paths }) => {
    const states = end === null || now === null ? [] : questions.ask('net', { first: end, now, paths })
    const differs = states && new Map(states)
    return differs && paths.filter((file) => differs.get(file) !== false)
  })
  return compared.includes(undefined) ? null : compared.flatMap((files) => files ?? [])
}

/** The changed paths of ended attempts, each as the last of them left it, or a person's undo or restore after that. */
function lastChanges(
  attempts: readonly Attempt[],
  stored: SubjectWork['stored'],
  writes: readonly TreeWrite[],
): readonly { readonly end: SnapshotLocation | null; readonly paths: readonly string[] }[] {
  const trees = new Set(attempts.map(({ snapshot }) => treeOf(snapshot)))
  const ended = attempts.flatMap(({ id, status, closedAt, endSnapshot }) => {
    const changes = (stored.get(id)?.changes ?? []).filter(({ scope }) => scope !== 'imported')
    const files = status === 'abandoned' ? [] : changes.flatMap(namesOf)
    return [{ at: closedAt ?? 0, end: endSnapshot, files, isWrite: false }]
  })
  const written = writes
    .filter(({ before }) => trees.has(treeOf(before)))
    .map(({ writtenAt: at, after: end, files }) => ({ at, end, files, isWrite: true }))
  const ends = new Map<string, SnapshotLocation | null>()
  for (const { end, files, isWrite } of [...ended, ...written].toSorted((one, other) => one.at - other.at))
    for (const file of files) if (!isWrite || ends.has(file)) ends.set(file, end)
  return [...Map.groupBy(ends.keys(), (file) => ends.get(file) ?? null)].map(([end, paths]) => ({
    end,
    paths: paths.sort(),
  }))
}

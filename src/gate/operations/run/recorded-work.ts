import type { RecordContext } from '../../../kernel/operations/operation.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { namesOf } from '../../../track/domain/changes.ts'
import { treeOf } from '../../../track/domain/task.ts'
import { maxAttempts } from '../../ports/run-reads.ts'
import { gapChangesOf } from './changes-outside-attempts.ts'
import { peopleAmong } from './own-work.ts'
import {
  isKnown,
  type MeasuredChanges,
  type MeasuredWorkTree,
  pathsTouchedLater,
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
  // An undo or a restore wrote over files of the work.
  const writes = (await treeWrites.since(Math.min(...attempts.map(({ openedAt }) => openedAt)))).filter(
    ({ before, files }) => {
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

/** Whether the caller's work trees still are as the attempts left them, or gone. Those elsewhere count as recorded. */
export async function isAsRecorded(
  reads: Reads,
  { stored }: Pick<SubjectWork, 'stored'>,
  trees: readonly MeasuredWorkTree[],
): Promise<boolean> {
  for (const tree of trees) {
    const { own, last, measured } = tree
    // Only abandoned attempts: what they left is among the changes outside of attempts.
    if (last === null) continue
    const isGone = measured.touched === null && measured.gaps !== null
    if (isGone) continue
    const ownPaths = new Set(own.flatMap(({ id }) => stored.get(id)?.changes ?? []).flatMap(namesOf))
    const isWrittenOver = measured.touched?.some((file) => ownPaths.has(file)) ?? true
    if (isWrittenOver || (await pathsTouchedLater(reads, tree, last))?.length !== 0) return false
  }
  return (await gapChangesOf(reads, trees))?.length === 0
}

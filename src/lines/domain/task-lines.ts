import { type TaskFileLines, wholeFileLine } from '../../track/domain/landed.ts'
import { hashAt, isBroughtLine, isSolid, type LineStep } from './line-hashes.ts'

interface NetLines {
  readonly added: Set<string>
  readonly removed: Set<string>
}

/** What the steps of one task's attempts left in its files, oldest first. Only lines that are certainly the task's count. */
export function taskLines(
  steps: readonly LineStep[],
  attempts: ReadonlySet<string>,
): readonly TaskFileLines[] {
  const files = new Map<string, NetLines>()
  for (const step of steps) {
    if (step.certainty === 'contested' || !step.owners.every((owner) => attempts.has(owner))) continue
    const earlier = step.from === undefined ? undefined : files.get(step.from)
    if (step.from !== undefined && earlier !== undefined) {
      files.delete(step.from)
      files.set(step.path, earlier)
    }
    const net = files.get(step.path) ?? { added: new Set(), removed: new Set() }
    files.set(step.path, net)
    const { added, removed, returned } = step.hunks.length === 0 ? wholeFiles(step) : changedLines(step)
    for (const line of removed) if (!net.added.delete(line)) net.removed.add(line)
    for (const line of added) if (!net.removed.delete(line)) net.added.add(line)
    for (const line of returned) net.removed.delete(line)
  }
  return [...files]
    .map(([path, { added, removed }]) => ({ path, added: [...added], removed: [...removed] }))
    .filter(({ added, removed }) => added.length + removed.length > 0)
}

/**
 * What later steps of others left of a task's lines: without those that were rewritten, and in the files as they were
 * renamed. Null if they changed none. A step that only took lines away replaced nothing: what it took is lost.
 */
export function linesLeft(
  files: readonly TaskFileLines[],
  later: readonly LineStep[],
): readonly TaskFileLines[] | null {
  const left = new Map(
    files.map(({ path, added, removed }) => [
      path,
      { own: new Set(added), removed: new Set(removed), added: new Set(added) },
    ]),
  )
  let isChanged = false
  for (const step of later) {
    if (step.certainty === 'contested') continue
    const renamed = step.from === undefined ? undefined : left.get(step.from)
    if (step.from !== undefined && renamed !== undefined) {
      left.delete(step.from)
      left.set(step.path, renamed)
      isChanged = true
    }
    const file = left.get(step.path)
    if (file === undefined) continue
    const { added, removed } = step.hunks.length === 0 ? wholeFiles(step) : changedLines(step)
    for (const line of added) if (file.own.has(line)) file.added.add(line)
    if (added.every((line) => file.own.has(line) || file.removed.has(line))) continue
    for (const line of removed) isChanged = file.added.delete(line) || isChanged
  }
  if (!isChanged) return null
  return [...left]
    .map(([path, { added, removed }]) => ({ path, added: [...added], removed: [...removed] }))
    .filter(({ added, removed }) => added.length + removed.length > 0)
}

/** A step without hunks changed a file that has no lines; one that only renamed it keeps its content. */
function wholeFiles({ before, after }: LineStep) {
  return {
    added: after === null || after === before ? [] : [wholeFileLine(after)],
    removed: before === null || after === before ? [] : [wholeFileLine(before)],
    returned: [],
  }
}

/** Returned lines are those that git brought: of what the task removed before, they are there again. */
function changedLines({ hunks, added, removed, brought = [], moved = [], reformatted = [] }: LineStep) {
  const notNew = new Set([...moved.map(([, , line]) => line), ...reformatted.map(([, line]) => line)])
  const stillThere = new Set([...moved.map(([, line]) => line), ...reformatted.map(([line]) => line)])
  const lines = { added: [] as string[], removed: [] as string[], returned: [] as string[] }
  let [addedAt, removedAt] = [0, 0]
  for (const [before, removedCount, after, addedCount] of hunks) {
    for (let line = before; line < before + removedCount; line += 1, removedAt += 1) {
      const hash = hashAt(removed, removedAt)
      if (hash !== null && isSolid(hash) && !stillThere.has(line)) lines.removed.push(hash)
    }
    for (let line = after; line < after + addedCount; line += 1, addedAt += 1) {
      const hash = hashAt(added, addedAt)
      if (hash === null || !isSolid(hash) || notNew.has(line)) continue
      lines[isBroughtLine({ brought }, line) ? 'returned' : 'added'].push(hash)
    }
  }
  // A line that was only moved within the file proves nothing.
  const both = new Set(lines.added.filter((hash) => lines.removed.includes(hash)))
  return {
    returned: lines.returned,
    added: lines.added.filter((hash) => !both.has(hash)),
    removed: lines.removed.filter((hash) => !both.has(hash)),
  }
}

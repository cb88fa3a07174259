import { type TaskFileLines, wholeFileLine } from '../../track/domain/landed.ts'
import { hashAt, isBroughtLine, isSolid, type LineStep } from './line-hashes.ts'

interface NetLines {
  readonly added: Set<string>
  readonly removed: Set<string>
}

/** When people took the work of a task back. */
export interface WorkReturns {
  readonly sentBackAt: readonly number[]
  /** Where and when undos wrote. */
  readonly undos: readonly Pick<LineStep['span'], 'tree' | 'until'>[]
}

/**
 * What the steps of one task's attempts left in its files, oldest first. Only lines that are certainly the task's count,
 * and none that a person undid, or that were taken back by hand after a person sent the task back.
 */
export function taskLines(
  steps: readonly LineStep[],
  attempts: ReadonlySet<string>,
  returns: WorkReturns = { sentBackAt: [], undos: [] },
): readonly TaskFileLines[] {
  const files = new Map<string, NetLines>()
  const trees = new Set(steps.flatMap((step) => (isOnlyOf(step, attempts) ? [step.span.tree] : [])))
  for (const step of steps) {
    const isNobodys = takesBack(step, returns) && trees.has(step.span.tree)
    if (!isNobodys && !isOnlyOf(step, attempts)) continue
    const earlier = step.from === undefined ? undefined : files.get(step.from)
    if (step.from !== undefined && earlier !== undefined) {
      files.delete(step.from)
      files.set(step.path, earlier)
    }
    const { added, removed, returned } = step.hunks.length === 0 ? wholeFiles(step) : changedLines(step)
    const known = files.get(step.path)
    if (isNobodys) {
      for (const line of removed) known?.added.delete(line)
      for (const line of [...added, ...returned]) known?.removed.delete(line)
      continue
    }
    const net = known ?? { added: new Set(), removed: new Set() }
    files.set(step.path, net)
    for (const line of removed) if (!net.added.delete(line)) net.removed.add(line)
    for (const line of added) if (!net.removed.delete(line)) net.added.add(line)
    for (const line of returned) net.removed.delete(line)
  }
  return [...files]
    .map(([path, { added, removed }]) => ({ path, added: [...added], removed: [...removed] }))
    .filter(({ added, removed }) => added.length + removed.length > 0)
}

function isOnlyOf({ certainty, owners }: LineStep, attempts: ReadonlySet<string>): boolean {
  return certainty !== 'contested' && owners.length > 0 && owners.every((owner) => attempts.has(owner))
}

/** An undo, or a change of files alone: what git moved may be in another commit or a stash. */
function takesBack({ owners, span }: LineStep, { sentBackAt, undos }: WorkReturns): boolean {
  const { tree, since, until, headBefore, headAfter, ran, stashMoved } = span
  if (owners.length > 0) return false
  if (undos.some((undo) => undo.tree === tree && undo.until === until)) return true
  return (
    headBefore === headAfter && !ran && !stashMoved && sentBackAt.some((at) => at >= since && at <= until)
  )
}

/** So much of the lines that a later change took must be new in their place: else they were only taken away. */
const rewriteShare = 0.2

/**
 * What later steps of others left of a task's lines: without those that were rewritten, and in the files to which lines
 * were moved. Null if they changed none. Lines that were only taken away, or changed back, are not replaced: they are lost.
 */
export function linesLeft(
  files: readonly TaskFileLines[],
  later: readonly LineStep[],
): readonly TaskFileLines[] | null {
  const { gone, left } = followLater(files, later, new Set())
  return gone.size === 0 ? left : followLater(files, later, gone).left
}

interface FollowedFile {
  readonly own: Set<string>
  readonly removed: ReadonlySet<string>
  readonly added: Set<string>
  readonly rewritten: Rewriting[]
}

/** Lines of a task that a later one took, and what is left of those that it wrote in their place. */
interface Rewriting {
  readonly taken: readonly string[]
  readonly written: Set<string>
  /** What was written in their place, and went. */
  readonly gone: Set<string>
}

function followedFile({ added, removed }: Omit<TaskFileLines, 'path'>): FollowedFile {
  return { own: new Set(added), removed: new Set(removed), added: new Set(added), rewritten: [] }
}

/** Follows a task's lines through later steps. Of the sought lines, those taken from a file are looked for in all others. */
function followLater(
  files: readonly TaskFileLines[],
  later: readonly LineStep[],
  sought: ReadonlySet<string>,
): { readonly left: readonly TaskFileLines[] | null; readonly gone: ReadonlySet<string> } {
  const follower = new LineFollower(files, sought)
  for (const step of later) if (step.certainty !== 'contested') follower.follow(step)
  return { left: follower.left(), gone: follower.gone }
}

type FilesByLine = Map<string, Set<FollowedFile>>

function addFile(files: FilesByLine, line: string, file: FollowedFile): void {
  files.set(line, (files.get(line) ?? new Set()).add(file))
}

class LineFollower {
  /** Lines that were taken away, also those that came back elsewhere. */
  readonly gone = new Set<string>()
  readonly #sought: ReadonlySet<string>
  readonly #files: Map<string, FollowedFile>
  readonly #takenFrom: FilesByLine = new Map()
  readonly #broughtTo: FilesByLine = new Map()
  #isChanged = false

  constructor(files: readonly TaskFileLines[], sought: ReadonlySet<string>) {
    this.#sought = sought
    this.#files = new Map(files.map((file) => [file.path, followedFile(file)]))
  }

  follow(step: LineStep): void {
    this.#rename(step)
    const known = this.#files.get(step.path)
    if (known === undefined && this.#sought.size === 0) return
    const file = known ?? followedFile({ added: [], removed: [] })
    this.#files.set(step.path, file)
    const touched = new Set<string>()
    for (const hunk of step.hunks.length === 0 ? [wholeFiles(step)] : changedHunks(step)) {
      const written = hunk.added.filter((line) => !file.own.has(line) && !file.removed.has(line))
      for (const line of this.#bring(file, hunk)) touched.add(line)
      this.#changeRewritten(file, hunk, written)
      for (const line of this.#take(file, hunk, written)) touched.add(line)
    }
    for (const line of touched) this.#moveToOtherFile(line)
  }

  #rename({ from, path }: LineStep): void {
    const renamed = from === undefined ? undefined : this.#files.get(from)
    if (from === undefined || renamed === undefined) return
    this.#files.delete(from)
    this.#files.set(path, renamed)
    this.#isChanged = true
  }

  /** Lines that a file has now. Returns the sought ones. */
  #bring(file: FollowedFile, { added, moved }: HunkLines): readonly string[] {
    const brought = [...added, ...moved]
    for (const line of brought) {
      if (file.own.has(line)) file.added.add(line)
      this.#takenFrom.get(line)?.delete(file)
    }
    const sought = brought.filter((line) => this.#sought.has(line))
    for (const line of sought) addFile(this.#broughtTo, line, file)
    return sought
  }

  /** What was written in place of the task's lines may be taken or rewritten as well. */
  #changeRewritten(file: FollowedFile, { removed }: HunkLines, written: readonly string[]): void {
    for (const earlier of file.rewritten) {
      const went = removed.filter((line) => earlier.written.delete(line))
      for (const line of went) earlier.gone.add(line)
      if (went.length > 0 && written.length >= went.length * rewriteShare)
        for (const line of written) earlier.written.add(line)
    }
    for (const line of removed) {
      this.#broughtTo.get(line)?.delete(file)
      if (file.rewritten.some((earlier) => earlier.gone.has(line))) this.gone.add(line)
    }
  }

  /** The task's lines that a hunk took are rewritten if enough is new in their place. Returns those that were only taken. */
  #take(file: FollowedFile, { removed }: HunkLines, written: readonly string[]): readonly string[] {
    const taken = removed.filter((line) => file.added.has(line))
    if (taken.length === 0) return []
    if (written.length < taken.length * rewriteShare) {
      for (const line of taken) {
        this.gone.add(line)
        addFile(this.#takenFrom, line, file)
      }
      return taken
    }
    for (const line of taken) file.added.delete(line)
    file.rewritten.push({ taken, written: new Set(written), gone: new Set() })
    this.#isChanged = true
    return []
  }

  /** A line that was taken from some files, and is in another one now, is the task's there. */
  #moveToOtherFile(line: string): void {
    const [target] = this.#broughtTo.get(line) ?? []
    if (target === undefined) return
    for (const source of this.#takenFrom.get(line) ?? []) {
      source.added.delete(line)
      target.own.add(line)
      target.added.add(line)
      this.#isChanged = true
    }
    this.#takenFrom.delete(line)
  }

  /** Null if no step changed the task's lines. */
  left(): readonly TaskFileLines[] | null {
    if (!this.#isChanged) return null
    return [...this.#files]
      .map(([path, { added, removed, rewritten }]) => {
        // What was written in their place went as well.
        const lost = rewritten.flatMap((one) => (this.#isKept(one) ? [] : one.taken))
        return { path, added: [...new Set([...added, ...lost])], removed: [...removed] }
      })
      .filter(({ added, removed }) => added.length + removed.length > 0)
  }

  #isKept({ taken, written, gone }: Rewriting): boolean {
    const moved = [...gone].filter((line) => (this.#broughtTo.get(line)?.size ?? 0) > 0)
    return written.size + moved.length >= taken.length * rewriteShare
  }
}

/** A step without hunks changed a file that has no lines; one that only renamed it keeps its content. */
function wholeFiles({ before, after }: LineStep) {
  return {
    added: after === null || after === before ? [] : [wholeFileLine(after)],
    removed: before === null || after === before ? [] : [wholeFileLine(before)],
    returned: [],
    moved: [],
  }
}

/** The lines of one place in a file that a step changed. Returned ones git brought: of what the task removed before, they are there again. */
interface HunkLines {
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly returned: readonly string[]
  /** From other files. */
  readonly moved: readonly string[]
}

function changedLines(step: LineStep): Omit<HunkLines, 'moved'> {
  const hunks = changedHunks(step)
  return {
    added: hunks.flatMap(({ added }) => added),
    removed: hunks.flatMap(({ removed }) => removed),
    returned: hunks.flatMap(({ returned }) => returned),
  }
}

function changedHunks(step: LineStep): readonly HunkLines[] {
  const { path, from = path, hunks, added, removed, brought = [], moved = [], reformatted = [] } = step
  const ofOthers = new Set(moved.flatMap(([source, , line]) => (source === from ? [] : [line])))
  const notNew = new Set([...moved.map(([, , line]) => line), ...reformatted.map(([, line]) => line)])
  const stillThere = new Set([...moved.map(([, line]) => line), ...reformatted.map(([line]) => line)])
  let [addedAt, removedAt] = [0, 0]
  const found = hunks.map(([before, removedCount, after, addedCount]) => {
    const lines = {
      added: [] as string[],
      removed: [] as string[],
      returned: [] as string[],
      moved: [] as string[],
    }
    for (let line = before; line < before + removedCount; line += 1, removedAt += 1) {
      const hash = hashAt(removed, removedAt)
      if (hash !== null && isSolid(hash) && !stillThere.has(line)) lines.removed.push(hash)
    }
    for (let line = after; line < after + addedCount; line += 1, addedAt += 1) {
      const hash = hashAt(added, addedAt)
      if (hash === null || !isSolid(hash)) continue
      const isBrought = isBroughtLine({ brought }, line)
      if (!notNew.has(line)) lines[isBrought ? 'returned' : 'added'].push(hash)
      else if (ofOthers.has(line) && !isBrought) lines.moved.push(hash)
    }
    return lines
  })
  // A line that was only moved within the file proves nothing.
  const removedInAll = new Set(found.flatMap((lines) => lines.removed))
  const both = new Set(found.flatMap((lines) => lines.added).filter((hash) => removedInAll.has(hash)))
  return found.map(
    (lines): HunkLines => ({
      returned: lines.returned,
      moved: lines.moved,
      added: lines.added.filter((hash) => !both.has(hash)),
      removed: lines.removed.filter((hash) => !both.has(hash)),
    }),
  )
}

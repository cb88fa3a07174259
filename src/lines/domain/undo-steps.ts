import type { LineHunk, LineStep } from './line-hashes.ts'
import { type LineOrigin, type LineRecord, lineOf, linesIn } from './record.ts'

/** A hunk of a step, as an undo sees it. Line numbers count from 1, those of added lines in the content afterwards. */
export interface UndoHunk {
  readonly before: number
  readonly removed: number
  readonly after: number
  readonly added: number
  /** The removed lines come back. */
  readonly restores: boolean
  /** The added lines that go. */
  readonly own: readonly number[]
  /** The added lines that may be its own, and stay. */
  readonly uncertain: readonly number[]
  /** The removed lines that only moved or changed their white space: their owner is the same. */
  readonly kept: readonly number[]
  /** The removed lines that are in another file since, and stay there. */
  readonly elsewhere: readonly number[]
}

/** A change of a file from one content to the next. */
export interface UndoStep {
  readonly after: string | null
  readonly hunks: readonly UndoHunk[]
}

/** The changes of one file from the start of the undone work to its end. */
export interface UndoChain {
  readonly path: string
  /** Its path at the start. */
  readonly from: string
  readonly steps: readonly UndoStep[]
  /** Who gave the file its path at the end, if that is another one. */
  readonly isOwnRename: boolean
  /** Whether its own steps made the file, or removed it. */
  readonly isOwnArrival: boolean
  readonly isOwnRemoval: boolean
}

export interface ChainRequest {
  readonly path: string
  /** The content at the end, and the one that a path had at the start; null for no file. */
  readonly end: string | null
  readonly startOf: (path: string) => string | null | undefined
  /** Whether a step belongs to the time and the work tree of the undone work. */
  readonly isMeant: (step: LineStep) => boolean
  readonly makers: UndoneMakers
}

/** The attempts and turns to undo. */
export interface UndoneMakers {
  readonly ids: ReadonlySet<string>
  /** Whether nobody else can have been at work in the time of a step: then whoever of them made it, it is undone. */
  readonly wereAlone: (time: Pick<LineStep['span'], 'tree' | 'since' | 'until'>) => boolean
}

/**
 * The recorded changes that lead from the content of a file at the start to the one at the end, by the contents that
 * they began and ended with. Null if the record does not have all of them.
 */
export function undoChain(
  record: LineRecord,
  { path, end, startOf, isMeant, makers }: ChainRequest,
): UndoChain | null {
  const chain: LineStep[] = []
  let name = path
  let content = end
  for (;;) {
    const step = stepBefore(record, { name, content, next: chain[0], isMeant })
    if (step === undefined) break
    chain.unshift(step)
    name = step.from ?? step.path
    content = step.before
  }
  if (chain.length === 0 || startOf(name) !== content) return null
  const isOwn = (step: LineStep | undefined) => step !== undefined && isCertainlyOf(step, makers)
  return {
    path,
    from: name,
    // A file that others made again has its lines again.
    steps: chain.map((step, at) => {
      const isMadeAgain = step.after === null && at < chain.length - 1 && !isOwn(chain[at + 1])
      return undoStep(record, step, { makers, isMadeAgain })
    }),
    isOwnRename: chain.some((step) => step.from !== undefined && step.from !== step.path && isOwn(step)),
    isOwnArrival: content === null && isOwn(chain[0]),
    isOwnRemoval: end === null && isOwn(chain.at(-1)),
  }
}

/** The last step that ended with a content of a path, before another one. */
function stepBefore(
  record: LineRecord,
  {
    name,
    content,
    next,
    isMeant,
  }: {
    readonly name: string
    readonly content: string | null
    readonly next: LineStep | undefined
    readonly isMeant: ChainRequest['isMeant']
  },
): LineStep | undefined {
  return record.stepsAt(name).findLast((step) => {
    if (step.after !== content || !isMeant(step)) return false
    if (next === undefined || step.seq < next.seq) return true
    // In one span, only the changes of several authors follow on each other: other steps are beside them.
    return step.seq === next.seq && step.link !== undefined && step.link === (next.link ?? 0) - 1
  })
}

function undoStep(
  record: LineRecord,
  step: LineStep,
  { makers, isMadeAgain }: { readonly makers: UndoneMakers; readonly isMadeAgain: boolean },
): UndoStep {
  const away = new Set(record.movedAway(step))
  const isOwn = isCertainlyOf(step, makers)
  const state = record.stateAfter(step)
  const name = step.from ?? step.path
  const movedHere = new Set(step.moved?.flatMap(([from, , line]) => (from === name ? [line] : [])))
  const reformatted = new Set(step.reformatted?.map(([, line]) => line))
  const alike = linesIn(step.alike)
  const birth = `${step.seq}:${step.position}:`
  const kept = new Set([
    ...(step.reformatted ?? []).map(([line]) => line),
    ...(step.moved ?? []).flatMap(([from, line]) => (from === name ? [line] : [])),
  ])
  const hunkOf = ([before, removed, after, added]: LineHunk): UndoHunk => {
    const [own, uncertain]: [number[], number[]] = [[], []]
    const lines = Array.from({ length: removed }, (_, more) => before + more)
    let others = 0
    for (let line = after; line < after + added; line += 1) {
      const origin = lineOf(state, line)?.origin ?? null
      const isOwnForm = isOwn && (movedHere.has(line) || reformatted.has(line))
      // A line of an earlier content may be a copy, but this step put it there again.
      const isAgain = isOwn && origin?.birth.startsWith(birth) === true && !alike.has(line)
      if (isOwnForm || isAgain || (origin !== null && isCertainlyOf(origin, makers))) own.push(line)
      else if (origin !== null && makersOf(origin).some((maker) => makers.ids.has(maker)))
        uncertain.push(line)
      else others += 1
    }
    const isImported = step.origin === 'imported' || (step.origin === 'mixed' && added === 0)
    return {
      before,
      removed,
      after,
      added,
      restores: isOwn && !isImported && !isMadeAgain && uncertain.length + others === 0,
      own,
      uncertain,
      kept: lines.filter((line) => kept.has(line)),
      elsewhere: lines.filter((line) => away.has(line)),
    }
  }
  return { after: step.after, hunks: step.hunks.map(hunkOf) }
}

function makersOf({ owners, turns = [] }: Pick<LineOrigin, 'owners' | 'turns'>): readonly string[] {
  return [...owners, ...turns]
}

function isCertainlyOf(
  made: Pick<LineOrigin, 'owners' | 'turns' | 'certainty' | 'span'>,
  makers: UndoneMakers,
): boolean {
  const all = makersOf(made)
  if (all.length === 0 || !all.every((maker) => makers.ids.has(maker))) return false
  if (made.certainty === 'certain') return true
  return made.certainty === 'contested' && makers.wereAlone(made.span)
}

import type { BroughtBy } from '../../track/domain/changes.ts'
import { align } from './alignment.ts'
import {
  blankHash,
  hashAt,
  hashLength,
  isSolid,
  type LineHunk,
  type LineStep,
  type MeasuredStep,
  type StepCertainty,
} from './line-hashes.ts'

/** The origin of a line, by the record. */
export interface LineOrigin {
  /** The attempts that made it; none if no attempt claimed the time. */
  readonly owners: readonly string[]
  /** The turns of agents that made it without a task. Without turns, it was a person or an unrecorded tool. */
  readonly turns?: readonly string[]
  readonly certainty: StepCertainty
  /** The log entry that records it. */
  readonly seq: number
  /** Identifies the line wherever it moves. */
  readonly birth: string
  /** Between which snapshots of which work tree it was made. */
  readonly span: Pick<LineStep['span'], 'tree' | 'since' | 'until'>
  readonly reformattedBy?: readonly string[]
  readonly movedBy?: readonly string[]
}

/** A recorded line of a state of a file. Without an origin, git knows more about it than the record. */
export interface RecordedLine {
  readonly hash: string | null
  readonly origin: LineOrigin | null
  /** Git brought it. */
  readonly brought?: BroughtBy
}

/** The recorded lines of a content, by their number from 1. Missing lines are older than the record. */
export interface LineState {
  readonly lines: readonly number[]
  readonly records: readonly RecordedLine[]
}

const nothing: LineState = { lines: [], records: [] }

/** States kept at once, in lines: beyond this they are computed again. */
const maxKept = 4_000_000
const maxCandidates = 50

/** The recorded steps of some paths, and the lines of each content by them. */
export class LineRecord {
  readonly #byAfter = new Map<string, LineStep[]>()
  readonly #byBefore = new Map<string, LineStep[]>()
  readonly #byPath = new Map<string, LineStep[]>()
  readonly #inSpan = new Map<string, LineStep>()
  readonly #states = new Map<LineStep, LineState>()
  #kept = 0
  #added: ReadonlySet<string> | null = null
  readonly #renames: readonly LineStep[]

  constructor(steps: readonly LineStep[]) {
    const sorted = steps.toSorted((a, b) => a.seq - b.seq || a.position - b.position)
    this.#renames = sorted.filter(({ from, path }) => from !== undefined && from !== path)
    for (const step of sorted) {
      const name = step.from ?? step.path
      if (step.after !== null) appendStep(this.#byAfter, keyOf(step.path, step.after), step)
      if (step.before !== null) appendStep(this.#byBefore, keyOf(name, step.before), step)
      appendStep(this.#byPath, step.path, step)
      const key = `${step.seq} ${name}`
      // The last state that an attempt passed through comes first.
      if (!this.#inSpan.has(key)) this.#inSpan.set(key, step)
    }
  }

  /** Whether some step added a line with this hash. */
  hasAdded(hash: string): boolean {
    this.#added ??= addedHashes([...this.#byPath.values()].flat())
    return this.#added.has(hash)
  }

  /** The newest step that ended with this content of a path. */
  stepWith(path: string, oid: string): LineStep | null {
    return this.#byAfter.get(keyOf(path, oid))?.at(-1) ?? null
  }

  /** The recorded lines of a content; null if it was never recorded. */
  stateOf(path: string, oid: string): LineState | null {
    const step = this.stepWith(path, oid)
    if (step !== null) return this.stateAfter(step)
    return this.#byBefore.has(keyOf(path, oid)) ? nothing : null
  }

  /** The steps of a path that ended with a content, newest first, each content once. */
  statesOf(path: string, most = maxCandidates): readonly LineStep[] {
    return distinctSteps(this.#byPath.get(path) ?? [], most)
  }

  /** The steps of a path, oldest first. A renaming is a step of the new path. */
  stepsAt(path: string): readonly LineStep[] {
    return this.#byPath.get(path) ?? []
  }

  /** The path that a file has after the renames that were recorded since a time. */
  nameSince(path: string, since: number): string {
    return this.#renames.reduce(
      (name, step) => (step.from === name && step.span.since >= since ? step.path : name),
      path,
    )
  }

  /** The removed lines of a step that went to another file. */
  movedAway(step: LineStep): readonly number[] {
    const name = step.from ?? step.path
    return [...this.#byPath.values()]
      .flat()
      .filter(({ seq, path }) => seq === step.seq && path !== step.path)
      .flatMap(({ moved = [] }) => moved.flatMap(([from, line]) => (from === name ? [line] : [])))
  }

  /** The origins of the lines that a step changed or removed. Moved and reformatted lines are not lost. */
  lostIn(step: LineStep): readonly LineOrigin[] {
    const before = this.#before(step)
    if (before === null) return []
    const name = step.from ?? step.path
    const kept = new Set([
      ...(step.reformatted ?? []).map(([old]) => old),
      ...(step.moved ?? []).flatMap(([from, old]) => (from === name ? [old] : [])),
    ])
    const { lines, records } = this.stateAfter(before)
    return step.hunks.flatMap(([first, removed]) =>
      lines.flatMap((line, at) => {
        const record = records[at]
        if (line < first || line >= first + removed || kept.has(line) || record?.hash === blankHash) return []
        return record?.origin ?? []
      }),
    )
  }

  /** The recorded lines after a step. */
  stateAfter(step: LineStep): LineState {
    const chain: LineStep[] = []
    let state: LineState | undefined
    let current: LineStep | null = step
    while (current !== null) {
      state = this.#states.get(current) ?? this.#independentState(current)
      if (state !== undefined) break
      chain.push(current)
      current = this.#before(current)
    }
    let result = state ?? nothing
    for (const next of chain.reverse()) {
      result = this.#explainBrought(next, this.#keepOwners(next, this.#after(next, result)))
      this.#keep(next, result)
    }
    return result
  }

  #keep(step: LineStep, state: LineState): void {
    if (this.#kept > maxKept) {
      this.#states.clear()
      this.#kept = 0
    }
    this.#kept += state.lines.length
    this.#states.set(step, state)
  }

  /** The step with which a content was first recorded, before another one. */
  #earlier({ path, after, seq }: LineStep): LineStep | undefined {
    return after === null
      ? undefined
      : this.#byAfter.get(keyOf(path, after))?.findLast((one) => one.seq < seq)
  }

  /** A state that does not depend on the step before: one that existed earlier, or that git brought whole. */
  #independentState(step: LineStep): LineState | undefined {
    if (step.after === null) return nothing
    const earlier = this.#earlier(step)
    if (earlier !== undefined) return isWrittenAgain(step) ? undefined : this.stateAfter(earlier)
    const key = keyOf(step.path, step.after)
    const wasBase = this.#byBefore.get(key)?.some(({ seq }) => seq < step.seq) === true
    return wasBase || step.origin === 'imported' ? nothing : undefined
  }

  /** The step before: it ended with the content that this one began with, preferably in the same work tree. */
  #before(step: LineStep): LineStep | null {
    if (step.link !== undefined && step.link > 0) return this.#linkBefore(step)
    if (step.before === null) return null
    const ended = this.#byAfter.get(keyOf(step.from ?? step.path, step.before)) ?? []
    const earlier = ended.filter(({ seq }) => seq < step.seq)
    return earlier.findLast(({ span }) => span.tree === step.span.tree) ?? earlier.at(-1) ?? null
  }

  /** The step of the author before, if several authors wrote a path one after the other. */
  #linkBefore({ seq, path, link = 0 }: LineStep): LineStep | null {
    const steps = this.#byPath.get(path) ?? []
    return steps.find((one) => one.seq === seq && one.link === link - 1) ?? null
  }

  #after(step: LineStep, before: LineState): LineState {
    const lines: number[] = []
    const records: RecordedLine[] = []
    const push = (line: number, one: RecordedLine): void => {
      lines.push(line)
      records.push(one)
    }
    const arrivals = this.#arrivals(step, before)
    let shift = 0
    let at = 0
    const passUntil = (limit: number): void => {
      for (; at < before.lines.length && (before.lines[at] ?? 0) < limit; at += 1) {
        push((before.lines[at] ?? 0) + shift, before.records[at] ?? unknownLine)
      }
    }
    let index = 0
    for (const [first, removed, after, added] of step.hunks) {
      passUntil(first)
      while (at < before.lines.length && (before.lines[at] ?? 0) < first + removed) at += 1
      for (let line = after; line < after + added; line += 1, index += 1) {
        push(line, arrivals(line, hashAt(step.added, index)))
      }
      shift += added - removed
    }
    passUntil(Number.MAX_SAFE_INTEGER)
    return addContextLines({ lines, records }, step)
  }

  /** Finds the origins of added lines. */
  #arrivals(step: LineStep, before: LineState): (line: number, hash: string | null) => RecordedLine {
    const moved = new Map(step.moved?.map(([from, old, line]) => [line, { from, old }]))
    const reformatted = new Map(step.reformatted?.map(([old, line]) => [line, old]))
    const [brought, alike] = [linesIn(step.brought), linesIn(step.alike)]
    const earlier = step.reported ? undefined : this.#earlier(step)
    const earlierState = earlier && this.stateAfter(earlier)
    return (line, hash) => {
      const old = reformatted.get(line)
      if (old !== undefined) {
        const origin = lineOf(before, old)?.origin ?? null
        return { hash, origin: origin && { ...origin, reformattedBy: step.owners } }
      }
      const source = moved.get(line)
      if (source !== undefined) {
        const origin = this.#source(step, source)
        return { hash, origin: origin && { ...origin, movedBy: step.owners } }
      }
      if (brought.has(line)) return { hash, origin: null, brought: step.broughtBy ?? {} }
      const first = earlierState && lineOf(earlierState, line)?.origin
      if (first && hasSameMaker(first, step)) return { hash, origin: first }
      const birth = `${step.seq}:${step.position}:${line}`
      return {
        hash,
        origin: {
          owners: step.owners,
          ...(step.turns && { turns: step.turns }),
          // Whoever was there wrote it, or copied it from the other version.
          certainty: step.certainty === 'certain' && (alike.has(line) || first) ? 'probable' : step.certainty,
          seq: step.seq,
          birth,
          span: step.span,
        },
      }
    }
  }

  #source(step: LineStep, { from, old }: { readonly from: string; readonly old: number }): LineOrigin | null {
    const isOwn = from === (step.from ?? step.path)
    const left = isOwn ? step : this.#inSpan.get(`${step.seq} ${from}`)
    const before = left === undefined ? null : this.#before(left)
    return before === null ? null : (lineOf(this.stateAfter(before), old)?.origin ?? null)
  }

  /**
   * Lines added around a git command may come from another version of the file: a squash, a cherry-pick, a stash. Such
   * a line keeps its owner, once. So does a line of the version in the index: the file was checked out, and then changed.
   */
  #keepOwners(step: LineStep, state: LineState): LineState {
    const { ran } = step.span
    const staged = step.from === undefined ? step.staged : undefined
    if ((!ran && staged === undefined) || step.added === '' || step.reported) return state
    const own = this.#ownChain(step)
    const isElsewhere = ({ path, after }: LineStep): boolean =>
      (ran && after !== null && !own.has(after) && after !== step.before) ||
      (staged !== undefined && after === staged && path === step.path)
    const birth = `${step.seq}:${step.position}:`
    const isNew = ({ origin }: RecordedLine): boolean => origin?.birth.startsWith(birth) === true
    const wanted = new Set(
      state.records.flatMap((line) => (isNew(line) && line.hash !== null ? [line.hash] : [])),
    )
    if (wanted.size === 0) return state
    const names = this.#namesOf(step)
    const others = [...names]
      .flatMap((name) => this.#byPath.get(name) ?? [])
      .filter((other) => other.seq < step.seq && isElsewhere(other))
    const births = new Set(
      state.records.flatMap((line) => (line.origin === null || isNew(line) ? [] : [line.origin.birth])),
    )
    const hashes = state.records.map(({ hash }) => hash)
    const candidates = distinctSteps(others, maxCandidates)
      .map((other) => ({ other, otherState: this.stateAfter(other) }))
      .filter(({ otherState }) => otherState.records.some(({ hash }) => hash !== null && wanted.has(hash)))
      .map(({ other, otherState }) => {
        const matches = matchLines({ lines: state.lines, hashes }, otherState)
        const own = [...matches].filter(([at]) => isNew(state.records[at] ?? unknownLine))
        return { other, otherState, matches: own }
      })
      .sort((a, b) => b.matches.length - a.matches.length || b.other.seq - a.other.seq)
    const records = [...state.records]
    for (const { otherState, matches } of candidates) {
      for (const [at, { index }] of matches) {
        const line = records[at]
        const source = otherState.records[index]
        if (line === undefined || source === undefined || !isNew(line)) continue
        if (source.origin !== null && births.has(source.origin.birth)) continue
        if (source.origin !== null) births.add(source.origin.birth)
        records[at] = { hash: line.hash, origin: source.origin }
      }
    }
    return { lines: state.lines, records }
  }

  /** Of a content that was recorded before, that record tells the owners of lines that git brought meanwhile. */
  #explainBrought(step: LineStep, state: LineState): LineState {
    const isOpen = ({ origin, brought }: RecordedLine) => origin === null && brought !== undefined
    const earlier = state.records.some(isOpen) ? this.#earlier(step) : undefined
    if (earlier === undefined) return state
    const known = this.stateAfter(earlier)
    const records = state.records.map((record, at) =>
      isOpen(record) ? { ...record, origin: lineOf(known, state.lines[at] ?? 0)?.origin ?? null } : record,
    )
    return { lines: state.lines, records }
  }

  /** The path of a step, and its earlier ones. */
  #namesOf(step: LineStep): ReadonlySet<string> {
    const names = new Set<string>()
    for (let current: LineStep | null = step; current !== null; current = this.#before(current)) {
      names.add(current.path).add(current.from ?? current.path)
    }
    return names
  }

  /** The earlier contents that a step is based on, back to the last move of HEAD or the stash. */
  #ownChain(step: LineStep): ReadonlySet<string> {
    const own = new Set<string>()
    for (let current: LineStep | null = step; current !== null; current = this.#before(current)) {
      if (current.after !== null) own.add(current.after)
      const { headBefore, headAfter, stashMoved } = current.span
      if (headBefore !== headAfter || stashMoved) return own
    }
    return own
  }
}

function addedHashes(steps: readonly LineStep[]): ReadonlySet<string> {
  const hashes = new Set<string>()
  for (const { added } of steps) {
    for (let at = 0; at < added.length; at += hashLength) hashes.add(added.slice(at, at + hashLength))
  }
  return hashes
}

/** Whether someone at work then made an earlier content again, and not git. */
function isWrittenAgain({ reported, owners, turns = [], span, staged, origin }: LineStep): boolean {
  if (reported) return true
  return owners.length + turns.length > 0 && !span.ran && staged === undefined && origin === 'task'
}

function hasSameMaker(origin: LineOrigin, { owners, turns = [] }: LineStep): boolean {
  return (
    origin.owners.some((id) => owners.includes(id)) || origin.turns?.some((id) => turns.includes(id)) === true
  )
}

export function linesIn(ranges: MeasuredStep['brought'] = []): ReadonlySet<number> {
  return new Set(ranges.flatMap(([first, count]) => Array.from({ length: count }, (_, more) => first + more)))
}

const unknownLine: RecordedLine = { hash: null, origin: null }

function appendStep(map: Map<string, LineStep[]>, key: string, step: LineStep): void {
  const steps = map.get(key)
  if (steps === undefined) map.set(key, [step])
  else steps.push(step)
}

function keyOf(path: string, oid: string): string {
  return `${oid} ${path}`
}

/** The newest first, each content once. */
function distinctSteps(steps: readonly LineStep[], most: number): readonly LineStep[] {
  const contents = new Set<string>()
  const distinct: LineStep[] = []
  const newestFirst = steps.toSorted(
    (a, b) => b.seq - a.seq || (b.link ?? 0) - (a.link ?? 0) || a.position - b.position,
  )
  for (const step of newestFirst) {
    if (step.after === null || contents.has(step.after)) continue
    contents.add(step.after)
    distinct.push(step)
    if (distinct.length === most) break
  }
  return distinct
}

/** A line of a state, if it is recorded. */
export function lineOf(state: LineState, line: number): RecordedLine | null {
  const at = indexOf(state.lines, line)
  return at === null ? null : (state.records[at] ?? null)
}

function indexOf(lines: readonly number[], line: number): number | null {
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((lines[middle] ?? 0) < line) low = middle + 1
    else high = middle
  }
  return lines[low] === line ? low : null
}

/** Adds the lines beside the hunks, which older states may lack: they anchor matched lines. */
function addContextLines(state: LineState, { around, hunks }: LineStep): LineState {
  const missing = around.lines.flatMap((line, index) => {
    const hash = hashAt(around.hashes, index)
    return hash === null || isAdded(hunks, line) || indexOf(state.lines, line) !== null
      ? []
      : [{ line, record: { hash, origin: null } }]
  })
  if (missing.length === 0) return state
  const all = [
    ...state.lines.map((line, at) => ({ line, record: state.records[at] ?? unknownLine })),
    ...missing,
  ]
  all.sort((a, b) => a.line - b.line)
  return { lines: all.map(({ line }) => line), records: all.map(({ record }) => record) }
}

function isAdded(hunks: readonly LineHunk[], line: number): boolean {
  return hunks.some(([, , after, added]) => line >= after && line < after + added)
}

/** Lines with their hashes, of a whole file or of the recorded part. */
export interface HashedLines {
  readonly lines: readonly number[]
  readonly hashes: readonly (string | null)[]
}

export function wholeHashedFile(hashes: readonly string[]): HashedLines {
  return { lines: hashes.map((_, at) => at + 1), hashes }
}

export interface Match {
  /** The index of the line in the state. */
  readonly index: number
  /** It proves nothing by itself and counts because an adjacent line matches. */
  readonly rests: boolean
}

/**
 * Matches lines of a file with lines of a state: the same text in the same order. A thin or repeated line counts only
 * next to a line that counts.
 */
export function matchLines({ lines, hashes }: HashedLines, state: LineState): ReadonlyMap<number, Match> {
  const counts = new Map<string, number>()
  for (const hash of hashes) if (hash !== null) counts.set(hash, (counts.get(hash) ?? 0) + 1)
  // Lines that count by themselves come first: many repeated lines in order prove less than one of them.
  const anchors = new Set(
    [...counts].flatMap(([hash, count]) => (count === 1 && isSolid(hash) ? [hash] : [])),
  )
  const pairs = align(
    hashes.map((hash, at) => hash ?? `?${at}`),
    state.records.map(({ hash }) => hash ?? ''),
    anchors,
  )
  const matches = new Map<number, Match>()
  for (const [at, index] of pairs.entries()) {
    const hash = hashes[at] ?? null
    if (index < 0 || hash === null || !anchors.has(hash)) continue
    matches.set(at, { index, rests: false })
  }
  const isBeside = (at: number, other: number): boolean => {
    const match = matches.get(other)
    if (match === undefined || Math.abs((lines[at] ?? 0) - (lines[other] ?? 0)) !== 1) return false
    return Math.abs((state.lines[match.index] ?? 0) - (state.lines[pairs[at] ?? -1] ?? 0)) === 1
  }
  const rest = (at: number, other: number): void => {
    const index = pairs[at] ?? -1
    if (index < 0 || matches.has(at) || !isBeside(at, other)) return
    matches.set(at, { index, rests: true })
  }
  for (let at = 1; at < lines.length; at += 1) rest(at, at - 1)
  for (let at = lines.length - 2; at >= 0; at -= 1) rest(at, at + 1)
  return matches
}

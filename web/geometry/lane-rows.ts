import type { BarSpan } from './bar-layout.ts'
import type { TimeRange } from './time-scale.ts'

export type LaneGrouping = 'phase' | 'agent'

export interface LanePhase {
  readonly id: string
  readonly name: string
}

export interface LaneTask {
  readonly id: string
  /** Null is outside any phase. */
  readonly phaseId: string | null
  readonly isDone: boolean
  readonly needsReview: boolean
}

export interface LaneSpan extends BarSpan {
  readonly taskId: string
  readonly agent: string | null
}

/** The head of a phase or an agent. */
export interface GroupRow {
  readonly kind: 'group'
  readonly id: string
  /** Null gathers what has no phase, or no agent yet. */
  readonly name: string | null
  readonly folded: boolean
  readonly tasks: number
  readonly done: number
  /** How many of them wait for a person. */
  readonly doneWaiting: number
  /** From the first beginning to the last end below it. */
  readonly extent: TimeRange | null
  readonly running: boolean
}

export interface TaskRow<T extends LaneTask, S extends LaneSpan> {
  readonly kind: 'task'
  readonly id: string
  readonly task: T
  readonly spans: readonly S[]
}

export type LaneRow<T extends LaneTask, S extends LaneSpan> = GroupRow | TaskRow<T, S>

export interface LaneSource<T extends LaneTask, S extends LaneSpan> {
  readonly phases: readonly LanePhase[]
  readonly tasks: readonly T[]
  readonly spans: readonly S[]
}

export interface LaneChoice {
  readonly grouping: LaneGrouping
  readonly folded: ReadonlySet<string>
  readonly now: number
}

/** Phases or agents with their tasks below them. A task that several agents tried stands below each of them. */
export function laneRows<T extends LaneTask, S extends LaneSpan>(
  source: LaneSource<T, S>,
  choice: LaneChoice,
): readonly LaneRow<T, S>[] {
  const groups = choice.grouping === 'phase' ? groupByPhase(source) : groupByAgent(source)
  return groups.flatMap((group) => {
    const id = `${choice.grouping}:${group.id ?? ''}`
    const folded = choice.folded.has(id)
    const spans = group.rows.flatMap((row) => row.spans)
    const done = group.rows.filter(({ task }) => task.isDone)
    const head: GroupRow = {
      kind: 'group',
      id,
      name: group.name,
      folded,
      tasks: group.rows.length,
      done: done.length,
      doneWaiting: done.filter(({ task }) => task.needsReview).length,
      extent: extentOf(spans, choice.now),
      running: spans.some(({ to }) => to === null),
    }
    if (folded) return [head]
    return [head, ...group.rows.map((row) => ({ kind: 'task' as const, id: `${id}/${row.task.id}`, ...row }))]
  })
}

interface LaneGroup<T, S> {
  readonly id: string | null
  readonly name: string | null
  readonly rows: readonly { readonly task: T; readonly spans: readonly S[] }[]
}

function groupByPhase<T extends LaneTask, S extends LaneSpan>({
  phases,
  tasks,
  spans,
}: LaneSource<T, S>): readonly LaneGroup<T, S>[] {
  const known = new Set(phases.map(({ id }) => id))
  const spansOf = Map.groupBy(spans, ({ taskId }) => taskId)
  const inPhase = Map.groupBy(tasks, ({ phaseId }) =>
    phaseId !== null && known.has(phaseId) ? phaseId : null,
  )
  const homeless = inPhase.has(null) ? [{ id: null, name: null }] : []
  return [...phases, ...homeless].map(({ id, name }) => ({
    id,
    name,
    rows: (inPhase.get(id) ?? []).map((task) => ({ task, spans: spansOf.get(task.id) ?? [] })),
  }))
}

/** Agents in the order in which they began; last, the tasks that nobody tried. */
function groupByAgent<T extends LaneTask, S extends LaneSpan>({
  tasks,
  spans,
}: LaneSource<T, S>): readonly LaneGroup<T, S>[] {
  const places = new Map(tasks.map((task, place) => [task.id, place]))
  const agents = [
    ...Map.groupBy(
      spans.toSorted((a, b) => a.from - b.from),
      ({ agent }) => agent,
    ),
  ]
  const groups = agents.map(([agent, theirs]) => ({
    id: `agent ${agent ?? ''}`,
    name: agent,
    rows: [...Map.groupBy(theirs, ({ taskId }) => taskId)]
      .toSorted(([a], [b]) => (places.get(a) ?? 0) - (places.get(b) ?? 0))
      .flatMap(([taskId, tries]) => {
        const task = tasks[places.get(taskId) ?? -1]
        return task ? [{ task, spans: tries }] : []
      }),
  }))
  const tried = new Set(spans.map(({ taskId }) => taskId))
  const rest = tasks.filter(({ id }) => !tried.has(id))
  if (rest.length === 0) return groups
  return [...groups, { id: null, name: null, rows: rest.map((task) => ({ task, spans: [] })) }]
}

function extentOf(spans: readonly BarSpan[], now: number): TimeRange | null {
  if (spans.length === 0) return null
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const span of spans) {
    from = Math.min(from, span.from)
    to = Math.max(to, span.to ?? now)
  }
  return { from, to }
}

/** Rows of different heights below each other: `tops[i]` is where row i begins, and the last entry is the end. */
export interface RowTops {
  readonly tops: readonly number[]
}

export function rowTops(heights: readonly number[]): RowTops {
  const tops = [0]
  for (const height of heights) tops.push((tops.at(-1) ?? 0) + height)
  return { tops }
}

/** The rows that are seen, and some before and behind: `first` included, `end` not. */
export interface RowWindow {
  readonly first: number
  readonly end: number
}

export function rowWindow(
  { tops }: RowTops,
  { top, height, spare = 240 }: { readonly top: number; readonly height: number; readonly spare?: number },
): RowWindow {
  const rows = tops.length - 1
  const first = Math.max(countAtMost(tops, top - spare) - 1, 0)
  const end = Math.min(Math.max(countAtMost(tops, top + height + spare), first), rows)
  return { first: Math.min(first, rows), end }
}

/** How far to scroll so that a row is seen entirely, moving as little as possible. */
export function scrollTo(
  { tops }: RowTops,
  row: number,
  { top, height }: { readonly top: number; readonly height: number },
): number {
  const [begin, end] = [tops[row] ?? 0, tops[row + 1] ?? 0]
  if (begin < top) return begin
  return end > top + height ? end - height : top
}

/** How many of ascending numbers are at most a limit. */
function countAtMost(ascending: readonly number[], limit: number): number {
  let [low, high] = [0, ascending.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((ascending[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low
}

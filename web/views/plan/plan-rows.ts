import type { PlanPhase, PlanTask } from '../../api/entities.ts'

/** A line of the outline. */
export type PlanRow = PhaseRow | MilestoneRow | PlanTaskRow | MoreRow

interface PhaseRow {
  readonly kind: 'phase'
  readonly key: string
  /** Null gathers the tasks outside any phase. */
  readonly id: string | null
  readonly name: string
  readonly mission: string | null
  readonly done: number
  /** How many of them wait for a person. */
  readonly doneWaiting: number
  readonly total: number
  readonly isFolded: boolean
}

interface MilestoneRow {
  readonly kind: 'milestone'
  readonly key: string
  readonly id: string
  readonly name: string
  readonly reached: boolean
  readonly phase: string | null
}

/** Stands for further tasks of a phase. */
interface MoreRow {
  readonly kind: 'more'
  readonly key: string
  readonly id: null
  readonly name: string
  readonly phase: string | null
  readonly phaseKey: string
}

export interface PlanTaskRow {
  readonly kind: 'task'
  readonly key: string
  readonly id: string
  readonly name: string
  readonly depth: number
  readonly mark: PlanTask['mark']
  readonly failed: boolean
  readonly needsReview: boolean
  readonly isUndone: boolean
  readonly role: string | null
  readonly assignee: string | null
  readonly critical: boolean
  readonly waits: number
  readonly phase: string | null
  readonly milestone: string | null
}

export type PlanFilterMode = 'ready' | 'critical' | null

/** A phase of a large plan, with the pages of it that were read; `more`: there are further ones. */
export type ShownPhase = PlanPhase & { readonly more?: boolean }

export function phaseKey({ id, mission_id }: Pick<PlanPhase, 'id' | 'mission_id'>): string {
  return id ?? `no phase ${mission_id ?? ''}`.trim()
}

/** A folded phase with the tasks of its pages. A task that moved from one page to another is shown once. */
export function unfoldPhase(
  { folded: _, ...phase }: PlanPhase,
  pages: readonly (PlanPhase | undefined)[],
  more: boolean,
): ShownPhase {
  const seen = new Set<string>()
  const unseen = (tasks: readonly PlanTask[]) =>
    tasks.filter(({ id }) => !seen.has(id) && seen.add(id) !== undefined)
  const read = pages.filter((page) => page !== undefined)
  return {
    ...phase,
    milestones: phase.milestones.map((milestone) => ({
      ...milestone,
      tasks: read.flatMap((page) =>
        unseen(page.milestones.find(({ id }) => id === milestone.id)?.tasks ?? []),
      ),
    })),
    tasks: read.flatMap((page) => unseen(page.tasks)),
    more,
  }
}

/** The outline as lines: phases, their milestones, their tasks. A filter keeps the phases of what it keeps. */
export function planRows(
  phases: readonly ShownPhase[],
  { folded, only }: { readonly folded: ReadonlySet<string>; readonly only: PlanFilterMode },
): readonly PlanRow[] {
  return phases.flatMap((phase) => {
    const key = phaseKey(phase)
    const isFolded = phase.folded === true || folded.has(key)
    const lines = [
      ...phase.milestones.flatMap(({ id, name, reached, tasks }): readonly PlanRow[] => {
        const below = tasks.flatMap(linesOf({ phase: phase.id, milestone: id, only }, 2))
        if (only !== null && below.length === 0) return []
        const head: MilestoneRow = {
          kind: 'milestone',
          key: id,
          id,
          name: name ?? id,
          reached,
          phase: phase.id,
        }
        return [head, ...below]
      }),
      ...phase.tasks.flatMap(linesOf({ phase: phase.id, milestone: null, only }, 1)),
      ...(phase.more === true ? [moreRow(phase.id, key)] : []),
    ]
    if (only !== null && lines.length === 0 && phase.folded !== true) return []
    const { id, name, done, done_waiting: doneWaiting, total } = phase
    const head: PhaseRow = {
      kind: 'phase',
      key,
      id,
      name: name ?? 'Outside any phase',
      mission: phase.mission_name,
      done,
      doneWaiting,
      total,
      isFolded,
    }
    return isFolded ? [head] : [head, ...lines]
  })
}

function moreRow(phase: string | null, key: string): MoreRow {
  return { kind: 'more', key: `more ${key}`, id: null, name: 'Show more tasks', phase, phaseKey: key }
}

function linesOf(
  home: { readonly phase: string | null; readonly milestone: string | null; readonly only: PlanFilterMode },
  depth: number,
): (task: PlanTask) => readonly PlanTaskRow[] {
  const { phase, milestone, only } = home
  return ({
    id,
    title,
    mark,
    failed = false,
    needs_review: needsReview = false,
    undone,
    role,
    assignee,
    critical,
    waits_for: waitsFor,
    subtasks,
  }) => {
    const isWanted = only === null || (only === 'ready' ? mark === 'ready' : critical)
    const row: PlanTaskRow = {
      kind: 'task',
      key: id,
      id,
      name: title,
      depth,
      mark,
      failed,
      needsReview,
      isUndone: undone !== undefined,
      role,
      assignee: assignee ?? null,
      critical,
      waits: waitsFor.length,
      phase,
      milestone,
    }
    return [...(isWanted ? [row] : []), ...subtasks.flatMap(linesOf(home, depth + 1))]
  }
}

export interface PlanMove {
  readonly id: string
  readonly before?: string
  readonly phase?: string
  readonly milestone?: string
}

/** One step up or down among its own kind; null at the end of them. */
export function stepMove(rows: readonly PlanRow[], key: string, by: 1 | -1): PlanMove | null {
  const row = rows.find((other) => other.key === key)
  if (!row || row.kind === 'milestone' || row.id === null) return null
  const siblings = rows.filter((other) => isSibling(other, row))
  const at = siblings.findIndex((other) => other.key === key)
  const target = siblings[by === -1 ? at - 1 : at + 2]
  if (by === -1 && at <= 0) return null
  if (by === 1 && at === siblings.length - 1) return null
  return { id: row.id, ...(target?.id && { before: target.id }), ...homeOf(row) }
}

/** What dropping a row on another one does: a task comes before a task, or at the end of a phase or milestone. */
export function dropMove(dragged: PlanRow, target: PlanRow): PlanMove | null {
  if (dragged.key === target.key || dragged.id === null || dragged.kind === 'milestone') return null
  if (dragged.kind === 'phase') {
    return target.kind === 'phase' && target.id !== null ? { id: dragged.id, before: target.id } : null
  }
  if (target.kind === 'task') return { id: dragged.id, before: target.id, ...homeOf(target) }
  if (target.kind === 'milestone') {
    return target.phase === null ? null : { id: dragged.id, phase: target.phase, milestone: target.id }
  }
  return target.id === null ? null : { id: dragged.id, phase: target.id }
}

function isSibling(other: PlanRow, row: PlanRow): boolean {
  if (row.kind === 'phase') return other.kind === 'phase' && other.id !== null
  if (row.kind !== 'task' || other.kind !== 'task') return false
  return other.phase === row.phase && other.milestone === row.milestone && other.depth === row.depth
}

function homeOf(row: PlanRow): Pick<PlanMove, 'phase' | 'milestone'> {
  if (row.kind !== 'task') return {}
  const { phase, milestone } = row
  return { ...(phase !== null && { phase }), ...(milestone !== null && { milestone }) }
}

/** An id for a new phase: people name them; `P5` where there are four. */
export function freePhaseId(phases: readonly { readonly id: string | null }[]): string {
  const taken = new Set(phases.map(({ id }) => id))
  for (let at = phases.length + 1; ; at += 1) if (!taken.has(`P${at}`)) return `P${at}`
}

import type { MissionData, PlanPhase, PlanTask } from '../../api/entities.ts'

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
export function stepMove(rows: readonly PlanRow[], key: string | null, by: 1 | -1): PlanMove | null {
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

/** Where a new task may go. */
export interface NewTaskHome {
  readonly key: string
  readonly name: string
  /** Null for a plan without phases: its first task makes one. */
  readonly phase: string | null
  /** Null for the plan of the project. */
  readonly mission: string | null
}

/** The phases that are shown, then the open missions without one, then the project if it has none. */
export function taskHomes(
  phases: readonly PlanPhase[],
  missions: readonly Pick<MissionData, 'mission_id' | 'name' | 'completed_at'>[],
  shown: string | null,
): readonly NewTaskHome[] {
  const named = phases.flatMap(({ id, name, mission_id: mission, mission_name }): readonly NewTaskHome[] =>
    id === null
      ? []
      : [
          {
            key: id,
            name: [name ?? id, mission_name].filter((part) => part !== null).join(', '),
            phase: id,
            mission,
          },
        ],
  )
  const open = missions.filter(({ completed_at }) => completed_at === null)
  const all = [...open.map(({ mission_id }) => mission_id), null]
  const plans = shown === null ? all : [shown === 'none' ? null : shown]
  const nameOf = (plan: string) => missions.find(({ mission_id }) => mission_id === plan)?.name ?? plan
  const empty = plans.filter((plan) => !named.some(({ mission }) => mission === plan))
  return [
    ...named,
    ...empty.map((mission) => ({
      key: `plan ${mission ?? ''}`,
      name: mission === null ? 'Plan of the project' : nameOf(mission),
      phase: null,
      mission,
    })),
  ]
}

/** Where a new task is written: at the end of its phase or milestone, as it will be there; else at the end. */
export function placeOfNew(
  rows: readonly PlanRow[],
  { phase, milestone }: { readonly phase: string | null; readonly milestone: string | null },
): number {
  const last = rows.findLastIndex(
    (row) => phaseOf(row) === phase && (milestone === null || milestoneOf(row) === milestone),
  )
  return phase === null || last === -1 ? rows.length : last + 1
}

export function phaseOf(row: PlanRow | null): string | null {
  return row?.kind === 'phase' ? row.id : (row?.phase ?? null)
}

export function milestoneOf(row: PlanRow | null): string | null {
  if (row?.kind === 'milestone') return row.id
  return row?.kind === 'task' ? row.milestone : null
}

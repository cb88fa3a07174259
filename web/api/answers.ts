import type { OutlinePhase } from '../../src/domain/plan/outline.ts'
import type { boardCard } from '../../src/operations/board/board.ts'
import type { deskCard } from '../../src/operations/board/desk.ts'
import type { holdEntry } from '../../src/operations/hold/inbox.ts'
import type { missionEntry } from '../../src/operations/mission/list-missions.ts'

export type Hold = ReturnType<typeof holdEntry>
export type Mission = ReturnType<typeof missionEntry>

export type DeskCard = Awaited<ReturnType<typeof deskCard>>
export type BoardCard = Awaited<ReturnType<typeof boardCard>>
export type Verified = NonNullable<BoardCard['verified']>

/** The answers of queries whose contract leaves entries open, taken from the functions that make them. */
export interface Answers {
  readonly inbox: {
    readonly holds: readonly Hold[]
    readonly total: number
    readonly next_cursor: string | null
  }
  readonly desk: { readonly cards: readonly DeskCard[]; readonly total: number }
  readonly board: {
    readonly columns: Readonly<Record<BoardColumn, readonly BoardCard[]>>
    readonly totals: { readonly ready: number; readonly active: number }
  }
  readonly list_missions: {
    readonly missions: readonly Mission[]
    readonly total: number
    readonly next_cursor: string | null
  }
  readonly plan_show: {
    readonly phases: readonly OutlinePhase[]
    readonly tasks: number
    readonly done: number
    readonly ready: number
    readonly critical_path: readonly string[]
  }
  readonly status: ProjectStatus
}

export interface ProjectStatus {
  readonly project: string
  readonly facts: number
  readonly missions_total: number
  readonly running: readonly Running[]
  readonly waiting: number
  readonly warnings: readonly string[]
}

export interface Running {
  readonly task_id: string
  readonly name: string
  readonly agent_name: string
  readonly started_at: string
  readonly stale: boolean
}

export type BoardColumn = 'ready' | 'active' | 'review' | 'done'

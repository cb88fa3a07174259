import type { OutlinePhase } from '../../src/domain/plan/outline.ts'
import type { Mark } from '../../src/domain/plan/readiness.ts'
import type { ChangeEntry } from '../../src/operations/answers/attempt.ts'
import type { HoldEntry } from '../../src/operations/answers/hold.ts'
import type { MissionEntry } from '../../src/operations/answers/mission.ts'
import type { DecisionEntry } from '../../src/operations/answers/record.ts'
import type { ApprovalEntry, EventEntry, RefusalEntry, RunEntry } from '../../src/operations/answers/run.ts'
import type { OutputOf } from '../../src/surfaces/http/client/client.ts'

export type Run = RunEntry
export type Hold = HoldEntry
export type Mission = MissionEntry

export type RunPage = OutputOf<'run_page'>
export type Way = RunPage['ways'][number]
export type Machine = RunPage['machine']
export type RunEvent = EventEntry
export type RunRefusal = RefusalEntry
export type RunApproval = ApprovalEntry
export type ProcessPage = OutputOf<'process_page'>

export type DeskCard = OutputOf<'desk'>['cards'][number]
export type BoardCard = OutputOf<'board'>['columns']['ready'][number]
export type Verified = NonNullable<BoardCard['verified']>

export type TaskDetail = Extract<OutputOf<'show'>, { kind: 'task' }>
export type AttemptDetail = TaskDetail['attempts'][number]
export type Change = ChangeEntry

/** The verified changes of an attempt. */
export interface Changes {
  readonly attempt_id: string
  readonly status: string
  readonly verification: {
    readonly status: Verified['status']
    readonly scope_match: boolean | null
    readonly unexpected_files: readonly string[]
    readonly warnings: readonly string[]
  }
  readonly changes: readonly Change[]
  /** What others probably changed. */
  readonly contested_files?: readonly { readonly path: string; readonly perhaps: readonly string[] }[]
  readonly commits?: readonly {
    readonly id: string
    readonly subject: string
    readonly by: 'own' | 'other' | 'unknown'
  }[]
  readonly commits_total?: number
  /** What the report names and the measurement alone does not give it. */
  readonly claimed_paths?: readonly { readonly path: string; readonly found: 'settled' | 'unchanged' }[]
  readonly counts: Readonly<Record<Change['change'], number>>
  readonly total: number
}

/** How a task stands beside another one. */
export interface LinkedTask {
  readonly id: string
  readonly title: string
  readonly mark: Mark
}

export interface TaskLinks {
  readonly depends_on: readonly LinkedTask[]
  readonly blocks: readonly LinkedTask[]
  readonly subtasks: readonly LinkedTask[]
  readonly parent: LinkedTask | null
  readonly mark: Mark | null
  readonly critical: boolean
  readonly mission: { readonly id: string; readonly name: string } | null
  readonly phase: { readonly id: string; readonly name: string } | null
}

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
  readonly get_context: {
    readonly decisions?: readonly DecisionEntry[]
    readonly next_cursor: string | null
  }
  readonly plan_show: {
    readonly phases: readonly (OutlinePhase & { readonly mission_name: string | null })[]
    readonly tasks: number
    readonly done: number
    readonly ready: number
    readonly critical_path: readonly string[]
  }
  readonly status: ProjectStatus
  readonly log: { readonly facts: readonly JournalFact[]; readonly head: number }
  readonly doctor: {
    readonly healthy: boolean
    readonly checks: readonly { readonly check: string; readonly ok: boolean; readonly finding: string }[]
  }
  readonly names: {
    readonly missions: readonly Named[]
    readonly runs: readonly Named[]
    readonly tasks: readonly Named[]
  }
  readonly changes: Changes
  readonly task_links: TaskLinks
}

export type ListedProcess = OutputOf<'process_list'>['processes'][number]

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

/** What has a name, for a search. */
export interface Named {
  readonly id: string
  readonly name: string
  readonly status: string
}

/** A line of the journal. */
export interface JournalFact {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly actor: string
  readonly actor_kind: string
  readonly channel: string
  readonly body: Readonly<Record<string, unknown>>
  readonly hash: string
}

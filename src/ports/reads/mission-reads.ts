import type { MissionId, PhaseId, TaskId } from '../../domain/id.ts'
import type { Mission, MissionStatus, Phase, StandingPhase } from '../../domain/track/mission.ts'
import type { MissionChange } from '../../domain/track/mission-changes.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Page, PageRequest } from './page.ts'

/** What the tasks of a phase came to. */
export interface PhaseTally {
  readonly phaseId: PhaseId
  readonly tasks: number
  readonly firstStart: number | null
  readonly lastEnd: number | null
  readonly openAttempts: number
}

export interface MissionTotals {
  readonly tasksWithAttempt: number
  readonly distinctFilesChanged: number
  readonly tokensInput: number
  readonly tokensOutput: number
}

export interface MissionNow {
  readonly openAttempts: number
  readonly openBlockers: number
  readonly doneTasks: number
  readonly toDoTasks: number
}

export interface MissionListed {
  readonly mission: Mission
  readonly now: MissionNow
  readonly phases: readonly StandingPhase[]
}

/** What a mission did in one work tree. */
export interface MissionTree {
  /** Its first attempt there, whatever became of it. */
  readonly first: Attempt | null
  /** The attempt that ended last, with what was measured then. */
  readonly lastEnded: Attempt | null
  /** When the attempts that are open there began, milliseconds since the epoch. */
  readonly openSince: readonly number[]
  /** The tasks that its attempts there were at. */
  readonly tasks: ReadonlySet<TaskId>
  readonly recorded: readonly MissionChange[]
}

/** What a mission's changes come to in all its work trees; lines that could not be counted are left out. */
export interface MissionLines {
  readonly added: number
  readonly deleted: number
}

export interface MissionReads {
  /** The tops of the work trees that its attempts were in, in the order of the first ones. */
  treesOf(missionId: MissionId): Promise<readonly string[]>
  tree(missionId: MissionId, top: string): Promise<MissionTree>
  lines(missionId: MissionId): Promise<MissionLines>
  find(id: string): Promise<Mission | null>
  /** The names of missions, at most 200. */
  named(ids: readonly MissionId[]): Promise<ReadonlyMap<MissionId, string>>
  /** Newest first. */
  list(
    request: PageRequest & { readonly statuses?: readonly MissionStatus[]; readonly search?: string },
  ): Promise<Page<Mission>>
  /** The same missions, each with what it has now, in the same order: a fixed number of queries for all. */
  listed(missions: readonly Mission[]): Promise<readonly MissionListed[]>
  /** By sort order, then number. */
  phases(missionId: MissionId): Promise<readonly StandingPhase[]>
  phase(missionId: MissionId, number: number): Promise<Phase | null>
  phaseById(id: PhaseId): Promise<Phase | null>
  tallies(missionId: MissionId): Promise<readonly PhaseTally[]>
  now(missionId: MissionId): Promise<MissionNow>
  totals(missionId: MissionId): Promise<MissionTotals>
  /** Ids that begin with a prefix, at most `limit`, for the CLI's short ids and for completion. */
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

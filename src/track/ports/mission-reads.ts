import type { MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { MissionChange } from '../domain/changes.ts'
import type { Mission, MissionStatus, Phase, PhaseWithWork } from '../domain/mission.ts'
import type { Attempt } from '../domain/task.ts'

/** What the tasks of a phase came to. */
export interface PhaseCounts {
  readonly phaseId: PhaseId
  readonly tasks: number
  readonly firstStart: number | null
  readonly lastEnd: number | null
  readonly openAttempts: number
}

export interface MissionTotals {
  readonly tasks: number
  readonly distinctFilesChanged: number
  readonly tokensInput: number
  readonly tokensOutput: number
}

export interface MissionCounts {
  readonly openAttempts: number
  readonly openBlockers: number
  readonly doneTasks: number
  readonly toDoTasks: number
}

export interface MissionListing {
  readonly mission: Mission
  readonly now: MissionCounts
  readonly phases: readonly PhaseWithWork[]
}

/** Who worked in a mission, what changed, and what waits there. */
export interface MissionOverview extends MissionLineCounts {
  /** The last at work first. */
  readonly agents: readonly { readonly name: string; readonly working: boolean }[]
  /** Open items of every kind. */
  readonly waiting: number
}

/** What a mission did in one work tree. */
export interface MissionTree {
  /** Its first attempt there, whatever became of it. */
  readonly first: Attempt | null
  /** The attempt that ended last, with what was measured then. */
  readonly lastEnded: Attempt | null
  /** When the attempts that are open there began, milliseconds since the epoch. */
  readonly openSince: readonly number[]
  readonly recorded: readonly MissionChange[]
}

/** What a mission's changes come to in all its work trees, a path once; lines that could not be counted are left out. */
export interface MissionLineCounts {
  readonly files: number
  /** Null where files changed and the lines of none could be counted. */
  readonly added: number | null
  readonly deleted: number | null
}

export interface MissionReads {
  /** The tops of the work trees that its attempts were in, in the order of the first ones. */
  treesOf(missionId: MissionId): Promise<readonly string[]>
  tree(missionId: MissionId, top: string): Promise<MissionTree>
  /** Those of these tasks that had an attempt of the mission in a work tree. */
  tasksInTree(missionId: MissionId, top: string, among: readonly TaskId[]): Promise<ReadonlySet<TaskId>>
  /** Its attempt that ended last in a work tree, with what was measured then. */
  lastEnded(missionId: MissionId, top: string): Promise<Attempt | null>
  lines(missionId: MissionId): Promise<MissionLineCounts>
  find(id: string): Promise<Mission | null>
  withIds(ids: readonly string[]): Promise<readonly Mission[]>
  /** The names of missions, at most 200. */
  named(ids: readonly MissionId[]): Promise<ReadonlyMap<MissionId, string>>
  /** Newest first. */
  list(
    request: PageRequest & { readonly statuses?: readonly MissionStatus[]; readonly search?: string },
  ): Promise<Page<Mission>>
  /** The same missions, each with what it has now, in the same order: a fixed number of queries for all. */
  listed(missions: readonly Mission[]): Promise<readonly MissionListing[]>
  /** Of each of at most 200 missions: three queries for all. */
  glances(missionIds: readonly MissionId[]): Promise<ReadonlyMap<string, MissionOverview>>
  /** By sort order, then number. */
  phases(missionId: MissionId): Promise<readonly PhaseWithWork[]>
  phase(missionId: MissionId, number: number): Promise<Phase | null>
  phaseById(id: PhaseId): Promise<Phase | null>
  tallies(missionId: MissionId): Promise<readonly PhaseCounts[]>
  now(missionId: MissionId): Promise<MissionCounts>
  totals(missionId: MissionId): Promise<MissionTotals>
  /** Ids that begin with a prefix, at most `limit`, for the CLI's short ids and for completion. */
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

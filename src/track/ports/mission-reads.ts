import type { MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { MissionChange } from '../domain/changes.ts'
import type { Mission, MissionStatus, Phase, PhaseWithWork } from '../domain/mission.ts'
import type { Attempt } from '../domain/task.ts'

/** Counts of a phase's tasks. */
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
  /** Open inbox items of every kind. */
  readonly openItems: number
  readonly doneTasks: number
  readonly toDoTasks: number
  /** What it left if it has ended: tasks to do that were done before, and done ones that are contradicted. */
  readonly left: { readonly toDoAgain: number; readonly contradicted: number }
}

export interface MissionListing {
  readonly mission: Mission
  readonly now: MissionCounts
  readonly phases: readonly PhaseWithWork[]
}

/** The agents, changes and inbox items of a mission. */
export interface MissionOverview extends MissionLineCounts {
  /** Most recently active first. */
  readonly agents: readonly { readonly name: string; readonly working: boolean }[]
  /** Open items of every kind. */
  readonly waiting: number
}

/** The done tasks of a mission whose claims are contradicted or unproven, and that no person accepted. */
export interface DoubtedTasks {
  readonly contradicted: number
  readonly unproven: number
  /** The first of them, contradicted ones before others. */
  readonly tasks: readonly {
    readonly id: TaskId
    readonly name: string
    readonly verdict: 'contradicted' | 'unproven'
  }[]
}

/** A mission's attempts in one work tree. */
export interface MissionTree {
  /** Its first attempt there, whatever its result. */
  readonly first: Attempt | null
  /** The last ended attempt, with its measurement. */
  readonly lastEnded: Attempt | null
  /** When the attempts that are open there began, in milliseconds. */
  readonly openSince: readonly number[]
  readonly recorded: readonly MissionChange[]
}

/** The total changes of a mission over all work trees, each path once; uncountable lines are left out. */
export interface MissionLineCounts {
  readonly files: number
  /** Null if no changed file's lines could be counted. */
  readonly added: number | null
  readonly deleted: number | null
}

export interface MissionReads {
  /** The work trees of its attempts, in order of their first attempt. */
  treesOf(missionId: MissionId): Promise<readonly string[]>
  tree(missionId: MissionId, top: string): Promise<MissionTree>
  /** The given tasks that had an attempt of the mission in a work tree. */
  tasksInTree(missionId: MissionId, top: string, among: readonly TaskId[]): Promise<ReadonlySet<TaskId>>
  /** Its last ended attempt in a work tree, with the measurement. */
  lastEnded(missionId: MissionId, top: string): Promise<Attempt | null>
  lines(missionId: MissionId): Promise<MissionLineCounts>
  find(id: string): Promise<Mission | null>
  /** The name of who ended it, as the log has it; null while it is open. */
  endedBy(mission: Pick<Mission, 'id' | 'completedAt'>): Promise<string | null>
  withIds(ids: readonly string[]): Promise<readonly Mission[]>
  /** The names of missions, at most 200. */
  names(ids: readonly MissionId[]): Promise<ReadonlyMap<MissionId, string>>
  /** The newest open missions with exactly this name, at most three. */
  openNamed(name: string): Promise<readonly Pick<Mission, 'id'>[]>
  /** Newest first. */
  list(
    request: PageRequest & { readonly statuses?: readonly MissionStatus[]; readonly search?: string },
  ): Promise<Page<Mission>>
  /** Of the newest missions those with every word in their name or text, or at the beginning of their id. */
  newest(request: {
    readonly limit: number
    readonly words: readonly string[]
  }): Promise<readonly Pick<Mission, 'id' | 'name' | 'status'>[]>
  /** The missions with their current state, in the same order: a fixed number of queries. */
  listings(missions: readonly Mission[]): Promise<readonly MissionListing[]>
  /** For at most 200 missions: always three queries. */
  glances(missionIds: readonly MissionId[]): Promise<ReadonlyMap<string, MissionOverview>>
  /** By sort order, then number. */
  phases(missionId: MissionId): Promise<readonly PhaseWithWork[]>
  phase(missionId: MissionId, number: number): Promise<Phase | null>
  phaseById(id: PhaseId): Promise<Phase | null>
  tallies(missionId: MissionId): Promise<readonly PhaseCounts[]>
  now(missionId: MissionId): Promise<MissionCounts>
  totals(missionId: MissionId): Promise<MissionTotals>
  doubtedTasks(missionId: MissionId, limit: number): Promise<DoubtedTasks>
  /** Ids with a prefix, at most `limit`, for the CLI's short ids and for completion. */
  idsLike(prefix: string, limit: number): Promise<readonly string[]>
}

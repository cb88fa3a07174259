import type { Actor } from '../actor.ts'
import type { TaskId } from '../id.ts'
import type { PlannedTask } from '../plan/plan.ts'
import type { Mission, Phase, StandingPhase } from './mission.ts'
import type { Hold } from './records.ts'
import type { SnapshotPlace } from './snapshot.ts'
import type { Attempt, CallerType, Task } from './task.ts'
import type { Dependency } from './task-history.ts'

export interface TaskRequest {
  readonly name: string | null
  readonly goal: string | null
  readonly areas: readonly string[]
  readonly phase: number | null
  readonly phaseName: string | null
  readonly callerType: CallerType | null
  readonly agentName: string | null
  readonly takeOver: boolean
  /** The fencing token of the caller's claim on the planned task. */
  readonly claimToken: string | null
  /** Begin although a dependency is open. */
  readonly force: boolean
  readonly actor: Actor
  readonly snapshot: SnapshotPlace
  /** When the snapshot was begun: from then on changes are the attempt's. */
  readonly snapshotAt: number
}

/** The rows that the decision rests on, read under the lock. */
export interface TaskSituation {
  readonly mission: Mission | null
  readonly phases: readonly StandingPhase[]
  /** The phase that the planned task is of. */
  readonly home: Phase | null
  readonly parent: Task | null
  /** The open attempt at the parent: where it is worked on, which may be another mission than its home. */
  readonly parentAttempt: Attempt | null
  /** How many parents the parent has, itself included. */
  readonly depth: number
  readonly planned: PlannedTask | null
  /** The last attempt at the planned task, open or not. */
  readonly last: Attempt | null
  /** The holds on that attempt. */
  readonly holds: readonly Hold[]
  /** What the planned task depends on, and what became of it. */
  readonly dependencies: readonly Dependency[]
  /** The task that the caller's token was made for, where it is not the one that runs. */
  readonly tokenOf: TaskId | null
}

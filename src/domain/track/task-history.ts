import type { Outcome } from '../fact.ts'
import type { TaskId } from '../id.ts'
import type { Hold } from './records.ts'
import type { Attempt, Task } from './task.ts'

/** What somebody said of an attempt after its end: it stands beside what was said then. */
export interface Correction {
  readonly text: string
  readonly agentName: string | null
  /** The connection's name. */
  readonly saidBy: string
  readonly at: number
}

/** An attempt that ended, as whoever takes the task up again reads it. */
export interface PastAttempt {
  readonly attempt: Attempt
  /** Null where it was given up without a word. */
  readonly outcome: Outcome | null
  readonly corrections: readonly Correction[]
  /** The first of the files that it changed. */
  readonly files: readonly string[]
}

/** A task that another one depends on, and what its last attempt said. */
export interface Dependency {
  readonly task: Task
  /** Done, and what depends on it waits for a person. */
  readonly unsettled: boolean
  readonly summary: string | null
  readonly files: readonly string[]
  /** What waits for a person about it. */
  readonly holds: readonly Hold[]
}

/** What a list says of a task besides the task: what it waits for, how often it was tried, what came of it. */
export interface TaskHistory {
  readonly dependsOn: readonly TaskId[]
  readonly unsettled: boolean
  readonly blocked: boolean
  readonly claim: { readonly agent: string; readonly expiresAt: number | null } | null
  readonly attempts: number
  readonly summary: string | null
  readonly correction: string | null
  readonly files: readonly string[]
}

/** Whether what depends on a task still waits for it. */
export function isWaitedFor({ task, unsettled }: Pick<Dependency, 'task' | 'unsettled'>): boolean {
  return task.status !== 'done' || unsettled
}

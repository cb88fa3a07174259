import type { CaptureSessionId, TurnId } from '../../kernel/id.ts'
import type { Attempt, SnapshotLocation } from '../../track/domain/task.ts'
import type { LineStep, StepPosition } from '../domain/line-hashes.ts'

/** A recorded snapshot of a work tree. */
export interface TreeBoundary {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly place: SnapshotLocation
}

/** An attempt that made lines, with its task and mission. */
export interface LineAuthor {
  readonly attempt: Attempt
  readonly taskName: string
  readonly goal: string | null
  readonly missionName: string | null
  /** As its client's hooks report it; null if they do not. */
  readonly model: string | null
  /** The client's own session, as the client names it; null without hook events. */
  readonly session: { readonly client: string; readonly name: string } | null
}

/** A turn of an agent that made lines without a task. */
export interface TurnAuthor {
  readonly turnId: TurnId
  readonly sessionId: CaptureSessionId
  readonly client: string
  readonly model: string | null
}

export interface LineReads {
  /** The salt of the project's line hashes: the same wherever its log goes. */
  salt(): Promise<string>
  /** The last snapshot of a work tree at the start or the end of an attempt or of a turn, until a time. */
  lastBoundary(tree: string, until?: number): Promise<TreeBoundary | null>
  /** When the first lines were recorded, milliseconds since the epoch. */
  since(): Promise<number | null>
  /** The files with recorded lines, in order. */
  paths(most: number): Promise<readonly string[]>
  /** The steps of some paths, also those that renamed them. */
  stepsOf(paths: readonly string[]): Promise<readonly LineStep[]>
  /** The steps with these marks, those with the most marks first. */
  stepsMarked(marks: readonly string[], limit: number): Promise<readonly LineStep[]>
  makers(ids: readonly string[]): Promise<readonly LineAuthor[]>
  /** Of turns of agents, by their ids. */
  turnMakers(ids: readonly string[]): Promise<readonly TurnAuthor[]>
  /** How many lines that are not blank each of the last 2,000 attempts with lines added net at its end. */
  addedBy(): Promise<readonly { readonly attemptId: string; readonly lines: number }[]>
  /** The steps that attempts made, or may have made, in work trees since a time, and on request nobody's; oldest first. */
  stepsOfAttempts(
    attempts: readonly string[],
    since: number,
    also?: { readonly nobodys: boolean },
  ): Promise<readonly LineStep[]>
  /** The steps with hashes that attempts or turns made, or may have made. */
  stepsMadeBy(makers: readonly string[]): Promise<readonly StepPosition[]>
}

import type { Outcome } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { type Actor, displayName, identityOf } from '../../kernel/actor.ts'
import type { AttemptId, MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { DoneWhen } from '../../plan/domain/done-when.ts'

import type { VerdictValue } from './verdict.ts'

export const taskOutcomes = ['success', 'partial_success', 'failed'] as const
export type TaskOutcome = (typeof taskOutcomes)[number]

export const callerTypes = ['orchestrator', 'subagent'] as const
export type CallerType = (typeof callerTypes)[number]

/** How a task was done. `unmeasured` means marked done without a measured attempt. */
export const resolutions = ['success', 'partial_success', 'unmeasured', 'dropped'] as const
export type Resolution = (typeof resolutions)[number]

export interface Task {
  readonly id: TaskId
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  readonly milestoneId: MilestoneId | null
  readonly parentTaskId: TaskId | null
  readonly name: string
  readonly goal: string | null
  /** The step's label in a v1 workflow's plan. */
  readonly step: string | null
  readonly role: string | null
  /** The agent or role that it is assigned to; early log entries have none. */
  readonly assignee?: string | null
  readonly areas: readonly string[]
  /** Its own promises, without those of its mission and project; absent if it has none. */
  readonly doneWhen?: DoneWhen
  readonly status: 'to_do' | 'in_progress' | 'done'
  readonly resolution: Resolution | null
  /** The position that people gave it in its phase; tasks without one follow, in order of creation. */
  readonly sortOrder: number | null
  readonly creator: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A task with defaults for everything else: to do, unassigned. */
export function newTask(
  { id, name, goal, creator, ...rest }: Pick<Task, 'id' | 'name' | 'goal' | 'creator'> & Partial<Task>,
  at: number,
): Task {
  return {
    id,
    missionId: null,
    phaseId: null,
    milestoneId: null,
    parentTaskId: null,
    name,
    goal,
    step: null,
    role: null,
    areas: [],
    status: 'to_do',
    resolution: null,
    sortOrder: null,
    creator,
    createdAt: at,
    updatedAt: at,
    ...rest,
  }
}

export const attemptStatuses = ['open', ...taskOutcomes, 'abandoned'] as const
export type AttemptStatus = (typeof attemptStatuses)[number]

/** One attempt at a task: its agent, its snapshots and its result. */
export interface Attempt {
  readonly id: AttemptId
  readonly taskId: TaskId
  readonly missionId: MissionId | null
  readonly phaseId: PhaseId | null
  /** 1 for the first try at the task. */
  readonly number: number
  readonly agentName: string | null
  readonly callerType: CallerType | null
  readonly actor: Actor
  readonly areas: readonly string[]
  readonly status: AttemptStatus
  readonly snapshot: SnapshotLocation
  readonly endSnapshot: SnapshotLocation | null
  readonly openedAt: number
  /** The last call about it, in milliseconds: an attempt without a call for two hours is stale. */
  readonly lastCallAt: number
  readonly closedAt: number | null
  /** The actor that completed it and claimed its outcome; absent for open and abandoned attempts. */
  readonly completedBy?: Actor
}

/** Two hours without a call, in milliseconds. */
export const staleAfter = 2 * 60 * 60 * 1000

export function isStale(attempt: Attempt, now: number): boolean {
  // A clock that was ahead may leave a call in the future: the attempt would stay fresh until then.
  return attempt.status === 'open' && Math.abs(now - attempt.lastCallAt) >= staleAfter
}

/** Attempts that were completed after a time. */
export function completedSince(attempts: readonly Attempt[], at: number): readonly Attempt[] {
  return attempts.filter(
    ({ status, closedAt }) => status !== 'abandoned' && closedAt !== null && closedAt > at,
  )
}

/** Until when an attempt counts as at work. One that its agent never ended is at work until it is stale. */
export function atWorkUntil({ status, closedAt, lastCallAt }: Attempt): number {
  const staleAt = lastCallAt + staleAfter
  const isEnded = status !== 'open' && status !== 'abandoned'
  return isEnded ? (closedAt ?? staleAt) : Math.min(closedAt ?? staleAt, staleAt)
}

/** Whether the caller opened the attempt: the same agent name or, without one, the same connection. */
export function isOpenedBy(attempt: Attempt, actor: Actor, agentName: string | null): boolean {
  if (isOfOtherToken(attempt, actor)) return false
  const isSameConnection = actor.connection !== undefined && attempt.actor.connection === actor.connection
  if (agentName === null && isSameConnection) return true
  if (attempt.actor.name !== actor.name || attempt.agentName !== agentName) return false
  return agentName !== null || attempt.actor.connection === actor.connection
}

/**
 * Whether Waymark knows that two attempts are of different sessions: by their hooks, their connections, their tokens, or a
 * person beside an agent. The name that an agent gives itself is no evidence.
 */
export function isOfOtherSession(
  one: Pick<Attempt, 'id' | 'actor'>,
  other: Pick<Attempt, 'id' | 'actor'>,
  sessionOf: ReadonlyMap<string, string>,
): boolean {
  const [a, b] = [one.actor, other.actor]
  const isOneConnection = a.connection !== undefined && a.connection === b.connection
  if (isOneConnection) return false
  if (a.kind !== b.kind || tokenOf(a) !== tokenOf(b)) return true
  const [session, otherSession] = [sessionOf.get(one.id), sessionOf.get(other.id)]
  if (session !== undefined && otherSession !== undefined) return session !== otherSession
  // One person's agent may have two connections of its own.
  const isSameAgent = a.person !== undefined && a.person === b.person && a.name === b.name
  return a.connection !== undefined && b.connection !== undefined && !isSameAgent
}

/** The author of an attempt's outcome: its opener only if the same caller completed it. */
export function outcomeAuthorOf(attempt: Pick<Attempt, 'agentName' | 'actor' | 'completedBy'>): string {
  const { actor, completedBy } = attempt
  if (!completedBy || isSameCaller(actor, completedBy)) return displayName(attempt)
  return completedBy.name
}

/** The caller's name about an attempt: the attempt's agent name if it is the same caller. */
export function speakerOf(attempt: Pick<Attempt, 'agentName' | 'actor'> | null, caller: Actor): string {
  return attempt && isSameCaller(attempt.actor, caller)
    ? displayName(attempt)
    : displayName({ actor: caller })
}

/** Whether two calls came from the same caller, as far as their connections show it. */
function isSameCaller(a: Actor, b: Actor): boolean {
  const isOneConnection =
    a.connection === undefined || b.connection === undefined || a.connection === b.connection
  return (
    isOneConnection &&
    a.name === b.name &&
    a.machine === b.machine &&
    tokenOf(a) === tokenOf(b) &&
    identityOf(a) === identityOf(b)
  )
}

/** Whether an agent acts on the attempt of another connection, as far as both are known. */
export function isOfOtherConnection({ actor }: Pick<Attempt, 'actor'>, caller: Actor): boolean {
  const [one, other] = [actor.connection, caller.connection]
  return caller.kind === 'agent' && one !== undefined && other !== undefined && one !== other
}

/** Whether the caller's token differs from the token that started the attempt. */
export function isOfOtherToken({ actor }: Pick<Attempt, 'actor'>, caller: Actor): boolean {
  const token = tokenOf(caller)
  return caller.kind === 'agent' && token !== null && tokenOf(actor) !== token
}

/** An identifier of a token, whatever its holder is called; null for a token shared by all programs of a user. */
export function tokenOf({ token, identity }: Pick<Actor, 'token' | 'identity'>): string | null {
  return identity?.startsWith('user:') ? null : (token ?? null)
}

/** A correction of an attempt after its end; the original outcome is kept. */
export interface Correction {
  readonly text: string
  readonly agentName: string | null
  /** The connection's name. */
  readonly author: string
  readonly actor: Actor
  readonly createdAt: number
}

/** An ended attempt, for the agent that resumes the task. */
export interface PastAttempt {
  readonly attempt: Attempt
  /** Null for an abandoned attempt. */
  readonly outcome: Outcome | null
  readonly corrections: readonly Correction[]
  /** The first of the files that it changed. */
  readonly files: readonly string[]
}

/** A dependency of a task, with the summary of its last attempt. */
export interface Dependency {
  readonly task: Task
  /** Done, but what depends on it waits for a person. */
  readonly unsettled: boolean
  readonly summary: string | null
  readonly files: readonly string[]
  /** Its open inbox items. */
  readonly items: readonly InboxItem[]
}

/** A summary of an attempt and its author. */
export interface AuthoredText {
  readonly text: string
  readonly author: string
}

/** The list entry of a task: its dependencies, attempts and result. */
export interface TaskHistory {
  readonly dependsOn: readonly TaskId[]
  readonly unsettled: boolean
  readonly blocked: boolean
  readonly claim: { readonly agent: string; readonly expiresAt: number | null } | null
  /** The summary of the last ended attempt and its author. */
  readonly summary: AuthoredText | null
  readonly correction: AuthoredText | null
  /** The verdict of the last ended attempt; null for a failed one. */
  readonly verdict: VerdictValue | null
  /** Who accepted it although it is not proven. */
  readonly acceptedBy: string | null
  readonly files: readonly string[]
}

/** Done, and not by being dropped. */
export function isCompleted({
  status,
  resolution,
}: {
  readonly status: string
  readonly resolution: string | null
}): boolean {
  return status === 'done' && resolution !== 'dropped'
}

/** Whether a task still blocks the tasks that depend on it. */
export function isUnfinished({ task, unsettled }: Pick<Dependency, 'task' | 'unsettled'>): boolean {
  return task.status !== 'done' || unsettled
}

/** The location of a work tree's snapshot. Only the witness reads it. */
export interface SnapshotLocation {
  readonly engine: 'git' | 'checksum'
  /** Absolute path of the private directory that holds the snapshot. */
  readonly directory: string
  /** Absolute path of the work tree's top. */
  readonly top: string
  /** From the top to the project's folder: `''`, or ending with `/`. Areas are relative to it. */
  readonly prefix: string
  /** The machine that has it, if it is not the record's own: `e-…`. */
  readonly machineId?: string
  /** That machine's name. */
  readonly machineName?: string
  /** HEAD's commit, `unborn` before the first one, or the manifest's hash for checksums. */
  readonly id: string
}

/** Identifies a work tree across machines: the same path on two machines is two trees. */
export function treeOf({ machineId: machine, top }: Pick<SnapshotLocation, 'machineId' | 'top'>): string {
  return machine === undefined ? top : `${machine} ${top}`
}

import type { Outcome } from '../../events/domain/project-event.ts'
import { type Actor, displayName, identityOf } from '../../kernel/actor.ts'
import type { AttemptId, MilestoneId, MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { InboxItem } from './records.ts'

export const taskOutcomes = ['success', 'partial_success', 'failed'] as const
export type TaskOutcome = (typeof taskOutcomes)[number]

export const callerTypes = ['orchestrator', 'subagent'] as const
export type CallerType = (typeof callerTypes)[number]

/** How a done task came to be done. `claimed` is someone's word, without an attempt that was measured. */
export const resolutions = ['success', 'partial_success', 'claimed', 'dropped'] as const
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
  /** The agent, or the role, that it is for; early log entries have none. */
  readonly assignee?: string | null
  readonly areas: readonly string[]
  readonly status: 'to_do' | 'in_progress' | 'done'
  readonly resolution: Resolution | null
  /** The place that people gave it in its phase; tasks without one follow, in order of creation. */
  readonly sortOrder: number | null
  readonly creator: string | null
  readonly createdAt: number
  readonly updatedAt: number
}

/** A task of which no more is said than this: to do, by no one in particular. */
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

/** One try at a task: who, where, from which snapshot, and how it ended. */
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
  /** The last call about it, milliseconds since the epoch: an attempt silent for two hours is stale. */
  readonly lastCallAt: number
  readonly closedAt: number | null
  /** Who completed it, and with that said its outcome; an attempt that is open or was abandoned has none. */
  readonly completedBy?: Actor
}

/** Two hours without a call, in milliseconds. */
export const staleAfter = 2 * 60 * 60 * 1000

export function isStale(attempt: Attempt, now: number): boolean {
  // A call from the future was made while the clock was ahead: the attempt would be fresh until then.
  return attempt.status === 'open' && Math.abs(now - attempt.lastCallAt) >= staleAfter
}

/** Whether a caller is the one who opened an attempt: the same agent by name, or, where it gives none, the same connection. */
export function isOpenedBy(attempt: Attempt, actor: Actor, agentName: string | null): boolean {
  if (isOfOtherToken(attempt, actor)) return false
  const isSameConnection = actor.connection !== undefined && attempt.actor.connection === actor.connection
  if (agentName === null && isSameConnection) return true
  if (attempt.actor.name !== actor.name || attempt.agentName !== agentName) return false
  return agentName !== null || attempt.actor.connection === actor.connection
}

/** Who said the outcome of an attempt: its opener only where the completion came from the same caller. */
export function outcomeAuthorOf(attempt: Pick<Attempt, 'agentName' | 'actor' | 'completedBy'>): string {
  const { actor, completedBy } = attempt
  if (!completedBy || isSameCaller(actor, completedBy)) return displayName(attempt)
  return completedBy.name
}

/** The name of who speaks about an attempt: the one that the attempt has for this caller, else the caller's own. */
export function speakerOf(attempt: Pick<Attempt, 'agentName' | 'actor'> | null, caller: Actor): string {
  return attempt && isSameCaller(attempt.actor, caller)
    ? displayName(attempt)
    : displayName({ actor: caller })
}

/** Whether two calls came from one caller, as far as their connections show it. */
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

/** Whether an agent with a token would go on with what was begun with another one, or with none. */
export function isOfOtherToken({ actor }: Pick<Attempt, 'actor'>, caller: Actor): boolean {
  const token = tokenOf(caller)
  return caller.kind === 'agent' && token !== null && tokenOf(actor) !== token
}

/** What tells the holders of two tokens apart, whatever they call themselves; null for one that every program of a user has. */
export function tokenOf({ token, identity }: Pick<Actor, 'token' | 'identity'>): string | null {
  return identity?.startsWith('user:') ? null : (token ?? null)
}

/** What someone said of an attempt after its end: it stands beside what was said then. */
export interface Correction {
  readonly text: string
  readonly agentName: string | null
  /** The connection's name. */
  readonly saidBy: string
  readonly actor: Actor
  readonly createdAt: number
}

/** An attempt that ended, as the agent that takes the task up again reads it. */
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
  readonly items: readonly InboxItem[]
}

/** Words about an attempt, and the name of who said them. */
export interface AuthoredText {
  readonly text: string
  readonly author: string
}

/** What a list says of a task besides the task: what it waits for, how often it was tried, what came of it. */
export interface TaskHistory {
  readonly dependsOn: readonly TaskId[]
  readonly unsettled: boolean
  readonly blocked: boolean
  readonly claim: { readonly agent: string; readonly expiresAt: number | null } | null
  readonly attempts: number
  /** Of the last attempt that ended, with the name of who said it. */
  readonly summary: AuthoredText | null
  readonly correction: AuthoredText | null
  readonly files: readonly string[]
}

/** Whether what depends on a task still waits for it. */
export function isUnfinished({ task, unsettled }: Pick<Dependency, 'task' | 'unsettled'>): boolean {
  return task.status !== 'done' || unsettled
}

/** Where the state of a work tree at one moment is kept. The witness reads it; everybody else passes it on. */
export interface SnapshotLocation {
  readonly engine: 'git' | 'checksum'
  /** Absolute path of the private directory that holds the snapshot. */
  readonly directory: string
  /** Absolute path of the work tree's top. */
  readonly top: string
  /** From the top to the project's folder: `''`, or ending with `/`. Areas are relative to it. */
  readonly prefix: string
  /** The machine that it lies on, where that is not the record's own: `e-…`. */
  readonly machineId?: string
  /** What that machine calls itself. */
  readonly machineName?: string
  /** HEAD's commit, `unborn` before the first one, or the manifest's hash for checksums. */
  readonly id: string
}

/** Names a work tree among those of all machines: the same path on two of them is two trees. */
export function treeOf({ machineId: machine, top }: Pick<SnapshotLocation, 'machineId' | 'top'>): string {
  return machine === undefined ? top : `${machine} ${top}`
}

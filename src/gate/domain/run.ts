import type { CommandResultId, MissionId, RunEventId, RunId, TaskId } from '../../kernel/id.ts'
import type { JsonObject } from '../../kernel/json.ts'
import { type ProcessDefinition, stateNamed } from './definition.ts'
import type { Artifact, Visit } from './evidence.ts'

/** The stored definition of a run, independent of its file. */
export interface ProcessVersion {
  /** Hash of the definition's content. */
  readonly hash: string
  readonly id: string
  readonly version: string
  readonly name: string
}

export type RunStatus = 'active' | 'succeeded' | 'failed' | 'cancelled'

/** A run as it is stored: its process, subject and state. */
export interface RunRecord {
  readonly id: RunId
  readonly process: ProcessVersion
  /** The mission or the task that it gates; both null for a run on its own. */
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
  readonly status: RunStatus
  readonly state: string
  readonly revision: number
  readonly context: JsonObject
  readonly createdBy: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly endedAt: number | null
}

/** An artifact as it is stored: its submitter, and the stamp of its file. */
export interface StoredArtifact extends Omit<Artifact, 'status'> {
  /** Changes whenever the file does: while it is the same, the file need not be read again. */
  readonly stamp: string
  readonly author: string
  /** Their identity; absent in artifacts from before identities were stored. */
  readonly identity?: string
}

/** A move of a run: an accepted event, or a person's move or end. */
export interface RunEvent {
  readonly id: RunEventId
  readonly runId: RunId
  /** The run's revision after it; unique in the run. */
  readonly revision: number
  readonly kind: 'event' | 'migration' | 'cancellation'
  /** The event's name, or why the run was moved or ended. */
  readonly event: string
  readonly payload: JsonObject
  readonly from: string
  readonly to: string
  readonly stateChanged: boolean
  readonly artifacts: readonly StoredArtifact[]
  /** The guards that blocked an event that was recorded anyway, `name: reason`. */
  readonly unsatisfied: readonly string[]
  readonly role: string | null
  readonly author: string
  /** Their identity; absent in records from before identities were stored. */
  readonly identity?: string
  readonly createdAt: number
}

/** The submission of a refused event. */
export interface AttemptedEvent {
  /** The submitted files, and why one was refused; at most 20. */
  readonly files: readonly { readonly path: string; readonly reason: string | null }[]
  /** The payload as JSON, shortened; null for none. */
  readonly payload: string | null
}

/** A refused event; the run is unchanged. */
export interface RunRefusal {
  readonly runId: RunId
  readonly event: string
  readonly code: string
  readonly message: string
  /** Guards that were not satisfied, `name: reason`. */
  readonly missing: readonly string[]
  /** The submission; absent if empty. */
  readonly tried?: AttemptedEvent | null
  readonly state: string
  readonly revision: number
  readonly role: string | null
  readonly author: string
  readonly createdAt: number
}

/** A person's approval, bound to its content: a change voids it. */
export interface RunApproval {
  readonly runId: RunId
  readonly role: string
  /** The type of artifact that was approved; null for the run in its state. */
  readonly artifact: string | null
  /** Hash of the approved content. */
  readonly content: string
  readonly reason: string | null
  readonly author: string
  /** Distinguishes approvers; absent in approvals from before identities were stored. */
  readonly identity?: string
  readonly createdAt: number
  /** When the same person sent the work back, so that it no longer counts. */
  readonly withdrawnAt?: number
}

/** A command that the server ran, or runs, on a tree. */
export interface CommandResult {
  readonly id: CommandResultId
  readonly runId: RunId | null
  /** The command line. */
  readonly run: string
  /** Absolute path of the folder it ran in. */
  readonly folder: string
  /** Hash of the tree's content when it began; of a command that pins files, with their content. */
  readonly tree: string
  readonly status: 'running' | 'passed' | 'failed' | 'timed_out' | 'stopped'
  readonly exitCode: number | null
  /** The end of its output. */
  readonly output: string
  /** Whether the tree was the same when it ended. */
  readonly treeHeld: boolean
  /** Which process runs it, so that one that died is noticed: `host:pid`. */
  readonly runner: string
  /** It was started with a token of kind runner; absent otherwise. */
  readonly byRunner?: true
  readonly startedAt: number
  readonly endedAt: number | null
}

/** The progress of a process for one subject. */
export interface Run {
  readonly state: string
  /** 1 at the start, one more with each accepted event. */
  readonly revision: number
  readonly context: JsonObject
  /** The submitted files, each once per type, with the latest state. */
  readonly artifacts: readonly Artifact[]
  /** The states that were entered, in the order of their first entry. */
  readonly visits: readonly Visit[]
  /** A person canceled it. */
  readonly isCancelled?: boolean
}

/** Why a run is finished, as a sentence; null while it is not. */
export function endOf(definition: ProcessDefinition, { state, isCancelled }: Run): string | null {
  if (isCancelled) return `The run is finished: it was canceled in "${state}".`
  return stateNamed(definition, state)?.isFinal ? `The run is finished: "${state}" is a final state.` : null
}

export function beginRun(definition: ProcessDefinition, context: JsonObject = {}): Run {
  return {
    state: definition.initialState,
    revision: 1,
    context: { ...definition.initialContext, ...context },
    artifacts: [],
    visits: recordVisit([], definition.initialState, 1),
  }
}

/** The visits after one more entry into a state. */
export function recordVisit(visits: readonly Visit[], state: string, revision: number): readonly Visit[] {
  const before = visits.find((visit) => visit.state === state)
  if (!before) return [...visits, { state, count: 1, first: revision, last: revision }]
  const again = { ...before, count: before.count + 1, last: revision }
  return visits.map((visit) => (visit === before ? again : visit))
}

/** The run's revision when it last entered a state; 1 for one that it began in. */
export function entryRevision(visits: readonly Visit[], state: string): number {
  return visits.find((visit) => visit.state === state)?.last ?? 1
}

/** Merges submitted files: the same file of the same type replaces its earlier state. */
export function mergeArtifacts(before: readonly Artifact[], added: readonly Artifact[]): readonly Artifact[] {
  if (added.length === 0) return before
  const merged = new Map(
    [...before, ...added].map((artifact) => [`${artifact.type}\n${artifact.path}`, artifact]),
  )
  return [...merged.values()]
}

interface RunReference {
  readonly runId: RunId
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
}

/** The events of a run. */
export type GateEvent =
  /** A new definition, stored for the runs that start with it. */
  | { readonly kind: 'process.kept'; readonly hash: string; readonly definition: ProcessDefinition }
  | { readonly kind: 'run.created'; readonly run: RunRecord }
  | (RunReference & {
      readonly kind: 'run.advanced'
      readonly event: RunEvent
      readonly status: RunStatus
      /** Null if it did not change. */
      readonly context: JsonObject | null
    })
  | (RunReference & {
      readonly kind: 'run.migrated'
      readonly event: RunEvent
      readonly process: ProcessVersion
      readonly status: RunStatus
    })
  | (RunReference & { readonly kind: 'run.cancelled'; readonly event: RunEvent })
  | (RunReference & { readonly kind: 'run.refused'; readonly refusal: RunRefusal })
  | (RunReference & { readonly kind: 'run.approved'; readonly approval: RunApproval })
  /** The sender who sent the work back withdraws their earlier approvals of the run. */
  | (RunReference & {
      readonly kind: 'run.approvals_withdrawn'
      readonly identity: string
      readonly author: string
      readonly withdrawnAt: number
    })
  /** A person set how Waymark behaves in this project. */
  | { readonly kind: 'setting.changed'; readonly name: SettingName; readonly value: string }
  /** A person revoked the approval of a command. */
  | {
      readonly kind: 'command.revoked'
      readonly hash: string
      readonly run: string
      readonly folder: string
      readonly reason: string | null
    }
  | { readonly kind: 'command.started'; readonly command: CommandResult }
  | {
      readonly kind: 'command.ended'
      readonly commandId: CommandResultId
      readonly runId: RunId | null
      readonly status: Exclude<CommandResult['status'], 'running'>
      readonly exitCode: number | null
      /** The end of the output, if the whole is stored beside the log. */
      readonly output: string
      readonly whole?: { readonly sha256: string; readonly bytes: number }
      readonly treeHeld: boolean
    }

/** The settings of a project; see `settings.ts` for values and defaults. */
export const settingNames = [
  'done_when',
  'completion',
  'inbox_gate',
  'sensitive',
  'default_branch',
  'hook_out_of_scope',
  'hook_on_error',
  'guard_git',
  'stop_hook',
  'lines',
  'every_agent_captured',
  'elicitation',
  'upload_diff',
  'retention_days',
] as const
export type SettingName = (typeof settingNames)[number]

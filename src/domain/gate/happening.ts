import type { CommandResultId, MissionId, RunEventId, RunId, TaskId } from '../id.ts'
import type { ProcessDefinition } from './definition.ts'
import type { JsonObject } from './json.ts'
import type {
  CommandResult,
  ProcessVersion,
  RunApproval,
  RunEvent,
  RunRecord,
  RunRefusal,
  RunStatus,
} from './run-record.ts'

interface OfRun {
  readonly runId: RunId
  readonly missionId: MissionId | null
  readonly taskId: TaskId | null
}

/** What can happen to a run. */
export type GateHappening =
  /** A definition that no run had before: it is kept for the runs that begin with it. */
  | { readonly kind: 'process.kept'; readonly hash: string; readonly definition: ProcessDefinition }
  | { readonly kind: 'run.created'; readonly run: RunRecord }
  | (OfRun & {
      readonly kind: 'run.advanced'
      readonly event: RunEvent
      readonly status: RunStatus
      /** Null where it did not change. */
      readonly context: JsonObject | null
      /** The caller's key with the hash of what it sent, and the answer that a repeat gets. */
      readonly repeat: EmissionRepeat | null
    })
  | (OfRun & {
      readonly kind: 'run.migrated'
      readonly event: RunEvent
      readonly process: ProcessVersion
      readonly status: RunStatus
    })
  | (OfRun & { readonly kind: 'run.cancelled'; readonly event: RunEvent })
  | (OfRun & { readonly kind: 'run.refused'; readonly refusal: RunRefusal })
  | (OfRun & { readonly kind: 'run.approved'; readonly approval: RunApproval })
  /** A person set how Waymark behaves in this project. */
  | { readonly kind: 'setting.changed'; readonly name: SettingName; readonly value: string }
  /** A person took back that a command may run. */
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
      readonly output: string
      readonly treeHeld: boolean
    }

/** What a project may set, each a word; see `settings.ts` for what they mean and their defaults. */
export const settingNames = ['elicitation', 'hook_outside_areas', 'hook_on_error', 'holds_gate'] as const
export type SettingName = (typeof settingNames)[number]

/** An idempotency key of a run, and what it is bound to. */
export interface EmissionRepeat {
  readonly key: string
  /** Whose key it is; absent in facts of before keys had owners. */
  readonly owner?: string
  readonly inputHash: string
  readonly eventId: RunEventId
  readonly answer: JsonObject
}

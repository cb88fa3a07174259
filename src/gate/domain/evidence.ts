import type { JsonObject } from '../../kernel/json.ts'
import type { Landed } from '../../track/domain/landed.ts'
import type { SharedKind } from '../../track/domain/scope/file-kind.ts'
import type { VerdictRule, VerdictValue } from '../../track/domain/verdict.ts'
import type { ArtifactDefinition, Dialect } from './definition.ts'

/** All evidence for guards, gathered before the decision. */
export interface Evidence {
  readonly dialect: Dialect
  /** The context before the event. */
  readonly context: JsonObject
  readonly payload: JsonObject
  /** Files of the run and of this event. */
  readonly artifacts: readonly Artifact[]
  readonly declared: readonly ArtifactDefinition[]
  readonly visits: readonly Visit[]
  readonly observed: Observations
}

/** A file as it was submitted. */
export interface Artifact {
  readonly type: string
  /** Relative to the project, with `/`. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** Its parsed JSON, if its type has a schema; undefined if it is not JSON. */
  readonly content?: unknown
  /** Whether the file on disk is still the one that was submitted. */
  readonly status: 'current' | 'changed' | 'deleted'
  /** The run's revision that recorded it. */
  readonly revision: number
}

/** A state that the run entered, with the number of entries and their revisions. */
export interface Visit {
  readonly state: string
  readonly count: number
  /** The revision of the first entry. */
  readonly first: number
  /** The revision of the last entry. */
  readonly last: number
}

/** Evidence from outside the run. Null: not measured. */
export interface Observations {
  /** Changes of all attempts at the run's subject. */
  readonly changes: ObservedChanges | null
  readonly commands: readonly ObservedCommand[]
  readonly ci: readonly ObservedCi[]
  readonly openBlockers: readonly string[] | null
  readonly milestones: readonly ObservedMilestone[]
  readonly tasks: readonly ObservedTask[] | null
  readonly approvals: readonly ObservedApproval[]
}

export const nothingObserved: Observations = {
  changes: null,
  commands: [],
  ci: [],
  openBlockers: null,
  milestones: [],
  tasks: null,
  approvals: [],
}

export interface ObservedChanges {
  /** False if some change could not be measured, or a folder could not be read. */
  readonly complete: boolean
  /** Files and folders that could not be read, or whose content in git differs from the disk. */
  readonly unreadable?: readonly string[]
  /** There are more unmeasured files than listed. */
  readonly isOpaque?: boolean
  /** The guards whose current findings a person accepted. */
  readonly accepted?: readonly { readonly guard: string; readonly author: string }[]
  /** Changed by attempts without a declared scope. */
  readonly undeclared: readonly string[]
  /** Changed while no attempt ran, and in no scope. */
  readonly between?: readonly string[]
  readonly files: readonly {
    readonly path: string
    readonly inScope: boolean
    /** Its shared kind, if only that kind allows it, and no scope names it. */
    readonly shared?: SharedKind | null
    /** From the project's folder; null for a file outside it. */
    readonly own: string | null
    /** Whether it differs from the start of the first attempt; null if not compared or unknown. */
    readonly differs: boolean | null
    /** Changed while no attempt ran, so it is no evidence of work. */
    readonly isBetween?: true
  }[]
}

export interface ObservedCommand {
  readonly run: string
  /** Submitted by a runner, if the guard requires that. */
  readonly reportedBy?: 'runner'
  readonly status: 'passed' | 'failed' | 'timed_out' | 'running' | 'unapproved' | 'refused' | 'not_run'
  readonly exitCode: number | null
  /** Milliseconds since the epoch; null if it never ran. */
  readonly startedAt: number | null
  /** The end of its output. */
  readonly output: string
  /** Whether it ran on the current tree. */
  readonly onThisTree: boolean
  /** Whether files changed while it ran, so that the result does not count. */
  readonly disturbed?: boolean
  /** The person who refused exactly this command, and the reason. */
  readonly refusal?: { readonly author: string; readonly reason: string; readonly hash: string }
}

/** The last CI result of a check: for this tree or commit, else for any. */
export interface ObservedCi {
  readonly check: string
  readonly target: 'tree' | 'commit'
  readonly status: 'passed' | 'failed' | 'stopped' | 'none'
  /** Whether it is for the current tree or commit. */
  readonly isOfThis: boolean
  /** Its commit, shortened, if known. */
  readonly commit: string | null
  /** Milliseconds since it was submitted. */
  readonly age: number
}

export interface ObservedMilestone {
  readonly id: string
  readonly reached: boolean
}

export interface ObservedTask {
  readonly id: string
  readonly phase: string | null
  readonly done: boolean
  /** It was done, and a person took its changes back: it counts as not done. */
  readonly undone?: true
  /** It was done since the run went back to an earlier state: with a change or a person's word for it, or without. */
  readonly doneAgain?: 'done' | 'unchanged'
  /** It ended after the run's last approval, if there was one, and no person accepted it since. */
  readonly isUnseen?: true
  /** The verdict of its last ended attempt; null if it has none, absent if no guard asks. */
  readonly verdict?: VerdictValue | null
  /** The person who accepted it although it is not proven. */
  readonly acceptedBy?: string
  readonly name?: string
  /** The first reason why it is not proven; only of the first such task. */
  readonly doubt?: { readonly rule: VerdictRule; readonly text: string }
  /** Where its lines were when they were last measured; null if they were not, absent if no guard asks. */
  readonly landed?: Landed | null
  /** Its lines were replaced by work of tasks that did not land and that the guard does not ask about. */
  readonly replacementOpen?: true
  /** The machine that measures where its lines are, if it is not the record's own. */
  readonly machine?: string
}

export interface ObservedApproval {
  readonly role: string
  /** The type of artifact, or null for the run's present state. */
  readonly artifact: string | null
  readonly author: string
  /** Null in approvals from before identities were stored. */
  readonly identity: string | null
  readonly byAuthor: boolean
  /** Whether the approved content is unchanged, by its hash. */
  readonly current: boolean
  /** They sent the work back since. */
  readonly withdrawn?: true
  /** The approver's relation to the work, if a guard needs it. */
  readonly independence?: Independence
}

/** `own`: the approver or their agent did some of the work. `unknown`: the person behind it is not known. */
export type Independence = 'independent' | 'own' | 'unknown'

/** The evidence that a guard needs. */
export type EvidenceNeed =
  | { readonly kind: 'context' }
  | { readonly kind: 'artifacts'; readonly type: string }
  | { readonly kind: 'changes'; readonly net: boolean }
  | { readonly kind: 'command'; readonly run: string; readonly timeout: number }
  | { readonly kind: 'ci'; readonly check: string; readonly target: 'tree' | 'commit' }
  | { readonly kind: 'blockers' }
  | { readonly kind: 'milestone'; readonly id: string }
  | { readonly kind: 'tasks'; readonly phase: string | null }
  | { readonly kind: 'verdicts' }
  | { readonly kind: 'landings' }
  | { readonly kind: 'approvals'; readonly role: string; readonly artifact: string | null }

/** A need in words. */
export function formatNeed(need: EvidenceNeed): string {
  switch (need.kind) {
    case 'context':
      return 'the context'
    case 'artifacts':
      return `artifacts of type ${need.type}`
    case 'changes':
      return 'the measured changes'
    case 'command':
      return `the result of: ${need.run} (at most ${Math.round(need.timeout / 1000)} s)`
    case 'ci':
      return `the result of ${need.check} in CI on this ${need.target}`
    case 'blockers':
      return 'open blockers'
    case 'milestone':
      return `milestone ${need.id}`
    case 'tasks':
      return need.phase === null ? 'the tasks' : `the tasks of phase ${need.phase}`
    case 'verdicts':
      return 'the verdicts of done tasks'
    case 'landings':
      return 'where the lines of done tasks are'
    case 'approvals':
      return `approvals by ${need.role}${need.artifact === null ? '' : ` of ${need.artifact}`}`
  }
}

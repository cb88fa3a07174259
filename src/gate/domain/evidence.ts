import type { JsonObject } from '../../kernel/json.ts'
import type { SharedKind } from '../../track/domain/scope/file-kind.ts'
import type { ArtifactDefinition, Dialect } from './definition.ts'

/** Everything that guards may look at, as it was gathered before the decision. */
export interface Evidence {
  readonly dialect: Dialect
  /** The context before the event. */
  readonly context: JsonObject
  readonly payload: JsonObject
  /** Of the run, and of this event. */
  readonly artifacts: readonly Artifact[]
  readonly declared: readonly ArtifactDefinition[]
  readonly visits: readonly Visit[]
  readonly observed: Observations
}

/** A file that was submitted, as it was then. */
export interface Artifact {
  readonly type: string
  /** Relative to the project, with `/`. */
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  /** Its JSON, where its type has a schema; undefined when it is none. */
  readonly content?: unknown
  /** Whether the file on disk is still the one that was submitted. */
  readonly status: 'current' | 'changed' | 'deleted'
  /** The run's revision that recorded it. */
  readonly revision: number
}

/** A state that the run entered: how often, and by the events that made which revisions. */
export interface Visit {
  readonly state: string
  readonly count: number
  /** The revision of the first entry. */
  readonly first: number
  /** The revision of the last entry. */
  readonly last: number
}

/** What Waymark measured outside the run. Null: not measured. */
export interface Observations {
  /** Of all attempts of the run's subject. */
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
  /** False when some change could not be measured, or a folder could not be read. */
  readonly complete: boolean
  /** Files and folders of which that is known: git holds another content than the disk, or they could not be read. */
  readonly unreadable?: readonly string[]
  /** More than these files could not be measured. */
  readonly isOpaque?: boolean
  /** The guards whose findings a person accepted, with everything in them as it is now. */
  readonly accepted?: readonly { readonly guard: string; readonly author: string }[]
  /** Changed by attempts that declared no areas, so that no scope covers them. */
  readonly undeclared: readonly string[]
  /** Changed while no attempt ran, and covered by no area. */
  readonly between?: readonly string[]
  readonly files: readonly {
    readonly path: string
    readonly inScope: boolean
    /** Of which shared kind it is, where no area names it and its kind alone lets it pass. */
    readonly shared?: SharedKind | null
    /** From the project's folder; null for a file outside it. */
    readonly own: string | null
    /** Whether it is other than at the subject's first attempt; null where that was not looked at or cannot be seen. */
    readonly differs: boolean | null
    /** Changed while no attempt ran: it proves no work. */
    readonly isBetween?: true
  }[]
}

export interface ObservedCommand {
  readonly run: string
  /** Handed in by a runner, where a guard asks for that. */
  readonly by?: 'runner'
  readonly status: 'passed' | 'failed' | 'timed_out' | 'running' | 'unapproved' | 'refused' | 'not_run'
  readonly exitCode: number | null
  /** When it began, milliseconds since the epoch; null when it never ran. */
  readonly startedAt: number | null
  /** The end of what it printed. */
  readonly output: string
  /** Whether the tree is still the one that it ran on. */
  readonly onThisTree: boolean
  /** Whether files changed while it ran on this tree, so that it tells nothing of it. */
  readonly disturbed?: boolean
  /** Who said no to it as it is, and why. */
  readonly refusal?: { readonly author: string; readonly reason: string; readonly hash: string }
}

/** What a runner of CI submitted last of a check: of this tree or commit, else of any. */
export interface ObservedCi {
  readonly check: string
  readonly at: 'tree' | 'commit'
  readonly status: 'passed' | 'failed' | 'stopped' | 'none'
  /** Whether it is of the tree, or the commit, that is looked at. */
  readonly isOfThis: boolean
  /** The commit that it is of, shortened, where that is known. */
  readonly of: string | null
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
}

export interface ObservedApproval {
  readonly role: string
  /** The type of artifact, or null for the run's present state. */
  readonly of: string | null
  readonly author: string
  /** Null in an approval of before identities were kept. */
  readonly identity: string | null
  readonly byAuthor: boolean
  /** Whether what was approved is still the same, by its hash. */
  readonly current: boolean
  /** They sent the work back since. */
  readonly withdrawn?: true
  /** How they stand to the work, where a guard asks for it. */
  readonly independence?: Independence
}

/** `own`: they had a hand in it, or an agent of theirs. `unknown`: for whom it was done is not known. */
export type Independence = 'independent' | 'own' | 'unknown'

/** What a guard asks to be gathered. */
export type EvidenceNeed =
  | { readonly kind: 'context' }
  | { readonly kind: 'artifacts'; readonly type: string }
  | { readonly kind: 'changes'; readonly net: boolean }
  | { readonly kind: 'command'; readonly run: string; readonly timeout: number }
  | { readonly kind: 'ci'; readonly check: string; readonly at: 'tree' | 'commit' }
  | { readonly kind: 'blockers' }
  | { readonly kind: 'milestone'; readonly id: string }
  | { readonly kind: 'tasks'; readonly phase: string | null }
  | { readonly kind: 'approvals'; readonly role: string; readonly of: string | null }

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
      return `the result of ${need.check} in CI on this ${need.at}`
    case 'blockers':
      return 'open blockers'
    case 'milestone':
      return `milestone ${need.id}`
    case 'tasks':
      return need.phase === null ? 'the tasks' : `the tasks of phase ${need.phase}`
    case 'approvals':
      return `approvals by ${need.role}${need.of === null ? '' : ` of ${need.of}`}`
  }
}

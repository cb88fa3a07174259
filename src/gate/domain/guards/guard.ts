import type { Evidence, EvidenceNeed } from '../evidence.ts'
import type { ApprovalGuard } from './approval.ts'
import type { ArtifactGuard } from './artifact.ts'
import type { BlockersGuard } from './blockers.ts'
import type { ChangesGuard } from './changes.ts'
import type { CiGuard } from './ci.ts'
import type { CommandGuard } from './command.ts'
import type { ContextGuard } from './context.ts'
import type { LandedGuard } from './landed.ts'
import type { MilestoneGuard } from './milestone.ts'
import type { TaskGuard } from './task.ts'
import type { VerdictGuard } from './verdict.ts'

/** A condition over evidence: its type and its parameters. */
export type Guard =
  | ArtifactGuard
  | ContextGuard
  | ChangesGuard
  | CommandGuard
  | CiGuard
  | BlockersGuard
  | MilestoneGuard
  | TaskGuard
  | VerdictGuard
  | LandedGuard
  | ApprovalGuard

/** `unknown`: the evidence was not measured. It always blocks, negated or not. */
export type GuardStatus = 'holds' | 'fails' | 'unknown'

export interface GuardResult {
  readonly status: GuardStatus
  /** The current status, without a full stop. */
  readonly reason: string
  /** The fix, a sentence; empty if the guard is satisfied. */
  readonly fix: string
}

/** The functions of a kind of guard. Pure: the same parameters and evidence give the same result. */
export interface GuardKind<Parameters extends Guard> {
  /** The evidence that it needs. */
  needs(parameters: Parameters): readonly EvidenceNeed[]
  evaluate(parameters: Parameters, evidence: Evidence): GuardResult
}

export function satisfiedGuard(reason: string): GuardResult {
  return { status: 'holds', reason, fix: '' }
}

export function unsatisfiedGuard(reason: string, fix: string): GuardResult {
  return { status: 'fails', reason, fix }
}

export function unknownGuard(reason: string, fix: string): GuardResult {
  return { status: 'unknown', reason, fix }
}

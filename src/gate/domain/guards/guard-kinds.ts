import type { Evidence, EvidenceNeed } from '../evidence.ts'
import { approval } from './approval.ts'
import { artifact } from './artifact.ts'
import { blockers } from './blockers.ts'
import { changes } from './changes.ts'
import { ci } from './ci.ts'
import { command } from './command.ts'
import { context } from './context.ts'
import { type Guard, type GuardKind, type GuardResult, unknownGuard } from './guard.ts'
import { landed } from './landed.ts'
import { milestone } from './milestone.ts'
import { task } from './task.ts'
import { verdict } from './verdict.ts'

type GuardKinds = { readonly [Type in Guard['type']]: GuardKind<Extract<Guard, { readonly type: Type }>> }

const kinds: GuardKinds = {
  artifact,
  context,
  changes,
  command,
  ci,
  blockers,
  milestone,
  task,
  verdict,
  landed,
  approval,
}

export function guardNeeds(guard: Guard): readonly EvidenceNeed[] {
  return kindOf(guard)?.needs(guard) ?? []
}

export function evaluateGuard(guard: Guard, evidence: Evidence): GuardResult {
  const kind = kindOf(guard)
  // A run keeps its original definition, which another version of Waymark may have written.
  if (kind === undefined) {
    return unknownGuard(
      `guards of type "${guard.type}" are unknown to this version`,
      'Update Waymark on the machine that checks the event.',
    )
  }
  return kind.evaluate(guard, evidence)
}

/** Each entry takes the parameters of its type, which TypeScript cannot infer through an index. */
function kindOf(guard: Guard): GuardKind<Guard> | undefined {
  return Object.hasOwn(kinds, guard.type) ? (kinds[guard.type] as GuardKind<Guard>) : undefined
}

import { countedArtifacts } from './counted-artifacts.ts'
import {
  type GuardExpression,
  type ProcessDefinition,
  stateNamed,
  type TransitionDefinition,
} from './definition.ts'
import { type Emission, evidenceOf } from './emission.ts'
import { judgeOver, type MissingGuard, noSuchGuard } from './expression.ts'
import type { Truth } from './guards/guard.ts'
import { judgePassage, needsArtifacts } from './passage.ts'
import type { Run } from './run.ts'

/** One thing that a transition asks for, and how it stands. */
export interface PassageCheck extends Omit<MissingGuard, 'truth'> {
  readonly truth: Truth
  readonly satisfied: boolean
}

/** Everything that a transition asks for, what holds with its evidence and what does not with the way on. */
export function passageChecks(
  definition: ProcessDefinition,
  run: Run,
  passage: { readonly transition: TransitionDefinition; readonly emission: Emission },
): readonly PassageCheck[] {
  const { transition, emission } = passage
  const evidence = evidenceOf(definition, run, emission)
  const judge = judgeOver(evidence, emission.assumed)
  const guarded = leaves(transition.guard).map(({ name, negated }): PassageCheck => {
    const guard = definition.guards.find((candidate) => candidate.name === name)
    const verdict = guard ? judge(guard) : noSuchGuard
    const truth = negated ? opposite[verdict.truth] : verdict.truth
    return {
      name: negated ? `not ${name}` : name,
      description: guard?.description ?? '',
      truth,
      satisfied: truth === 'holds',
      reason: verdict.reason,
      fix: truth === 'holds' ? '' : negated && truth === 'fails' ? 'Take another way.' : verdict.fix,
    }
  })
  const required = needsArtifacts(definition, run.state, transition)
    ? (stateNamed(definition, run.state)?.requiredArtifacts ?? [])
    : []
  const present = required.flatMap((type): readonly PassageCheck[] => {
    const { counted } = countedArtifacts(type, evidence)
    if (counted.length === 0) return []
    const description = definition.artifacts.find((artifact) => artifact.type === type)?.description ?? ''
    const reason = counted.map(({ path }) => path).join(', ')
    return [
      { name: `required_artifacts.${type}`, description, truth: 'holds', satisfied: true, reason, fix: '' },
    ]
  })
  const told = new Set(guarded.map(({ name }) => name))
  const beside = judgePassage(definition, run, passage).missing.filter(
    ({ name }) => !told.has(name) && !name.startsWith('not '),
  )
  return [...guarded, ...present, ...beside.map((missing) => ({ ...missing, satisfied: false }))]
}

const opposite = { holds: 'fails', fails: 'holds', unknown: 'unknown' } as const satisfies Record<
  Truth,
  Truth
>

interface Leaf {
  readonly name: string
  readonly negated: boolean
}

/** The guards of an expression, each once, and whether it must not hold. */
function leaves(expression: GuardExpression | null, negated = false): readonly Leaf[] {
  if (expression === null) return []
  if (typeof expression === 'string') return [{ name: expression, negated }]
  if ('not' in expression) return leaves(expression.not, !negated)
  const parts = 'all' in expression ? expression.all : expression.any
  const found = parts.flatMap((part) => leaves(part, negated))
  return found.filter(
    (leaf, at) =>
      found.findIndex(({ name, negated: not }) => name === leaf.name && not === leaf.negated) === at,
  )
}

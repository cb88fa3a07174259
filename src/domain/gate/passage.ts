import { countedArtifacts } from './counted-artifacts.ts'
import { type ProcessDefinition, stateNamed, type TransitionDefinition } from './definition.ts'
import { type Emission, evidenceOf } from './emission.ts'
import { isAssumed, judgeExpression, judgeOver, type MissingGuard } from './expression.ts'
import { leads } from './reach.ts'
import type { Run } from './run.ts'

/** Open only where nothing is missing: what is not known is missing too. */
export interface Passage {
  readonly satisfied: boolean
  readonly missing: readonly MissingGuard[]
}

/**
 * Whether a transition may be taken: its guard, the artifacts that the state asks for (on the way forward), and how often
 * the state it leads to may be entered.
 */
export function judgePassage(
  definition: ProcessDefinition,
  run: Run,
  { transition, emission }: { readonly transition: TransitionDefinition; readonly emission: Emission },
): Passage {
  const evidence = evidenceOf(definition, run, emission)
  const judge = judgeOver(evidence, emission.assumed)
  const guarded =
    transition.guard === null ? [] : judgeExpression(transition.guard, definition, judge).missing
  const artifacts = needsArtifacts(definition, run.state, transition)
    ? missingArtifacts(definition, run, emission)
    : []
  const visits = exhaustedVisits(definition, run, transition)
  const missing = [...guarded, ...artifacts, ...visits]
  return { satisfied: missing.length === 0, missing }
}

/**
 * Whether a transition asks for what its state requires. Forward it does. A way back, to a state that every run came
 * through to get here, leaves it for later; so does an escape.
 */
export function needsArtifacts(
  definition: ProcessDefinition,
  state: string,
  { to, escape: escapes }: TransitionDefinition,
): boolean {
  if (escapes || (stateNamed(definition, state)?.requiredArtifacts ?? []).length === 0) return false
  return to !== state && !leads(definition, to, state)
}

function missingArtifacts(
  definition: ProcessDefinition,
  run: Run,
  emission: Emission,
): readonly MissingGuard[] {
  const evidence = evidenceOf(definition, run, emission)
  const required = stateNamed(definition, run.state)?.requiredArtifacts ?? []
  return required
    .filter((type) => !isAssumed(type, emission.assumed))
    .flatMap((type) => {
      const { counted, passedOver } = countedArtifacts(type, evidence)
      if (counted.length > 0) return []
      const why = passedOver.length === 0 ? '' : `; not counted: ${passedOver.join('; ')}`
      const { description, paths } = definition.artifacts.find((artifact) => artifact.type === type) ?? {}
      const where = paths === undefined || paths.length === 0 ? '' : ` (${paths.join(', ')})`
      return {
        name: `required_artifacts.${type}`,
        description: description ?? '',
        truth: 'fails' as const,
        reason: `state "${run.state}" needs "${type}", and none was handed in${why}`,
        fix: `Attach a file of type "${type}"${where} to the event.`,
      }
    })
}

function exhaustedVisits(
  definition: ProcessDefinition,
  run: Run,
  { to }: TransitionDefinition,
): readonly MissingGuard[] {
  const most = stateNamed(definition, to)?.maxVisits ?? null
  const visits = run.visits.find(({ state }) => state === to)?.count ?? 0
  if (most === null || visits < most) return []
  return [
    {
      name: `max_visits.${to}`,
      description: '',
      truth: 'fails',
      reason: `state "${to}" was entered ${visits} times, the most it may be`,
      fix: 'Take another way.',
    },
  ]
}

import type { ProcessDefinition } from './definition.ts'
import type { Observations } from './evidence.ts'
import { guardNames } from './expression.ts'
import { evaluateGuard } from './guards/guard-kinds.ts'
import type { Run } from './run.ts'
import { transitionsFor } from './transitions.ts'

/** The missing approvals of a run's state, a line for each guard. */
export function missingApprovals(
  definition: ProcessDefinition,
  run: Run,
  observed: Observations,
): readonly string[] {
  const named = new Set(
    definition.events
      .flatMap(({ name }) => transitionsFor(definition, run.state, name))
      .flatMap(({ guard }) => guardNames(guard)),
  )
  const { context, artifacts, visits } = run
  const evidence = {
    dialect: definition.dialect,
    declared: definition.artifacts,
    payload: {},
    context,
    artifacts,
    visits,
    observed,
  }
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'approval' || !named.has(name)) return []
    const { status, reason } = evaluateGuard(guard, evidence)
    return status === 'holds' ? [] : [`${name}: ${reason}`]
  })
}

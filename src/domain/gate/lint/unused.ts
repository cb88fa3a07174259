import type { ProcessDefinition } from '../definition.ts'
import { guardNames } from '../expression.ts'
import { type Finding, finding } from './finding.ts'

/** What is declared is used: an event in no transition, a guard that guards nothing, an artifact that nothing asks for. */
export function unused({
  events,
  transitions,
  guards,
  artifacts,
  states,
}: ProcessDefinition): readonly Finding[] {
  const guarding = new Set(transitions.flatMap(({ guard }) => guardNames(guard)))
  const wanted = new Set([
    ...states.flatMap(({ requiredArtifacts }) => requiredArtifacts),
    ...guards.flatMap(({ guard }) => {
      if (guard.type === 'artifact') return [guard.artifactType]
      return guard.type === 'approval' && guard.of !== null ? [guard.of] : []
    }),
  ])
  return [
    ...events.flatMap(({ name }, at) =>
      transitions.some(({ event }) => event === name)
        ? []
        : warn(`Event "${name}" is in no transition.`, ['events', at, 'name']),
    ),
    ...guards.flatMap(({ name }) =>
      guarding.has(name) ? [] : warn(`Guard "${name}" guards no transition.`, ['guards', name]),
    ),
    ...guards.flatMap(({ name, guard }) =>
      guard.type === 'approval' && guard.of === 'changes' && artifacts.some(({ type }) => type === 'changes')
        ? [
            finding('warning', 'hidden-changes', {
              message: `Guard "${name}" asks for an approval of the artifact "changes", not of the measured changes: call the artifact something else.`,
              path: ['guards', name, 'of'],
            }),
          ]
        : [],
    ),
    ...artifacts.flatMap(({ type }, at) =>
      wanted.has(type)
        ? []
        : warn(`Artifact "${type}" is asked for by no state and no guard.`, ['artifacts', at, 'type']),
    ),
  ]
}

function warn(message: string, path: Finding['path']): readonly Finding[] {
  return [finding('warning', 'unused', { message, path })]
}

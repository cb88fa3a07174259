import { didYouMean } from '../../../kernel/nearest-word.ts'
import { isOfChanges } from '../approved-content.ts'
import type { GuardExpression, ProcessDefinition } from '../definition.ts'
import { guardNames } from '../expression.ts'
import { type DefinitionPath, type Finding, finding, type Severity } from './finding.ts'

type DefinitionNames = readonly string[]

/** The kinds of names that a definition refers to. */
export type ReferenceKind = 'state' | 'event' | 'guard' | 'role' | 'artifact'

interface UnknownName {
  readonly kind: ReferenceKind
  readonly name: string
  readonly finding: Finding
}

/** Finds references to undeclared names. */
export function references(definition: ProcessDefinition): readonly Finding[] {
  return unknownNames(definition).map((unknown) => unknown.finding)
}

/** The same for an incomplete definition: only for kinds whose declarations could be read. */
export function referencesTo(
  definition: ProcessDefinition,
  kinds: readonly ReferenceKind[],
): readonly Finding[] {
  return unknownNames(definition)
    .filter(({ kind, name }) => name !== '' && kinds.includes(kind))
    .map((unknown) => unknown.finding)
}

function unknownNames(definition: ProcessDefinition): readonly UnknownName[] {
  const states = definition.states.map(({ name }) => name)
  const artifacts = definition.artifacts.map(({ type }) => type)
  const roles = definition.roles.map(({ name }) => name)
  return [
    ...unknownNameFindings(definition.initialState, 'state', {
      names: states,
      path: ['process', 'initial_state'],
    }),
    ...definition.states.flatMap(({ requiredArtifacts }, index) =>
      requiredArtifacts.flatMap((type, place) =>
        unknownNameFindings(type, 'artifact', {
          names: artifacts,
          path: ['states', index, 'required_artifacts', place],
        }),
      ),
    ),
    ...definition.events.flatMap(({ allowedRoles }, index) =>
      unknownRoles(allowedRoles, roles, ['events', index, 'allowed_roles']),
    ),
    ...transitionReferences(definition, { states, roles }),
    ...guardReferences(definition, { artifacts, roles }),
    ...definition.roles.flatMap(({ allowedEvents }, index) =>
      (allowedEvents ?? []).flatMap((event, place) =>
        unknownNameFindings(event, 'event', {
          names: definition.events.map(({ name }) => name),
          path: ['roles', index, 'allowed_events', place],
          // In state_gate this list was only for readers; the event decides who may emit it.
          severity: definition.dialect === 1 ? 'error' : 'warning',
        }),
      ),
    ),
  ]
}

function transitionReferences(
  { transitions, events, guards }: ProcessDefinition,
  { states, roles }: { readonly states: DefinitionNames; readonly roles: DefinitionNames },
): readonly UnknownName[] {
  const eventNames = events.map(({ name }) => name)
  const guardNames = guards.map(({ name }) => name)
  return transitions.flatMap((transition, index) => {
    const path = (key: string): DefinitionPath => ['transitions', index, key]
    return [
      ...(transition.from === '*'
        ? []
        : unknownNameFindings(transition.from, 'state', { names: states, path: path('from') })),
      ...unknownNameFindings(transition.event, 'event', { names: eventNames, path: path('event') }),
      ...unknownNameFindings(transition.to, 'state', { names: states, path: path('to') }),
      ...unknownGuards(transition.guard, guardNames, path('guard')),
      ...unknownRoles(transition.allowedRoles ?? [], roles, path('allowed_roles')),
    ]
  })
}

function unknownGuards(
  expression: GuardExpression | null,
  names: DefinitionNames,
  path: DefinitionPath,
): readonly UnknownName[] {
  if (expression === null) return []
  if (typeof expression === 'string') return unknownNameFindings(expression, 'guard', { names, path })
  if ('not' in expression) return unknownGuards(expression.not, names, [...path, 'not'])
  const key = 'all' in expression ? 'all' : 'any'
  const parts = 'all' in expression ? expression.all : expression.any
  return parts.flatMap((part, index) => unknownGuards(part, names, [...path, key, index]))
}

function guardReferences(
  definition: ProcessDefinition,
  { artifacts, roles }: { readonly artifacts: DefinitionNames; readonly roles: DefinitionNames },
): readonly UnknownName[] {
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type === 'artifact') {
      const path = ['guards', name, 'artifact_type']
      return unknownNameFindings(guard.artifactType, 'artifact', { names: artifacts, path })
    }
    if (guard.type !== 'approval') return []
    return [
      ...unknownNameFindings(guard.role, 'role', { names: roles, path: ['guards', name, 'role'] }),
      ...(guard.artifact === null || isOfChanges(definition, guard.artifact)
        ? []
        : unknownNameFindings(guard.artifact, 'artifact', {
            names: artifacts,
            path: ['guards', name, 'artifact'],
          })),
    ]
  })
}

function unknownRoles(
  used: DefinitionNames,
  names: DefinitionNames,
  path: DefinitionPath,
): readonly UnknownName[] {
  return used.flatMap((role, index) =>
    role === '*' ? [] : unknownNameFindings(role, 'role', { names, path: [...path, index] }),
  )
}

function unknownNameFindings(
  name: string,
  kind: ReferenceKind,
  {
    names,
    path,
    severity = 'error',
  }: { readonly names: DefinitionNames; readonly path: DefinitionPath; readonly severity?: Severity },
): readonly UnknownName[] {
  if (names.includes(name)) return []
  const message = `There is no ${kind} "${name}".${didYouMean(name, names)}`
  return [{ kind, name, finding: finding(severity, 'unknown-reference', { message, path }) }]
}

/** Finds duplicate names. (Guards are keys of a map: the YAML reader refuses duplicates.) */
export function duplicates({ roles, states, events, artifacts }: ProcessDefinition): readonly Finding[] {
  return [
    ...repeatedNameFindings(
      'roles',
      'name',
      roles.map(({ name }) => name),
    ),
    ...repeatedNameFindings(
      'states',
      'name',
      states.map(({ name }) => name),
    ),
    ...repeatedNameFindings(
      'events',
      'name',
      events.map(({ name }) => name),
    ),
    ...repeatedNameFindings(
      'artifacts',
      'type',
      artifacts.map(({ type }) => type),
    ),
  ]
}

function repeatedNameFindings(section: string, key: string, names: readonly string[]): readonly Finding[] {
  return names.flatMap((name, index) => {
    const first = names.indexOf(name)
    if (first === index) return []
    const message = `${section} has "${name}" twice; the first one is number ${first + 1}.`
    return finding('error', 'duplicate-name', { message, path: [section, index, key] })
  })
}

/** Finds unused events, guards and artifacts. */
export function unusedNameFindings({
  events,
  transitions,
  guards,
  artifacts,
  states,
}: ProcessDefinition): readonly Finding[] {
  const guarding = new Set(transitions.flatMap(({ guard }) => guardNames(guard)))
  const required = new Set([
    ...states.flatMap(({ requiredArtifacts }) => requiredArtifacts),
    ...guards.flatMap(({ guard }) => {
      if (guard.type === 'artifact') return [guard.artifactType]
      return guard.type === 'approval' && guard.artifact !== null ? [guard.artifact] : []
    }),
  ])
  return [
    ...events.flatMap(({ name }, index) =>
      transitions.some(({ event }) => event === name)
        ? []
        : warn(`No transition uses event "${name}".`, ['events', index, 'name']),
    ),
    ...guards.flatMap(({ name }) =>
      guarding.has(name) ? [] : warn(`No transition uses guard "${name}".`, ['guards', name]),
    ),
    ...guards.flatMap(({ name, guard }) =>
      guard.type === 'approval' &&
      guard.artifact === 'changes' &&
      artifacts.some(({ type }) => type === 'changes')
        ? [
            finding('warning', 'hidden-changes', {
              message: `Guard "${name}" needs an approval of the artifact "changes", not of the measured changes. Rename the artifact.`,
              path: ['guards', name, 'artifact'],
            }),
          ]
        : [],
    ),
    ...artifacts.flatMap(({ type }, index) =>
      required.has(type)
        ? []
        : warn(`No state and no guard needs the artifact "${type}".`, ['artifacts', index, 'type']),
    ),
  ]
}

function warn(message: string, path: Finding['path']): readonly Finding[] {
  return [finding('warning', 'unused', { message, path })]
}

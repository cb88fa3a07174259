import type { ProcessDefinition } from '../definition.ts'
import { type Finding, finding } from './finding.ts'

/** A name is given once. (Guards are keys of a map: the reader refuses a second one.) */
export function duplicates({ roles, states, events, artifacts }: ProcessDefinition): readonly Finding[] {
  return [
    ...repeated(
      'roles',
      'name',
      roles.map(({ name }) => name),
    ),
    ...repeated(
      'states',
      'name',
      states.map(({ name }) => name),
    ),
    ...repeated(
      'events',
      'name',
      events.map(({ name }) => name),
    ),
    ...repeated(
      'artifacts',
      'type',
      artifacts.map(({ type }) => type),
    ),
  ]
}

function repeated(section: string, key: string, names: readonly string[]): readonly Finding[] {
  return names.flatMap((name, at) => {
    const first = names.indexOf(name)
    if (first === at) return []
    const message = `${section} has "${name}" twice; the first one is number ${first + 1}.`
    return finding('error', 'duplicate-name', { message, path: [section, at, key] })
  })
}

import picomatch from 'picomatch'
import type { ProcessDefinition, TransitionDefinition } from '../definition.ts'
import { guardNames } from '../expression.ts'
import { type Finding, finding } from './finding.ts'

/** A guard that counts several files needs a way to hand them in one by one, and enough files that may exist. */
export function accumulation(definition: ProcessDefinition): readonly Finding[] {
  return definition.guards.flatMap(({ name, guard }) => {
    if (guard.type !== 'artifact' || guard.count < 2) return []
    const path = ['guards', name, 'min_count']
    const paths = definition.artifacts.find(({ type }) => type === guard.artifactType)?.paths ?? []
    if (paths.length > 0 && paths.length < guard.count && !paths.some(isGlob)) {
      const message = `"${name}" needs ${guard.count} files, but "${guard.artifactType}" can only be ${paths.join(', ')}.`
      return finding('error', 'cannot-accumulate', { message, path })
    }
    const users = definition.transitions.filter((transition) => guardNames(transition.guard).includes(name))
    const stuck = users.find((transition) => !canCollect(transition, definition))
    if (!stuck) return []
    const message = `"${name}" needs ${guard.count} files, and "${stuck.from}" has no event that keeps some and stays: all must come with one "${stuck.event}". when_blocked: record keeps them.`
    return finding('warning', 'cannot-accumulate', { message, path })
  })
}

function canCollect(
  { from, whenBlocked }: TransitionDefinition,
  { transitions }: ProcessDefinition,
): boolean {
  if (whenBlocked === 'record') return true
  return transitions.some(
    (other) =>
      (other.from === from || other.from === '*') && (other.whenBlocked === 'record' || other.to === from),
  )
}

function isGlob(path: string): boolean {
  return picomatch.scan(path).isGlob
}

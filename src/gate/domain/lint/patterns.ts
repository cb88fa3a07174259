import { pathPatterns, patternProblem } from '../../../kernel/path-pattern.ts'
import type { ProcessDefinition } from '../definition.ts'
import { type DefinitionPath, type Finding, finding } from './finding.ts'

/** A path pattern of a definition, and its place. */
export interface DefinitionPattern {
  readonly pattern: string
  readonly path: DefinitionPath
  /** Files that the work is still to write: that there is none now says nothing. */
  readonly isToCome: boolean
}

/** Every pattern for paths in a definition. */
export function patternsIn({ guards, artifacts, states }: ProcessDefinition): readonly DefinitionPattern[] {
  const patternsAt = (patterns: readonly string[], path: DefinitionPath, isToCome = false) =>
    patterns.map((pattern, index): DefinitionPattern => ({ pattern, path: [...path, index], isToCome }))
  return [
    ...guards.flatMap(({ name, guard }) => {
      if (guard.type === 'changes' && 'paths' in guard)
        return patternsAt(guard.paths, ['guards', name, 'paths'])
      return guard.type === 'command' ? patternsAt(guard.pinned, ['guards', name, 'pinned']) : []
    }),
    ...artifacts.flatMap(({ paths }, index) => patternsAt(paths, ['artifacts', index, 'paths'], true)),
    ...states.flatMap(({ toolPermissions }, index) =>
      (toolPermissions?.paths ?? []).flatMap(({ tool, globs }) =>
        patternsAt(globs, ['states', index, 'tool_permissions', 'paths', tool]),
      ),
    ),
  ]
}

/** A pattern that can never match would shut a gate for ever, or leave it open. */
export function unusablePatterns(definition: ProcessDefinition): readonly Finding[] {
  return patternsIn(definition).flatMap(({ pattern, path }) => {
    const problem = patternProblem(pattern)
    if (problem === null) return []
    return [finding('error', 'path-pattern', { message: `The path pattern "${pattern}" ${problem}.`, path })]
  })
}

/** A pattern that matches none of the project's files is probably misspelt. */
export function idlePattern(
  { pattern, path, isToCome }: DefinitionPattern,
  files: readonly string[],
): Finding | null {
  if (isToCome || patternProblem(pattern) !== null) return null
  const { matches } = pathPatterns([pattern.trim().replace(/^!/, '')])
  if (files.some(matches)) return null
  return finding('warning', 'matches-nothing', {
    message: `The path pattern "${pattern}" matches no file of the project now.`,
    path,
  })
}

import { anyGlob } from '../glob.ts'
import type { ArtifactDefinition, ProcessDefinition } from './definition.ts'

/**
 * The type that a file is kept under: by the declared globs; else what its caller says; else by its name, the longest
 * type of several; null when it is of none.
 */
export function artifactType(
  { artifacts }: ProcessDefinition,
  path: string,
  said: string | null = null,
): string | null {
  const byGlob = globbed(artifacts, path)
  if (byGlob !== null) return byGlob
  if (said !== null) return said
  return named(artifacts, path)[0] ?? null
}

/** Whether a file counts as a type. One that is known by its name alone counts as every type in its name. */
export function isOfType(
  declared: readonly ArtifactDefinition[],
  artifact: { readonly type: string; readonly path: string },
  type: string,
): boolean {
  if (artifact.type === type) return true
  if (!hasInName(artifact.path, type) || globbed(declared, artifact.path) !== null) return false
  const types = named(declared, artifact.path)
  return types.includes(type) && (artifact.type === '' || types.includes(artifact.type))
}

function globbed(artifacts: readonly ArtifactDefinition[], path: string): string | null {
  return artifacts.find(({ paths }) => paths.length > 0 && matcherOf(paths)(plain(path)))?.type ?? null
}

// A thousand files are compared with the globs of one definition.
const matchers = new WeakMap<readonly string[], (path: string) => boolean>()

function matcherOf(globs: readonly string[]): (path: string) => boolean {
  const known = matchers.get(globs)
  if (known) return known
  const matcher = anyGlob(globs)
  matchers.set(globs, matcher)
  return matcher
}

function named(artifacts: readonly ArtifactDefinition[], path: string): readonly string[] {
  return artifacts
    .map(({ type }) => type)
    .filter((type) => hasInName(path, type))
    .toSorted((a, b) => b.length - a.length)
}

/** state_gate's rule: the name without its ending is the type, or has it as a part between `_` and `-`. */
function hasInName(path: string, type: string): boolean {
  const file = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  const name = file.replace(/\.[^.]+$/, '')
  const wanted = type.toLowerCase()
  for (let at = name.indexOf(wanted); at !== -1; at = name.indexOf(wanted, at + 1)) {
    if (isEdge(name[at - 1]) && isEdge(name[at + wanted.length])) return true
  }
  return false
}

function isEdge(character: string | undefined): boolean {
  return character === undefined || character === '_' || character === '-'
}

function plain(path: string): string {
  return path.replace(/^(?:\.\/)+/, '')
}

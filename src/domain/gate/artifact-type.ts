import picomatch from 'picomatch'
import type { ProcessDefinition } from './definition.ts'

/**
 * The type of a file by the declared globs; else what whoever hands it in says; else by the original's rule, a type's
 * name in the file's name; null when it is of none.
 */
export function artifactType(
  { artifacts }: ProcessDefinition,
  path: string,
  said: string | null = null,
): string | null {
  const plain = path.replace(/^(?:\.\/)+/, '')
  const byGlob = artifacts.find(
    ({ paths }) => paths.length > 0 && picomatch([...paths], { dot: true })(plain),
  )
  if (byGlob) return byGlob.type
  if (said !== null) return said
  const name = plain.slice(plain.lastIndexOf('/') + 1).toLowerCase()
  const named = artifacts
    .filter(({ type }) => name.replace(/-/g, '_').includes(type.toLowerCase().replace(/-/g, '_')))
    .toSorted((a, b) => b.type.length - a.type.length)
  return named[0]?.type ?? null
}

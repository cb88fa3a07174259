import { realpath } from 'node:fs/promises'
import { Failure } from '../domain/failure.ts'
import type { EvidenceFile } from '../ports/evidence-files.ts'
import { measureFile } from './measure-file.ts'
import { placeOf } from './place.ts'

const atOnce = 8

/** A file, or why the path names none that can be evidence. */
export type Examined = EvidenceFile | { readonly problem: string }

/** Reads files of a folder, each once, in the order given. Fails with one sentence for all paths that are no evidence. */
export async function readEvidence(folder: string, paths: readonly string[]): Promise<EvidenceFile[]> {
  const top = await realFolder(folder)
  const files = new Map<string, EvidenceFile>()
  const problems: string[] = []
  const distinct = [...new Set(paths)]
  for (let from = 0; from < distinct.length; from += atOnce) {
    const some = distinct.slice(from, from + atOnce)
    for (const [at, examined] of (await Promise.all(some.map((path) => examine(top, path)))).entries()) {
      if ('problem' in examined) problems.push(`${JSON.stringify(some[at])} ${examined.problem}`)
      else files.set(examined.path, files.get(examined.path) ?? examined)
    }
  }
  if (problems.length === 0) return [...files.values()]
  throw new Failure('INVALID_INPUT', `No evidence: ${problems.join('; ')}.`, {
    hint: `Name regular files in ${top}, by paths relative to it.`,
    details: { problems },
  })
}

/** One file of a folder that is given by its real path. */
export async function examine(folder: string, path: string): Promise<Examined> {
  const place = await placeOf(folder, path)
  if ('problem' in place) return place
  const file = await measureFile(place.absolute)
  return 'problem' in file ? file : { path: place.path, ...file }
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (cause) {
    throw new Failure('UNAVAILABLE', `There is no folder ${folder}.`, { cause })
  }
}

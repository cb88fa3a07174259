import { Failure } from '../../../domain/failure.ts'
import { artifactType } from '../../../domain/gate/artifact-type.ts'
import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import type { KeptArtifact } from '../../../domain/gate/run-record.ts'
import type { SchemaProblem } from '../../../domain/gate/schema/schema-words.ts'
import { didYouMean } from '../../../domain/nearest-word.ts'
import type { EvidenceFile } from '../../../ports/evidence-files.ts'
import type { Handling } from '../../context.ts'

/** A file as a caller names it, with the type that it is of where its path does not tell. */
export type NamedFile = string | { readonly path: string; readonly type: string }

export type HandedIn = Omit<KeptArtifact, 'revision' | 'by' | 'author'>

/** The files of an event, and what is wrong with those that cannot be evidence, a sentence each. */
export interface ReadFiles {
  readonly handedIn: readonly HandedIn[]
  readonly unusable: readonly SchemaProblem[]
}

/** Reads the files of an event. */
export async function readHandedIn(
  { evidenceFiles, folder }: Handling,
  definition: ProcessDefinition,
  named: readonly NamedFile[],
): Promise<ReadFiles> {
  const declared = definition.artifacts.map(({ type }) => type)
  const byPath = new Map<string, HandedIn>()
  const unusable: SchemaProblem[] = []
  for (const [at, file] of named.entries()) {
    const refuse = (message: string) => unusable.push({ path: `/artifact_paths/${at}`, message })
    const { path, type } = typeof file === 'string' ? { path: file, type: null } : file
    if (type !== null && !declared.includes(type)) {
      refuse(`${path}: process ${definition.id} knows no artifact "${type}".${didYouMean(type, declared)}`)
      continue
    }
    const read = await readOne(() => evidenceFiles.read(folder, [path]))
    if (typeof read === 'string') refuse(read)
    else byPath.set(read.path, typed(definition, read, type))
  }
  return { handedIn: [...byPath.values()], unusable }
}

// By declared globs, else as the caller says, else by the file's name; without a type it is kept and counts for nothing.
function typed(definition: ProcessDefinition, file: EvidenceFile, said: string | null): HandedIn {
  return { ...file, type: artifactType(definition, file.path, said) ?? '' }
}

async function readOne(read: () => Promise<readonly EvidenceFile[]>): Promise<EvidenceFile | string> {
  try {
    const [file] = await read()
    return file ?? 'No evidence: nothing was read.'
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_INPUT') return error.message
    throw error
  }
}

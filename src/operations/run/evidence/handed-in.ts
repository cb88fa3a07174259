import { Failure } from '../../../domain/failure.ts'
import { artifactType } from '../../../domain/gate/artifact-type.ts'
import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import type { KeptArtifact } from '../../../domain/gate/run-record.ts'
import { didYouMean } from '../../../domain/nearest-word.ts'
import type { EvidenceFile } from '../../../ports/evidence-files.ts'
import type { Handling } from '../../context.ts'

/** A file as a caller names it, with the type that it is of where its path does not tell. */
export type NamedFile = string | { readonly path: string; readonly type: string }

export type HandedIn = Omit<KeptArtifact, 'revision' | 'by'>

/** Reads the files of an event. Fails with INVALID_PAYLOAD, a validation error for each that cannot be evidence. */
export async function readHandedIn(
  { evidenceFiles, folder }: Handling,
  definition: ProcessDefinition,
  named: readonly NamedFile[],
): Promise<readonly HandedIn[]> {
  const declared = definition.artifacts.map(({ type }) => type)
  const unknown = named.flatMap((file) =>
    typeof file === 'string' || declared.includes(file.type) ? [] : [file],
  )
  if (unknown.length > 0) {
    throw invalid(
      unknown.map(
        ({ path, type }) =>
          `${path}: process ${definition.id} knows no artifact "${type}".${didYouMean(type, declared)}`,
      ),
    )
  }
  const byPath = new Map<string, HandedIn>()
  for (const file of named) {
    const path = typeof file === 'string' ? file : file.path
    const [read] = await readOne(() => evidenceFiles.read(folder, [path]))
    if (read) byPath.set(read.path, typed(definition, read, typeof file === 'string' ? null : file.type))
  }
  return [...byPath.values()]
}

// By declared globs, else as the caller says, else by the file's name; without a type it is kept and counts for nothing.
function typed(definition: ProcessDefinition, file: EvidenceFile, said: string | null): HandedIn {
  return { ...file, type: artifactType(definition, file.path, said) ?? '' }
}

async function readOne(read: () => Promise<readonly EvidenceFile[]>): Promise<readonly EvidenceFile[]> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_INPUT') throw invalid([error.message])
    throw error
  }
}

function invalid(messages: readonly string[]): Failure {
  return new Failure('INVALID_PAYLOAD', messages.join(' '), {
    hint: 'Attach regular files inside the project, by paths relative to its folder.',
    details: { validation_errors: messages.map((message) => ({ path: 'artifact_paths', message })) },
  })
}

import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { didYouMean } from '../../../kernel/nearest-word.ts'
import { measuredList, path, recordedFile, words } from '../../../kernel/operations/fields.ts'
import { measurement } from '../../../kernel/operations/measurement-protocol.ts'
import { artifactType } from '../../domain/artifacts.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import type { SchemaProblem } from '../../domain/json-schema.ts'
import type { StoredArtifact } from '../../domain/run.ts'
import type { MeasurementQuestions } from './run-measurements.ts'

/** A file as a caller names it; with its type where the path does not determine it. */
export type EvidenceFileInput = string | { readonly path: string; readonly type: string }

export type SubmittedArtifact = Omit<StoredArtifact, 'revision' | 'by' | 'author'>

const readFile = recordedFile.extend({ content: z.unknown().optional() })

/** The files of an event, each with its hash; with its content if the process has a schema for it. */
export const submittedFiles = measurement({
  brief: measuredList(z.strictObject({ path, hasSchema: z.boolean() }), 1_000),
  measured: measuredList(
    z.union([z.strictObject({ file: readFile }), z.strictObject({ problem: words })]),
    1_000,
  ),
  fits: (briefs, results) => briefs.length === results.length,
  measure: ({ evidenceFiles, folder }, files) =>
    Promise.all(
      files.map(async ({ path: named, hasSchema }) => {
        try {
          const [file] = await evidenceFiles.read(folder, [named])
          if (file === undefined) return { problem: 'No evidence: nothing was read.' }
          const { content, ...fields } = file
          return { file: { ...fields, ...(hasSchema && content !== undefined && { content }) } }
        } catch (error) {
          if (error instanceof Failure && error.code === 'INVALID_INPUT') return { problem: error.message }
          throw error
        }
      }),
    ),
})

/** The files submitted with an event. */
export interface SubmittedFiles {
  readonly submitted: readonly SubmittedArtifact[]
  /** Problems of submitted files that cannot be evidence. */
  readonly unusable: readonly SchemaProblem[]
}

/** Null until the files were read. */
export function prepareSubmittedFiles(
  questions: Pick<MeasurementQuestions<{ submitted: typeof submittedFiles }>, 'ask'>,
  definition: ProcessDefinition,
  named: readonly EvidenceFileInput[],
): SubmittedFiles | null {
  const declared = definition.artifacts.map(({ type }) => type)
  const byPath = new Map<string, SubmittedArtifact>()
  const unusable: SchemaProblem[] = []
  let isWhole = true
  for (const [index, input] of named.entries()) {
    const refuse = (message: string) => unusable.push({ path: `/artifact_paths/${index}`, message })
    const { path: file, type } = typeof input === 'string' ? { path: input, type: null } : input
    if (type !== null && !declared.includes(type)) {
      refuse(
        `${file}: process ${definition.id} has no artifact "${type}": it has ${declared.join(', ') || 'none'}.${didYouMean(type, declared)}`,
      )
      continue
    }
    const hasSchema = definition.artifacts.some(
      (artifact) => artifact.schema !== null && (type === null || artifact.type === type),
    )
    const read = questions.ask('submitted', { path: file, hasSchema })
    if (read === undefined) isWhole = false
    else if ('problem' in read) refuse(read.problem)
    else byPath.set(read.file.path, withArtifactType(definition, read.file, type))
  }
  return isWhole ? { submitted: [...byPath.values()], unusable } : null
}

// By declared globs, then the caller's type, then the file's name. A file without a type is stored, but no evidence.
function withArtifactType(
  definition: ProcessDefinition,
  { content, ...file }: z.output<typeof readFile>,
  declaredType: string | null,
): SubmittedArtifact {
  return {
    ...file,
    ...(content !== undefined && { content }),
    type: artifactType(definition, file.path, declaredType) ?? '',
  }
}

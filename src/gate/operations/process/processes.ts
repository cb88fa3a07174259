import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import type { LoadedProcess, PlacedFinding, ProcessFiles } from '../../../project/ports/project-files.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'

interface UsableProcess {
  readonly loaded: LoadedProcess
  readonly definition: ProcessDefinition
}

/** A process that could be read. */
export async function readableProcess(files: ProcessFiles, idOrFile: string): Promise<UsableProcess> {
  const loaded = await files.load(idOrFile)
  const { definition } = loaded
  if (definition === null) throw unusable(loaded)
  return { loaded, definition }
}

/** A process without an error, so that it may be run. */
export async function soundProcess(files: ProcessFiles, idOrFile: string): Promise<UsableProcess> {
  const usable = await readableProcess(files, idOrFile)
  if (usable.loaded.findings.some(({ severity }) => severity === 'error')) throw unusable(usable.loaded)
  return usable
}

function unusable({ file, findings }: LoadedProcess): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const told = errors.slice(0, 5).map((error) => `${placeWords(error)}${error.message}`)
  const more = errors.length > 5 ? `\n… and ${errors.length - 5} more.` : ''
  return new Failure('REFUSED', `The process in ${file} has errors:\n${told.join('\n')}${more}`, {
    reason: 'process_has_errors',
    hint: `All of them: waymark process lint ${file}`,
  })
}

function placeWords({ place }: PlacedFinding): string {
  return place === null ? '' : `line ${place.line}, column ${place.column}: `
}

export const processField = identifier('Id of a process, or its file').max(1000)

export const origin = z.enum(['project', 'shipped', 'file'])

export const FindingEntry = z.object({
  severity: z.enum(['error', 'warning', 'note']),
  rule: z.string(),
  message: z.string(),
  line: z.int().nullable(),
  column: z.int().nullable(),
})

export function findingEntry({
  severity,
  rule,
  message,
  place,
}: PlacedFinding): z.output<typeof FindingEntry> {
  return { severity, rule, message, line: place?.line ?? null, column: place?.column ?? null }
}

export function countOf(findings: readonly PlacedFinding[], severity: PlacedFinding['severity']): number {
  return findings.filter((finding) => finding.severity === severity).length
}

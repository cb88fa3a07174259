import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { processSource, measuredList as upTo } from '../../../kernel/operations/fields.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import { measurement, requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import type { RecordContext } from '../../../kernel/operations/operation.ts'
import { shellCommand } from '../../../kernel/shell-word.ts'
import type { LoadedProcess, LocatedFinding, ProcessSource } from '../../../project/ports/project-files.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'

interface UsableProcess {
  readonly loaded: LoadedProcess
  readonly definition: ProcessDefinition
}

/** A process by its id or its file, as its file says it. */
export const namedProcess = measurement({
  brief: z.strictObject({ process: z.string().max(4_096) }),
  measured: processSource,
  measure: async ({ processFiles }, { process }) => sourceOf(await processFiles.load(process)),
})

/** The same for a new run: fails with PROCESS_NOT_FOUND. */
export const runnableProcess = measurement({
  ...namedProcess,
  measure: async (workTree, brief, input) => {
    try {
      return await namedProcess.measure(workTree, brief, input)
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'NOT_FOUND')) throw error
      throw new Failure('PROCESS_NOT_FOUND', error.message, {
        reason: error.reason ?? 'process_not_found',
        hint: error.hintParts,
        ...(error.fix && { fix: error.fix }),
        ...(error.details && { details: error.details }),
        cause: error,
      })
    }
  },
})

export const everyProcess = measurement({
  brief: z.strictObject({}),
  measured: upTo(processSource, 1_000),
  measure: async ({ processFiles }) => (await processFiles.list()).map(sourceOf),
})

function sourceOf({ file, origin: from, id, text, unread }: ProcessSource): ProcessSource {
  return { file, origin: from, id, text, ...(unread !== undefined && { unread }) }
}

/** For an operation that is about one process: its file is measured, and read here. */
export async function prepareProcess(
  _: unknown,
  { process }: { readonly process: string },
  { processFiles }: Pick<RecordContext, 'processFiles'>,
  measured: { readonly process?: ProcessSource },
) {
  return {
    briefs: { process: { process } },
    found: measured.process ? await loadedProcess(processFiles, measured.process) : null,
  }
}

const loadedProcesses = new WeakMap<ProcessSource, Promise<LoadedProcess>>()

/** Loads a measured process once. */
export function loadedProcess(
  files: RecordContext['processFiles'],
  measured: ProcessSource,
): Promise<LoadedProcess> {
  const loaded = loadedProcesses.get(measured) ?? files.read(measured)
  loadedProcesses.set(measured, loaded)
  return loaded
}

/** A process that could be read. */
export function readableProcess(measured: LoadedProcess | null): UsableProcess {
  const loaded = requireMeasured(measured ?? undefined)
  const { definition } = loaded
  if (definition === null) throw unusableProcessFailure(loaded)
  return { loaded, definition }
}

/** A process without an error, so that it may be run. */
export function soundProcess(measured: LoadedProcess | null): UsableProcess {
  const usable = readableProcess(measured)
  if (usable.loaded.findings.some(({ severity }) => severity === 'error'))
    throw unusableProcessFailure(usable.loaded)
  return usable
}

function unusableProcessFailure({ file, findings }: LoadedProcess): Failure {
  const errors = findings.filter(({ severity }) => severity === 'error')
  const messages = errors.slice(0, 5).map((error) => `${findingPlacePrefix(error)}${error.message}`)
  const more = errors.length > 5 ? `\n… and ${errors.length - 5} more.` : ''
  return new Failure('REFUSED', `The process in ${file} has errors:\n${messages.join('\n')}${more}`, {
    reason: 'process_has_errors',
    hint: `All of them: ${shellCommand`waymark process lint ${file}`}`,
  })
}

function findingPlacePrefix({ place }: LocatedFinding): string {
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
}: LocatedFinding): z.output<typeof FindingEntry> {
  return { severity, rule, message, line: place?.line ?? null, column: place?.column ?? null }
}

export function countFindings(
  findings: readonly LocatedFinding[],
  severity: LocatedFinding['severity'],
): number {
  return findings.filter((finding) => finding.severity === severity).length
}

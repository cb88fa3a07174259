import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { names } from '../../../kernel/operations/fields.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import {
  measurement,
  requireMeasured,
  type WorkTree,
} from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { pathBelow } from '../../../kernel/path-below.ts'
import { pathInsidePrefix } from '../../../kernel/path-pattern.ts'
import type { LoadedProcess, LocatedFinding } from '../../../project/ports/project-files.ts'
import { idlePattern } from '../../domain/lint/patterns.ts'
import {
  countFindings,
  FindingEntry,
  findingEntry,
  loadedProcess,
  namedProcess,
  processField,
} from './processes.ts'

export const processLint = defineOperation({
  name: 'process_lint',
  command: 'process lint',
  toolset: 'gate',
  audience: 'both',
  title: 'Check a process file for mistakes',
  description:
    'List errors and warnings in the file of a process, with line and column. An error makes it unhealthy.',
  kind: 'query',
  positional: ['process'],
  input: z.strictObject({ process: processField }),
  output: z.object({
    file: z.string(),
    healthy: z.boolean(),
    errors: z.int(),
    warnings: z.int(),
    findings: list(FindingEntry),
  }),
})
  .measure({
    process: namedProcess,
    /** The project's files, relative to its folder; null if they cannot be listed. */
    files: measurement({
      brief: z.strictObject({}),
      measured: names.nullable(),
      measure: ({ witness, folder }) => filesOf(witness, folder),
    }),
  })
  .prepare(async (_, { process }, { processFiles }, measured) => {
    const loaded = measured.process ? await loadedProcess(processFiles, measured.process) : null
    // A shipped process is for any project, whatever its files are.
    const isOfProject = loaded?.origin !== 'shipped' && loaded?.patterns.some(({ isToCome }) => !isToCome)
    return { briefs: { process: { process }, ...(isOfProject && { files: {} }) }, found: loaded }
  })
  .answer(async ({ found, measured: { files = null } }) => {
    const loaded = requireMeasured(found ?? undefined)
    const findings = [...loaded.findings, ...idlePatterns(loaded, files)]
    const errors = countFindings(findings, 'error')
    return {
      file: loaded.file,
      healthy: errors === 0,
      errors,
      warnings: countFindings(findings, 'warning'),
      findings: findings.map(findingEntry),
    }
  })

/** The path patterns that match none of the project's files. */
function idlePatterns(
  { patterns }: LoadedProcess,
  files: readonly string[] | null,
): readonly LocatedFinding[] {
  if (files === null) return []
  return patterns.flatMap((pattern) => {
    const found = idlePattern(pattern, files)
    return found === null ? [] : [{ ...found, place: pattern.place }]
  })
}

async function filesOf(witness: WorkTree['witness'], folder: string): Promise<readonly string[] | null> {
  try {
    const [{ top }, { stamps }] = await Promise.all([witness.locate(folder), witness.content(folder)])
    const below = pathBelow(top, folder)
    const prefix = below ? `${below}/` : ''
    return stamps.flatMap(([path]) => pathInsidePrefix(path, prefix) ?? [])
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return null
    throw error
  }
}

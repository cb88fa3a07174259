import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import { type Context, defineOperation } from '../../../kernel/operations/operation.ts'
import { pathBelow } from '../../../kernel/path-below.ts'
import { fromProject } from '../../../kernel/path-pattern.ts'
import type { LoadedProcess, PlacedFinding } from '../../../project/ports/project-files.ts'
import { idlePattern } from '../../domain/lint/patterns.ts'
import { countOf, FindingEntry, findingEntry, processField } from './processes.ts'

export const processLint = defineOperation({
  name: 'process_lint',
  command: 'process lint',
  toolset: 'gate',
  audience: 'both',
  title: 'Check a process',
  description:
    'Everything that is wrong or odd in the definition of a process, with line and column. Not healthy when there is an error.',
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
}).handler(async (handling, input) => {
  const loaded = await handling.processFiles.load(input.process)
  const findings = [...loaded.findings, ...(await idlePatterns(handling, loaded))]
  const errors = countOf(findings, 'error')
  return {
    file: loaded.file,
    healthy: errors === 0,
    errors,
    warnings: countOf(findings, 'warning'),
    findings: findings.map(findingEntry),
  }
})

/** The path patterns that match none of the project's files; none where the files cannot be listed. */
async function idlePatterns(
  { witness, folder }: Pick<Context, 'witness' | 'folder'>,
  { patterns, origin }: LoadedProcess,
): Promise<readonly PlacedFinding[]> {
  // A shipped process is for any project, whatever its files are.
  if (origin === 'shipped' || patterns.every(({ isToCome }) => isToCome)) return []
  try {
    const [{ top }, { stamps }] = await Promise.all([witness.locate(folder), witness.content(folder)])
    const below = pathBelow(top, folder)
    const prefix = below ? `${below}/` : ''
    const files = stamps.flatMap(([path]) => fromProject(path, prefix) ?? [])
    return patterns.flatMap((pattern) => {
      const found = idlePattern(pattern, files)
      return found === null ? [] : [{ ...found, place: pattern.place }]
    })
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return []
    throw error
  }
}

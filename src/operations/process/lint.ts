import { z } from 'zod'
import { list } from '../answers/list.ts'
import { defineOperation } from '../operation.ts'
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
}).handler(async ({ processFiles }, input) => {
  const { file, findings } = await processFiles.load(input.process)
  const errors = countOf(findings, 'error')
  return {
    file,
    healthy: errors === 0,
    errors,
    warnings: countOf(findings, 'warning'),
    findings: findings.map(findingEntry),
  }
})

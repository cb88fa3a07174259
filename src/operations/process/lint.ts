import { z } from 'zod'
import { defineOperation } from '../operation.ts'
import { countOf, findingAnswer, findingShape, processField } from './processes.ts'

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
  output: z.looseObject({
    file: z.string(),
    healthy: z.boolean(),
    errors: z.number(),
    warnings: z.number(),
    findings: z.array(findingShape),
  }),
}).handler(async ({ processFiles }, input) => {
  const { file, findings } = await processFiles.load(input.process)
  const errors = countOf(findings, 'error')
  return {
    file,
    healthy: errors === 0,
    errors,
    warnings: countOf(findings, 'warning'),
    findings: findings.map(findingAnswer),
  }
})

import { z } from 'zod'
import type { MissingGuard } from '../../domain/gate/expression.ts'
import type { PlacedFinding } from '../../ports/process-files.ts'
import { identifier } from '../input/fields.ts'

export const processField = identifier('Id of a process, or its file').max(1000)

export const findingShape = z.looseObject({
  severity: z.enum(['error', 'warning', 'note']),
  rule: z.string(),
  message: z.string(),
  line: z.number().nullable(),
  column: z.number().nullable(),
})

export function findingAnswer({ severity, rule, message, place }: PlacedFinding) {
  return { severity, rule, message, line: place?.line ?? null, column: place?.column ?? null }
}

export function countOf(findings: readonly PlacedFinding[], severity: PlacedFinding['severity']): number {
  return findings.filter((finding) => finding.severity === severity).length
}

export function missingAnswer({ name, description, truth, reason, fix }: MissingGuard) {
  return { guard_name: name, ...(description !== '' && { description }), status: truth, reason, fix }
}

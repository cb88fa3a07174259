import type { ProcessDefinition } from '../definition.ts'
import { contextUse, schemas } from './context.ts'
import { accumulation, freshness, pinning } from './evidence.ts'
import type { Finding } from './finding.ts'
import { duplicates, references, unused } from './names.ts'
import { unusablePatterns } from './patterns.ts'
import { roles, toolPermissions } from './roles.ts'
import { shadowed, ways } from './ways.ts'

type Rule = (definition: ProcessDefinition) => readonly Finding[]

const rules: readonly Rule[] = [
  duplicates,
  references,
  ways,
  shadowed,
  accumulation,
  freshness,
  roles,
  schemas,
  contextUse,
  unused,
  toolPermissions,
  pinning,
  unusablePatterns,
]

/** Everything that is wrong or odd in a definition whose shape is right. Empty for a good one. */
export function lint(definition: ProcessDefinition): readonly Finding[] {
  return rules.flatMap((rule) => rule(definition))
}

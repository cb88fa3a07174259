import type { ProcessDefinition } from '../definition.ts'
import { accumulation } from './accumulation.ts'
import { contextUse } from './context-use.ts'
import { duplicates } from './duplicates.ts'
import type { Finding } from './finding.ts'
import { freshness } from './freshness.ts'
import { pinning } from './pinning.ts'
import { references } from './references.ts'
import { roles } from './roles.ts'
import { schemas } from './schemas.ts'
import { shadowed } from './shadowed.ts'
import { toolPermissions } from './tool-permissions.ts'
import { unused } from './unused.ts'
import { ways } from './ways.ts'

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
]

/** Everything that is wrong or odd in a definition whose shape is right. Empty for a good one. */
export function lint(definition: ProcessDefinition): readonly Finding[] {
  return rules.flatMap((rule) => rule(definition))
}

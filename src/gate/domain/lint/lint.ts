import type { ProcessDefinition } from '../definition.ts'
import { contextUse, schemas } from './context.ts'
import { artifactCountFindings, freshness, unpinnedCommandFindings } from './evidence.ts'
import type { Finding } from './finding.ts'
import { duplicates, references, unusedNameFindings } from './names.ts'
import { unusablePatterns } from './patterns.ts'
import { reachabilityFindings, shadowedTransitionFindings } from './reachability.ts'
import { roles, toolPermissions } from './roles.ts'

type LintRule = (definition: ProcessDefinition) => readonly Finding[]

const rules: readonly LintRule[] = [
  duplicates,
  references,
  reachabilityFindings,
  shadowedTransitionFindings,
  artifactCountFindings,
  freshness,
  roles,
  schemas,
  contextUse,
  unusedNameFindings,
  toolPermissions,
  unpinnedCommandFindings,
  unusablePatterns,
]

/** All findings in a definition with a valid shape. Empty for a good one. */
export function lint(definition: ProcessDefinition): readonly Finding[] {
  return rules.flatMap((rule) => rule(definition))
}

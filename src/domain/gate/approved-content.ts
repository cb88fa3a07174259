import { countedArtifacts } from './counted-artifacts.ts'
import type { ProcessDefinition } from './definition.ts'
import { noFacts } from './evidence.ts'
import type { JsonObject } from './json.ts'
import type { Run } from './run.ts'

/**
 * What an approval is about, to be hashed: the artifacts of a type as they are, or the run in its state with all that
 * was handed in and the tree. Null when there is nothing to approve.
 */
export function approvedContent(
  definition: ProcessDefinition,
  run: Run,
  { of, tree }: { readonly of: string | null; readonly tree: string | null },
): JsonObject | null {
  if (of === null) {
    const entered = run.visits.find(({ state }) => state === run.state)?.last ?? 1
    const files = run.artifacts.filter(({ standing }) => standing === 'current').map(fileLine)
    return { state: run.state, entered, files: files.sort(), tree }
  }
  const { counted } = countedArtifacts(of, {
    dialect: definition.dialect,
    context: run.context,
    payload: {},
    artifacts: run.artifacts,
    declared: definition.artifacts,
    visits: run.visits,
    facts: noFacts,
  })
  return counted.length === 0 ? null : { of, files: counted.map(fileLine).sort() }
}

function fileLine({ type, path, sha256 }: { type: string; path: string; sha256: string }): string {
  return `${type} ${path} ${sha256}`
}

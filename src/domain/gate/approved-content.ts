import { approvalFreshness, countedArtifacts } from './counted-artifacts.ts'
import type { ProcessDefinition } from './definition.ts'
import { noFacts } from './evidence.ts'
import type { JsonObject } from './json.ts'
import type { Run } from './run.ts'

/** What an approval may be of beside what was handed in. */
export interface Approvable {
  readonly of: string | null
  /** Hash of the tree; null: not measured. */
  readonly tree: string | null
  /** The measured changes of the run's mission or task; null: not measured. */
  readonly changes: readonly { readonly path: string; readonly sha256: string | null }[] | null
}

/** `of: changes` is what was measured, unless the process declares a type of artifacts of that name. */
export function isOfChanges({ artifacts }: Pick<ProcessDefinition, 'artifacts'>, of: string | null): boolean {
  return of === 'changes' && !artifacts.some(({ type }) => type === of)
}

/**
 * What an approval is about, to be hashed: the artifacts of a type as they are, the measured changes, or the run in its
 * state with all that was handed in and the tree. Null when there is nothing to approve.
 */
export function approvedContent(
  definition: ProcessDefinition,
  run: Run,
  { of, tree, changes }: Approvable,
): JsonObject | null {
  if (isOfChanges(definition, of)) {
    return changes && { of, files: changes.map(({ path, sha256 }) => `${path} ${sha256 ?? 'gone'}`).sort() }
  }
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
    declared: definition.artifacts.map((artifact) => ({
      ...artifact,
      fresh: approvalFreshness(artifact.fresh),
    })),
    visits: run.visits,
    facts: noFacts,
  })
  return counted.length === 0 ? null : { of, files: counted.map(fileLine).sort() }
}

function fileLine({ type, path, sha256 }: { type: string; path: string; sha256: string }): string {
  return `${type} ${path} ${sha256}`
}

import { parseScope } from '../../domain/track/scope/scope.ts'
import { type AreaCount, overlappingAreas, surveyAreas } from '../../domain/track/scope/survey.ts'
import type { Attempt } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import type { Snapshot, WorkTreeWitness } from '../../ports/work-tree.ts'

type Packages = ReadonlyMap<string, string>

/** How many existing files each declared area matches; workspace packages are looked up only where one is named. */
export async function describeAreas(
  witness: WorkTreeWitness,
  snapshot: Snapshot,
  areas: readonly string[],
): Promise<{ readonly survey: readonly AreaCount[]; readonly packages: Packages }> {
  const packages = namesPackage(areas) ? await witness.packages(snapshot.ref) : new Map<string, string>()
  const scope = parseScope(areas, { prefix: snapshot.ref.prefix, packages })
  return { survey: surveyAreas(scope, snapshot.paths), packages }
}

export function namesPackage(areas: readonly string[]): boolean {
  return areas.some((area) => area.trim().replace(/^!/, '').startsWith('@'))
}

/** Warnings about other attempts that are open in the same work tree, outside the attempt's own family. */
export async function rivalsInTree(
  reads: Reads,
  attempt: Attempt,
  tree: { readonly paths: readonly string[]; readonly packages: Packages },
): Promise<readonly string[]> {
  const family = new Set<string>([attempt.taskId, ...(await reads.tasks.ancestors(attempt.taskId))])
  const inTree = await reads.tasks.attemptsInTree(attempt.snapshot.top, attempt.openedAt)
  const rivals = inTree.filter(
    (other) => other.status === 'open' && other.id !== attempt.id && !family.has(other.taskId),
  )
  return rivals.slice(0, 5).map((rival) => rivalWarning(attempt, rival, tree))
}

function rivalWarning(
  attempt: Attempt,
  rival: Attempt,
  tree: { readonly paths: readonly string[]; readonly packages: Packages },
): string {
  const holder = rival.agentName ?? rival.actor.name
  const scopeOf = ({ areas, snapshot }: Attempt) =>
    parseScope(areas, { prefix: snapshot.prefix, packages: tree.packages })
  const overlaps = overlappingAreas(scopeOf(attempt), scopeOf(rival), tree.paths)
  const shared = [
    ...new Set(overlaps.map(({ ours, theirs }) => (ours === theirs ? ours : `${ours} and ${theirs}`))),
  ]
  const where = shared.length === 0 ? '' : ` Overlapping areas: ${shared.slice(0, 5).join(', ')}.`
  return `${holder} has attempt ${rival.id} open in this work tree.${where} A work tree of its own (git worktree add) makes the record exact.`
}

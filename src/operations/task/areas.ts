import { parseScope } from '../../domain/track/scope/scope.ts'
import { type AreaCount, overlappingAreas, surveyAreas } from '../../domain/track/scope/survey.ts'
import type { StartedTask } from '../../domain/track/start-task.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'
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

/** Warnings about other attempts that are open in the same work tree, outside the task's own family. */
export async function rivalsInTree(
  reads: Reads,
  { task, attempt }: Pick<StartedTask, 'task' | 'attempt'>,
  tree: { readonly paths: readonly string[]; readonly packages: Packages },
): Promise<readonly string[]> {
  const inTree = await reads.tasks.attemptsInTree(attempt.snapshot.top, attempt.openedAt)
  const open = inTree.filter((other) => other.status === 'open' && other.taskId !== task.id)
  if (open.length === 0) return []
  const above = new Set<string>(await ancestry(reads, task.parentTaskId))
  const lineages = await Promise.all(open.map(({ taskId }) => reads.tasks.ancestors(taskId)))
  const rivals = open.filter(({ taskId }, index) => !above.has(taskId) && !lineages[index]?.includes(task.id))
  if (rivals.length === 0) return []
  return [...rivals.slice(0, 5).map((rival) => rivalWarning(attempt, rival, tree)), offerOfOwnTree(task.id)]
}

/** A task and everything above it: read from the parent, because a task that begins now is not stored yet. */
async function ancestry(reads: Reads, parent: Task['parentTaskId']): Promise<readonly string[]> {
  return parent === null ? [] : [parent, ...(await reads.tasks.ancestors(parent))]
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
  return `${holder} has attempt ${rival.id} open in this work tree.${where}`
}

function offerOfOwnTree(taskId: string): string {
  return `To work apart, end this attempt, then run \`waymark worktree add ${taskId}\` in a shell: it makes a separate work tree, where start_task { planned_task_id: "${taskId}" } goes on.`
}

import type { Attempt } from '../../domain/track/task.ts'
import type { TaskReads } from '../../ports/reads/task-reads.ts'

/** An attempt that was open in the same work tree at the same time, with the attempts above it. */
export interface Neighbour extends Attempt {
  readonly above: readonly string[]
}

/** More attempts than this are not compared: then nothing is certain. */
export const mostNeighbours = 200

export type Neighbours = ReadonlyMap<string, Neighbour>

/** Reads who else was open in the work tree since an attempt began, itself included. */
export async function readNeighbours(tasks: TaskReads, attempt: Attempt): Promise<Neighbours> {
  const inTree = await tasks.attemptsInTree(attempt.snapshot.top, attempt.openedAt)
  const lineages = await Promise.all(inTree.map(({ taskId }) => tasks.ancestors(taskId)))
  return new Map(
    inTree.map((other, index) => {
      const lineage = new Set<string>(lineages[index])
      const above = inTree.filter(({ taskId }) => lineage.has(taskId)).map(({ id }) => id)
      return [other.id, { ...other, above }]
    }),
  )
}

import { Failure } from '../../domain/failure.ts'
import type { LinkedTree } from '../../ports/linked-trees.ts'
import type { Context } from '../context.ts'

/** The top of the main work tree. Fails where there is no git to make others with. */
export async function mainTreeOf({ witness, folder }: Pick<Context, 'witness' | 'folder'>): Promise<string> {
  const { engine, mainTop, reason } = await witness.locate(folder)
  if (engine === 'git') return mainTop
  throw new Failure('UNAVAILABLE', `There are no work trees here. ${reason ?? ''}`.trim(), {
    hint: 'Work trees need a git repository.',
  })
}

export function treeShape({ path, branch, head, exists }: LinkedTree) {
  return { path, branch, head, exists }
}

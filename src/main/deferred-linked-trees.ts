import type { LinkedTrees } from '../ports/linked-trees.ts'

/** Work trees, loaded when one is asked for. */
export function deferredLinkedTrees(environment: NodeJS.ProcessEnv): LinkedTrees {
  const trees = async (): Promise<LinkedTrees> => {
    const { linkedTrees } = await import('../git/linked-trees.ts')
    return linkedTrees(environment)
  }
  return {
    bound: async (folder) => (await trees()).bound(folder),
    list: async (folder) => (await trees()).list(folder),
    add: async (tree) => (await trees()).add(tree),
    remove: async (folder, tree) => (await trees()).remove(folder, tree),
  }
}

/** A work tree of the repository besides its main one. */
export interface LinkedTree {
  /** Its top, absolute. */
  readonly path: string
  /** The branch that is checked out, `task-1`; null when it is on none. */
  readonly branch: string | null
  readonly head: string | null
  /** The task it was made for, null when Waymark did not make it. */
  readonly taskId: string | null
  /** Whether its folder is still there. */
  readonly exists: boolean
}

export interface TreeToAdd {
  /** Any folder of the repository. */
  readonly folder: string
  /** Where to make it, absolute. */
  readonly path: string
  readonly branch: string
  /** The commit to begin at, in git's words; the folder's own when left out. */
  readonly from?: string | undefined
  readonly taskId: string
}

export interface AddedTree extends LinkedTree {
  /** What was not done in it. */
  readonly notes: readonly string[]
}

/** Makes and removes work trees. The only port that writes to a user's repository, and it runs nothing of it. */
export interface LinkedTrees {
  /** The trees that were made for a task, cheaply: no git is run. */
  bound(folder: string): Promise<readonly { readonly path: string; readonly taskId: string }[]>
  list(folder: string): Promise<readonly LinkedTree[]>
  /** Fails with a sentence, and leaves nothing behind then. */
  add(tree: TreeToAdd): Promise<AddedTree>
  /** Refuses, naming it, where work would be lost: files that are not committed, commits that are on nothing else. */
  remove(folder: string, tree: LinkedTree): Promise<void>
}

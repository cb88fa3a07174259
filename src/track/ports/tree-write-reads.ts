import type { TreeWrite } from '../domain/tree-write.ts'

/** Files that commands of people wrote into work trees. */
export interface TreeWriteReads {
  byId(id: string): Promise<TreeWrite | null>
  /** Since a time, in one work tree if given; the newest first. */
  since(time: number, tree?: string): Promise<readonly TreeWrite[]>
}

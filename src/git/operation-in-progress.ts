import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegular } from '../files/regular-file.ts'
import type { OperationInProgress } from './state.ts'

const marks = [
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['BISECT_LOG', 'bisect'],
] as const

/** The merge, rebase or the like that was begun and not ended. */
export async function operationInProgress(gitFolder: string): Promise<OperationInProgress | null> {
  const found = await Promise.all(marks.map(([file]) => present(join(gitFolder, file))))
  // A rebase that stops at a conflict leaves CHERRY_PICK_HEAD as well; the rebase is what is in progress.
  const name = found[3] || found[4] ? 'rebase' : marks.find((_, at) => found[at])?.[1]
  if (name === undefined) return null
  return { name, commits: name === 'merge' ? await mergeHeads(gitFolder) : [] }
}

async function mergeHeads(gitFolder: string): Promise<string[]> {
  const text = await readRegular(join(gitFolder, 'MERGE_HEAD')).then(String, () => '')
  return text.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line))
}

async function present(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}

import { cpSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { projectRepository, temporaryFolder, WorkFolder } from '../support/git-repository.ts'
import { workAtRandom } from './random-work.ts'
import { Randomness } from './randomness.ts'
import { testWitness } from './watch.ts'

/** The tree that git writes of a copy of the files, in a repository that knows nothing else. */
function treeOfCopy(folder: string): string {
  const copy = new WorkFolder(join(temporaryFolder(), 'copy'))
  const filter = (path: string) => basename(path) !== '.git'
  cpSync(folder, copy.top, { recursive: true, verbatimSymlinks: true, filter })
  copy.git('init', '-q')
  copy.git('add', '-A')
  return copy.git('write-tree').trim()
}

test.each(Array.from({ length: amount({ test: 1, soak: 12 }) }, (_, at) => at + 1))(
  'the hash of a tree depends on its files alone, seed %i',
  async (seed) => {
    const random = new Randomness(seed)
    const repo = projectRepository()
    const witness = testWitness()
    for (let interval = 0; interval < 3; interval += 1) {
      workAtRandom(repo, random, 1 + random.below(12))
      expect(await witness.treeHash(repo.top), `stretch ${interval}`).toBe(treeOfCopy(repo.top))
    }
  },
)

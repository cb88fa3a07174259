import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { privateCall } from './private-directory.ts'
import { type Environment, git, runGit } from './run-git.ts'
import type { WorkTreeState } from './state.ts'

/**
 * Keeps the trees of a snapshot's HEADs in its private directory, so that the comparison survives a pruned or
 * deleted repository. Goes on after the answer; without it the comparison still works while the commit exists.
 */
export async function keepBaseline(state: WorkTreeState, environment: Environment): Promise<void> {
  for (const { directory, objects, head, tree } of state.repositories) {
    if (head === null) continue
    const place = {
      directory,
      top: state.top,
      index: join(directory, 'no-index'),
      objects: [objects],
      environment,
    }
    const listed = await runGit(
      ['rev-list', '--objects', '--filter=blob:none', '--no-object-names', tree],
      privateCall(place),
    )
    if (listed.code !== 0) continue
    await mkdir(join(directory, 'objects/pack'), { recursive: true, mode: 0o700 })
    const pack = join(directory, 'objects/pack/pack')
    await git(['pack-objects', '-q', '--window=0', pack], privateCall(place, listed.output)).catch(
      () => undefined,
    )
  }
}

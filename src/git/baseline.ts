import { contentsCall, missingObjects, writePack } from './kept-contents.ts'
import { type Environment, runGit } from './run-git.ts'
import type { WorkTreeState } from './state.ts'

/**
 * Keeps the trees of a snapshot's HEADs among the kept contents, so that the comparison survives a pruned or deleted
 * repository. Goes on after the answer; without it the comparison still works while the commit exists.
 */
export async function keepBaseline(state: WorkTreeState, environment: Environment): Promise<void> {
  for (const { directory, objects, head, tree, contents } of state.repositories) {
    if (head === null || contents === undefined) continue
    const around = { directory, environment }
    // A tree is kept with everything in it, or not at all.
    if ((await missingObjects(contents, [tree], around)).length === 0) continue
    const reading = { ...around, also: [objects] }
    const question = ['rev-list', '--objects', '--filter=blob:none', '--no-object-names', tree]
    const listed = await runGit(question, contentsCall(contents, reading))
    if (listed.code !== 0) continue
    const oids = listed.output.toString('latin1').split('\n').filter(Boolean)
    const missing = await missingObjects(contents, oids, around)
    await writePack(contents, missing, reading)
  }
}

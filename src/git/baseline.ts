import { contentsCall, missingObjects, packsIn, writePack } from './kept-contents.ts'
import { type Environment, runGit } from './run-git.ts'
import type { WorkTreeState } from './state.ts'

/**
 * Keeps the trees of a snapshot's HEADs among the kept contents, so that the comparison survives a pruned or deleted
 * repository. Goes on after the answer; without it the comparison still works while the commit exists.
 */
export async function keepBaseline(state: WorkTreeState, environment: Environment): Promise<void> {
  for (const { directory, objects, head, tree, contents } of state.repositories) {
    if (head === null || contents === undefined) continue
    if (await isHeld(contents, tree)) continue
    const before = await packsIn(contents)
    if (await keepTree(tree, contents, { directory, environment, objects })) {
      await noteHeld(contents, tree, before)
    }
  }
}

async function keepTree(
  tree: string,
  contents: string,
  {
    objects,
    ...around
  }: { readonly directory: string; readonly environment: Environment; readonly objects: string },
): Promise<boolean> {
  // A tree is kept with everything in it, or not at all.
  if ((await missingObjects(contents, [tree], around)).length === 0) return true
  const reading = { ...around, also: [objects] }
  const question = ['rev-list', '--objects', '--filter=blob:none', '--no-object-names', tree]
  const listed = await runGit(question, contentsCall(contents, reading))
  if (listed.code !== 0) return false
  const oids = listed.output.toString('latin1').split('\n').filter(Boolean)
  const missing = await missingObjects(contents, oids, around)
  await writePack(contents, missing, reading)
  return true
}

const mostHeld = 200

// The packs among which a tree was, by folder and tree. While all of them are there, it is.
const held = new Map<string, readonly string[]>()

async function isHeld(contents: string, tree: string): Promise<boolean> {
  const packs = held.get(`${contents} ${tree}`)
  if (packs === undefined) return false
  const present = new Set(await packsIn(contents))
  return packs.every((pack) => present.has(pack))
}

async function noteHeld(contents: string, tree: string, before: readonly string[]): Promise<void> {
  const packs = await packsIn(contents)
  // Contents were swept meanwhile.
  if (!before.every((pack) => packs.includes(pack))) return
  held.delete(`${contents} ${tree}`)
  held.set(`${contents} ${tree}`, packs)
  const [oldest] = held.keys()
  if (held.size > mostHeld && oldest !== undefined) held.delete(oldest)
}

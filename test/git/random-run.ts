import { expect } from 'vitest'
import type { SnapshotRef, WorkTreeWitness } from '../../src/git/ports/work-tree.ts'
import { projectRepository } from '../support/git-repository.ts'
import { readTree, reportedChanges, treeChanges } from './ground-truth.ts'
import { workAtRandom } from './random-work.ts'
import { Randomness } from './randomness.ts'
import { testWitness } from './watch.ts'

interface HookEvent {
  readonly ref: SnapshotRef
  readonly tree: ReadonlyMap<string, string>
}

/** Two stretches of random work, each measured and compared with what plain reading of the files says. */
export async function runAtRandom(seed: number): Promise<void> {
  const random = new Randomness(seed)
  const repo = projectRepository()
  const witness = testWitness()
  const hookEvent = async (name: string): Promise<HookEvent> => {
    const tree = readTree(repo.top)
    const { ref } = await witness.snapshot({ folder: repo.top, name })
    await witness.settle()
    return { ref, tree }
  }
  workAtRandom(repo, random, random.below(12))
  const first = await hookEvent('first')
  workAtRandom(repo, random, 1 + random.below(12))
  const second = await hookEvent('second')
  workAtRandom(repo, random, 1 + random.below(12))
  const third = await hookEvent('third')
  for (const [from, to] of [
    [first, second],
    [second, third],
    [first, third],
  ] as const) {
    await compare({ witness, from, to, seed })
  }
}

interface Comparison {
  readonly witness: WorkTreeWitness
  readonly from: HookEvent
  readonly to: HookEvent
  readonly seed: number
}

async function compare({ witness, from, to, seed }: Comparison): Promise<void> {
  const report = await witness.changes(from.ref, to.ref)
  const truth = treeChanges(from.tree, to.tree)
  const where = `seed ${seed}: ${report.doubts.join(' ')}`
  expect(report.status, where).not.toBe('unknown')
  expect(reportedChanges(report), where).toEqual(truth)
  const touched = await witness.touchedPaths(from.ref, to.ref)
  expect([...(touched ?? [])].sort(), where).toEqual(truth.map((change) => change.slice(2)).sort())
}

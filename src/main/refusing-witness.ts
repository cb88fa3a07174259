import type { Failure } from '../domain/failure.ts'
import type { WorkTreeWitness } from '../ports/work-tree.ts'

/** The witness where there is no project: it says so. */
export function refusingWitness(failure: Failure): WorkTreeWitness {
  const refuse = () => Promise.reject(failure)
  return {
    locate: refuse,
    others: refuse,
    snapshot: refuse,
    changes: refuse,
    touched: refuse,
    unifiedDiff: refuse,
    packages: refuse,
    treeHash: refuse,
    standing: refuse,
    settle: () => Promise.resolve(),
    sweep: () => Promise.resolve(0),
  }
}

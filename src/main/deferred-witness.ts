import type { WorkTreeWitness } from '../ports/work-tree.ts'

/** A witness that is loaded at the first question: a server that starts has more urgent things to load. */
export function deferredWitness(find: () => Promise<WorkTreeWitness>): WorkTreeWitness {
  let finding: Promise<WorkTreeWitness> | null = null
  const witness = (): Promise<WorkTreeWitness> => {
    finding ??= find()
    return finding
  }
  return {
    locate: async (folder) => (await witness()).locate(folder),
    others: async (folder) => (await witness()).others(folder),
    snapshot: async (request) => (await witness()).snapshot(request),
    changes: async (from, to) => (await witness()).changes(from, to),
    touched: async (from, to) => (await witness()).touched(from, to),
    unifiedDiff: async (from, to, paths) => (await witness()).unifiedDiff(from, to, paths),
    packages: async (place) => (await witness()).packages(place),
    treeHash: async (folder) => (await witness()).treeHash(folder),
    standing: async (folder) => (await witness()).standing(folder),
    settle: async () => {
      if (finding) await (await finding).settle()
    },
    sweep: async (keep) => (await witness()).sweep(keep),
  }
}

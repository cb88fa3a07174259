import type { PlanFiles } from '../ports/plan-files.ts'

/** The reader of plans, loaded when one is read. Relative paths are meant from where the caller stands. */
export function deferredPlanFiles(workingFolder: string): PlanFiles {
  return {
    load: async (path, format) => {
      const { planFiles } = await import('../imports/load-plan.ts')
      return planFiles(workingFolder).load(path, format)
    },
  }
}

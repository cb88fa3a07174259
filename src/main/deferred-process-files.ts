import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessFiles } from '../ports/process-files.ts'

/** The reader of processes, loaded when one is read. */
export function deferredProcessFiles(project: string, working: string): ProcessFiles {
  const reader = async (): Promise<ProcessFiles> => {
    const { processFiles } = await import('../definitions/process-files.ts')
    return processFiles({ project, working, shipped: shippedFolder() })
  }
  return {
    list: async () => (await reader()).list(),
    hasOwn: async () => (await reader()).hasOwn(),
    load: async (idOrFile) => (await reader()).load(idOrFile),
  }
}

/** The bundle lies one folder below the top of the package, this file two. */
function shippedFolder(): string {
  const bundled = join(import.meta.dirname, '..', 'processes')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, '..', '..', 'processes')
}

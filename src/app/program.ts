import waymark from '../../package.json' with { type: 'json' }
import type { Program } from '../kernel/operations/operation.ts'

export const version: string = waymark.version

/** `stateFolder` is called only if needed. */
export function runningProgram(stateFolder: () => string): Program {
  return {
    version,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    get stateFolder() {
      return stateFolder()
    },
  }
}

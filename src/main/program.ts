import waymark from '../../package.json' with { type: 'json' }
import type { Program } from '../operations/context.ts'

export const version: string = waymark.version

export function runningProgram(stateFolder: string): Program {
  return {
    version,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    stateFolder,
  }
}

import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { ChangeReport } from '../../src/track/domain/changes.ts'

/** Every file and link below a folder, with its type, mode and content, by plain reading. */
export function readTree(top: string): Map<string, string> {
  const found = new Map<string, string>()
  const walk = (folder: string): void => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name)
      const stat = lstatSync(path)
      if (name === '.git') continue
      if (stat.isDirectory()) walk(path)
      else found.set(relative(top, path), describe(path))
    }
  }
  walk(top)
  return found
}

function describe(path: string): string {
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`
  return `${stat.mode & 0o100 ? 'program' : 'file'} ${readFileSync(path, 'latin1')}`
}

/** What differs between two readings: `A path`, `M path`, `D path`. */
export function treeChanges(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const paths = new Set([...before.keys(), ...after.keys()])
  return [...paths]
    .flatMap((path) => {
      const [old, now] = [before.get(path), after.get(path)]
      if (old === now) return []
      return [`${old === undefined ? 'A' : now === undefined ? 'D' : 'M'} ${path}`]
    })
    .sort()
}

/** A report in the same terms: a rename is a file that went and one that came. */
export function reportedChanges(report: ChangeReport): string[] {
  const letters = { added: 'A', modified: 'M', deleted: 'D', renamed: 'A' }
  return report.changes
    .flatMap(({ change, path, from }) => {
      return [`${letters[change]} ${path}`, ...(from === undefined ? [] : [`D ${from}`])]
    })
    .sort()
}

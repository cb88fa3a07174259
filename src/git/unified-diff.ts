import type { Difference } from './comparison.ts'
import { compareSnapshots, comparisonPlace, type Span } from './differences.ts'
import { pathBytes } from './path-bytes.ts'
import { privateCall } from './private-directory.ts'
import { reconcileIgnored } from './reconciliation.ts'
import { changeDetails, writeChangeCommits } from './renames.ts'
import { type Environment, git } from './run-git.ts'

/** The unified diff between two snapshots, of some paths when given. Null when the contents are gone. */
export async function unifiedDiff(
  span: Span,
  environment: Environment,
  paths: readonly string[] | undefined,
): Promise<string | null> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const { differences } = reconcileIgnored(span, compared.values())
  const wanted = paths === undefined ? differences : await named(place, differences, paths)
  if (wanted.length === 0) return ''
  const commits = await writeChangeCommits(place, wanted)
  if (commits.without.size === wanted.length) return null
  const question = ['diff-tree', '-r', '-p', '-M50%', '--no-color', '--no-ext-diff', '--no-textconv']
  const output = await git([...question, commits.before, commits.after], privateCall(place))
  return output.toString('utf8')
}

/** The differences of some paths, with both ends of a rename where one of them is named. */
async function named(
  place: Parameters<typeof writeChangeCommits>[0],
  differences: readonly Difference[],
  paths: readonly string[],
): Promise<readonly Difference[]> {
  const names = new Set(paths.map(pathBytes))
  const chosen = differences.filter(({ path }) => names.has(path))
  const isWhole = chosen.every(({ before, after }) => before !== null && after !== null)
  if (chosen.length === 0 || isWhole) return chosen
  const details = await changeDetails(place, await writeChangeCommits(place, differences))
  for (const { path, from } of details) {
    if (from === undefined || !(names.has(path) || names.has(from))) continue
    names.add(path)
    names.add(from)
  }
  return differences.filter(({ path }) => names.has(path))
}

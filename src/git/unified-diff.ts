import { compareSnapshots, comparisonPlace, type Span } from './differences.ts'
import { pathBytes } from './path-bytes.ts'
import { privateCall } from './private-directory.ts'
import { reconcileIgnored } from './reconciliation.ts'
import { changeDetails, writeChangeCommits } from './renames.ts'
import { type Environment, git } from './run-git.ts'

/** The unified diff between two snapshots, of one path when given. Null when the contents are gone. */
export async function unifiedDiff(
  span: Span,
  environment: Environment,
  path: string | undefined,
): Promise<string | null> {
  const place = comparisonPlace(span, environment)
  const compared = await compareSnapshots(span, place)
  const { differences } = reconcileIgnored(span, compared.values())
  if (differences.length === 0) return ''
  const commits = await writeChangeCommits(place, differences)
  const wanted = path === undefined ? undefined : pathBytes(path)
  if (wanted === undefined ? commits.without.size === differences.length : commits.without.has(wanted))
    return null
  const details = wanted === undefined ? [] : await changeDetails(place, commits)
  const detail = details.find((candidate) => candidate.path === wanted || candidate.from === wanted)
  if (wanted !== undefined && detail === undefined) return ''
  const names = detail === undefined ? [] : [detail.from, detail.path].filter((name) => name !== undefined)
  const question = ['diff-tree', '-r', '-p', '-M50%', '--no-color', '--no-ext-diff', '--no-textconv']
  const output = await git(
    [
      ...question,
      commits.before,
      commits.after,
      '--',
      ...names.map((name) => Buffer.from(name, 'latin1').toString()),
    ],
    privateCall(place),
  )
  return output.toString('utf8')
}

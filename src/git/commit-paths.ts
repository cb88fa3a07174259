import { nulRecords, type PathBytes } from './path-bytes.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git, runGit } from './run-git.ts'

// Beyond this a branch is compared with the one before as a whole.
const mostCommits = 2_000

/** The commits that some of the positions reach and others do not. Null when there are too many to look at. */
export async function commitsBetween(
  place: PrivateDirectory,
  positions: readonly string[],
): Promise<string[] | null> {
  if (positions.length < 2) return []
  const bases = await runGit(['merge-base', '--octopus', '--all', ...positions], privateCall(place))
  // Exit code 1: unrelated histories.
  if (bases.code > 1) throw new Error(bases.complaint)
  const common = bases.output.toString('latin1').split('\n').filter(Boolean)
  const input = Buffer.from([...positions, ...common.map((base) => `^${base}`), ''].join('\n'))
  const limit = `--max-count=${mostCommits + 1}`
  const listed = await git(['rev-list', '--stdin', limit], privateCall(place, input))
  const commits = listed.toString('latin1').split('\n').filter(Boolean)
  return commits.length > mostCommits ? null : commits
}

/** Which of some commits cannot be reached from others: they came into being later. */
export async function unreachable(
  place: PrivateDirectory,
  commits: readonly string[],
  known: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set()
  const input = Buffer.from([...commits, ...known.map((tip) => `^${tip}`), ''].join('\n'))
  // A tip may be gone since, or be no commit.
  const listed = await git(['rev-list', '--stdin', '--ignore-missing'], privateCall(place, input))
  const later = new Set(listed.toString('latin1').split('\n'))
  return new Set(commits.filter((commit) => later.has(commit)))
}

/** The paths that commits change; of a merge, only what differs from all of its parents. */
export async function changedPaths(
  place: PrivateDirectory,
  commits: readonly (readonly string[])[],
): Promise<Set<PathBytes>> {
  if (commits.length === 0) return new Set()
  return new Set(nulRecords(await git([...namesOfCommits, '--no-commit-id'], given(place, commits))))
}

/** The same for each commit by itself. */
export async function pathsByCommit(
  place: PrivateDirectory,
  commits: readonly (readonly [string, ...string[]])[],
): Promise<ReadonlyMap<string, readonly PathBytes[]>> {
  const byCommit = new Map(commits.map(([commit]) => [commit, [] as PathBytes[]]))
  if (commits.length === 0) return byCommit
  let current: PathBytes[] | undefined
  for (const record of nulRecords(await git(namesOfCommits, given(place, commits)))) {
    const begun = byCommit.get(record)
    if (begun === undefined) current?.push(record)
    else current = begun
  }
  return byCommit
}

const namesOfCommits = ['diff-tree', '--stdin', '-r', '-c', '--root', '--no-renames', '--name-only', '-z']

function given(place: PrivateDirectory, commits: readonly (readonly string[])[]) {
  return privateCall(place, Buffer.from(commits.map((line) => `${line.join(' ')}\n`).join('')))
}

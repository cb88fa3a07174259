import { Failure } from '../kernel/failure.ts'
import { namesOfCommits } from './origin.ts'
import { displayPath, nulRecords } from './paths.ts'
import {
  type Branch,
  type BranchCommit,
  type BranchFile,
  type BranchRequest,
  maxBranchFiles,
  type NamedCommit,
} from './ports/branch.ts'
import { type GitEnvironment, type GitResult, git, runGit } from './process.ts'
import { locateFolder } from './repository.ts'
import { leavingNothingOut } from './trees.ts'

interface BranchReadOptions {
  readonly folder: string
  readonly environment: GitEnvironment
}

const maxCommits = 5_000

/** Reads the commits and changes between two commits. Fails with INVALID_INPUT and a hint if git cannot. */
export async function readBranch(
  { folder, base, head = 'HEAD' }: BranchRequest,
  environment: GitEnvironment,
): Promise<Branch> {
  const location = await locateFolder(folder, environment)
  if (location.engine !== 'git') {
    throw new Failure('INVALID_INPUT', `There are no commits in ${location.folder}: ${location.reason}`, {
      reason: 'no_commits',
    })
  }
  const reading = { folder: location.repository.top, environment }
  const isShallow = (await answerOf(['rev-parse', '--is-shallow-repository'], reading)) === 'true'
  const headCommit = await commitNamed(head, reading, isShallow)
  const baseCommit = await commitNamed(base, reading, isShallow)
  const parted = await answerOf(['merge-base', baseCommit, headCommit], reading)
  if (parted === '') throw noCommonCommitFailure(base, head, isShallow)
  const ids = await commitsBetween(parted, headCommit, reading)
  const commits = ids.slice(0, maxCommits)
  const paths = await pathsOf(commits, reading)
  const files = await filesBetween(parted, headCommit, reading)
  const [own, parting] = [await timeOf(headCommit, reading), await timeOf(parted, reading)]
  return {
    head: own,
    base: parting,
    commits: commits.map((commit) => ({ ...commit, paths: paths.get(commit.id) ?? [] })),
    files: files.slice(0, maxBranchFiles),
    isShallow,
    isCut: ids.length > commits.length || files.length > maxBranchFiles,
  }
}

function gitQuestion(
  args: readonly string[],
  { folder, environment }: BranchReadOptions,
  input?: Buffer,
): Promise<GitResult> {
  return runGit(args, { folder, environment, onlyReads: true, ...(input && { input }) })
}

/** The first line of git's output; empty if it fails. */
async function answerOf(args: readonly string[], reading: BranchReadOptions): Promise<string> {
  const { code, output } = await gitQuestion(args, reading)
  return code === 0 ? (output.toString('utf8').trim().split('\n')[0] ?? '') : ''
}

async function commitNamed(words: string, reading: BranchReadOptions, isShallow: boolean): Promise<string> {
  for (const name of [words, `refs/remotes/origin/${words}`]) {
    const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${name}^{commit}`]
    const oid = await answerOf(question, reading)
    if (/^[0-9a-f]{40,64}$/.test(oid)) return oid
  }
  throw new Failure('INVALID_INPUT', `There is no commit "${words}" in ${reading.folder}.`, {
    reason: 'commit_not_found',
    hint: isShallow
      ? `This clone is shallow, so older commits and other branches are not in it. ${deepen}`
      : 'Use a commit, a branch or a tag, and fetch it first if it is missing.',
  })
}

const deepen =
  'Fetch them: fetch-depth: 0 at actions/checkout, GIT_DEPTH: 0 in GitLab CI, git fetch --unshallow elsewhere.'

function noCommonCommitFailure(base: string, head: string, isShallow: boolean): Failure {
  return new Failure('INVALID_INPUT', `${base} and ${head} have no commit in common.`, {
    reason: 'no_common_commit',
    hint: isShallow
      ? `This clone is shallow, so the commit may be missing. ${deepen}`
      : 'Use the branch to merge into.',
  })
}

async function timeOf(id: string, reading: BranchReadOptions): Promise<NamedCommit> {
  const [commit] = await commitsIn(['--no-walk', id], reading)
  return { id, committedAt: commit?.committedAt ?? 0 }
}

function commitsBetween(base: string, head: string, reading: BranchReadOptions) {
  return commitsIn([`--max-count=${maxCommits + 1}`, head, `^${base}`], reading)
}

// rev-list, and not log: a repository can configure that log runs a program.
async function commitsIn(
  words: readonly string[],
  reading: BranchReadOptions,
): Promise<readonly Omit<BranchCommit, 'paths'>[]> {
  const format = '--format=%H%x00%P%x00%ct%x00%an%x00%ae%x00%s%x00'
  const { code, output, stderr } = await gitQuestion(['rev-list', format, ...words], reading)
  if (code !== 0) {
    throw new Failure('UNAVAILABLE', `git could not list the commits: ${stderr.trim().split('\n')[0]}`, {
      reason: 'git_failed',
    })
  }
  const fields = output.toString('utf8').split('\0')
  const commits: Omit<BranchCommit, 'paths'>[] = []
  for (let at = 0; at + 6 < fields.length; at += 6) {
    const [first = '', parents = '', time = '', author = '', email = '', subject = ''] = fields.slice(
      at,
      at + 6,
    )
    const id = first.trim().split('\n').at(-1) ?? ''
    commits.push({
      id,
      committedAt: Number(time) * 1000,
      author,
      email,
      subject,
      isMerge: parents.includes(' '),
    })
  }
  return commits
}

async function pathsOf(
  commits: readonly { readonly id: string }[],
  reading: BranchReadOptions,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const paths = new Map<string, string[]>()
  if (commits.length === 0) return paths
  const input = Buffer.from(commits.map(({ id }) => `${id}\n`).join(''), 'latin1')
  const { code, output } = await gitQuestion(namesOfCommits, reading, input)
  if (code !== 0) return paths
  const ids = new Set(commits.map(({ id }) => id))
  let current: string[] = []
  for (const record of nulRecords(output)) {
    const text = displayPath(record)
    // A file cannot have the id of its own commit as its path.
    if (ids.has(text) && !paths.has(text)) {
      current = []
      paths.set(text, current)
    } else current.push(text)
  }
  return paths
}

const kinds: Readonly<Record<string, BranchFile['change']>> = {
  A: 'added',
  C: 'added',
  D: 'deleted',
  R: 'renamed',
}

async function filesBetween(
  base: string,
  head: string,
  reading: BranchReadOptions,
): Promise<readonly BranchFile[]> {
  const question = (renames: string) => {
    return ['diff-tree', '-r', '-z', '--raw', '--no-abbrev', ...leavingNothingOut, renames, base, head]
  }
  let answer = await gitQuestion(question('-M50%'), reading)
  // Finding renames needs contents, which a partial clone does not have.
  if (answer.code !== 0) answer = { ...answer, code: 0, output: await git(question('--no-renames'), reading) }
  const records = [...nulRecords(answer.output)].map(displayPath)
  const files: BranchFile[] = []
  for (let at = 0; at < records.length; ) {
    const [, , before = '', after = '', status = ''] = (records[at] ?? '').split(' ')
    const change = kinds[status[0] ?? ''] ?? 'modified'
    const path = records[at + 1] ?? ''
    const isRename = /^[RC]/.test(status)
    files.push({
      path: isRename ? (records[at + 2] ?? '') : path,
      ...(change === 'renamed' && { from: path }),
      change,
      before: idOrNull(before),
      after: idOrNull(after),
    })
    at += isRename ? 3 : 2
  }
  return files
}

function idOrNull(id: string): string | null {
  return /^0*$/.test(id) ? null : id
}

import { lstat, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { callTo, Failure, hintOf } from '../kernel/failure.ts'
import { isWithin } from '../kernel/files/contained-file.ts'
import { quoteShellWord } from '../kernel/shell-word.ts'
import {
  lossWords,
  namesInWords,
  type TreeLosses,
  type TreeLossSummary,
} from '../track/domain/tree-losses.ts'
import { gitFolderOf, readGitText } from './other-work-trees.ts'
import { displayPath, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import type { LinkedTree, LinkedTrees, NewWorkTree, NewWorkTreeRequest } from './ports/work-tree.ts'
import { type GitEnvironment, type GitResult, gitEnvironment, runGit } from './process.ts'

/** The file with the task that a tree was made for. It is in git's folder of the tree, so it is removed with it. */
const marker = 'waymark-task'

/** Writing a large work tree takes long. In milliseconds. */
const checkoutLimit = 15 * 60_000

/** Adds and removes work trees of a repository with git, running nothing that the repository configures. */
export function linkedTrees(inherited: NodeJS.ProcessEnv): LinkedTrees {
  const environment = gitEnvironment(inherited)
  const list = (folder: string) => listTrees(folder, environment)
  return {
    bound: boundTrees,
    list: async (folder) => (await list(folder)).slice(1),
    add: async (tree) => addTree(tree, { environment, others: await list(tree.folder) }),
    losses: async (folder, tree) => lossesOf(tree, await quietCall(tree, { folder, environment })),
    remove: async (folder, tree) => {
      const removing = { folder, environment, all: await list(folder) }
      refuseLosses(tree, await lossesOf(tree, await quietCall(tree, removing)))
      await removeTree(tree, removing, [])
    },
    discard: async (folder, tree) => {
      const removing = { folder, environment, all: await list(folder) }
      const lost = await lossesOf(tree, await quietCall(tree, removing))
      // The first --force is for uncommitted files, the second for a locked tree.
      await removeTree(tree, removing, ['--force', '--force'])
      return lost
    },
  }
}

async function boundTrees(folder: string): Promise<readonly { path: string; taskId: string }[]> {
  const own = await enclosingGitFolder(folder)
  if (own === null) return []
  const common = resolve(own, (await readGitText(join(own, 'commondir'))) ?? '.')
  const names = await readdir(join(common, 'worktrees')).catch(() => [])
  const trees = await Promise.all(
    names.map(async (name) => {
      const gitFolder = join(common, 'worktrees', name)
      const [taskId, pointer] = [
        await readGitText(join(gitFolder, marker)),
        await readGitText(join(gitFolder, 'gitdir')),
      ]
      if (taskId === null || pointer === null) return []
      const path = dirname(resolve(gitFolder, pointer))
      return (await gitFolderOf(path)) === gitFolder ? [{ path, taskId }] : []
    }),
  )
  return trees.flat()
}

async function enclosingGitFolder(folder: string): Promise<string | null> {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const gitFolder = await gitFolderOf(at)
    if (gitFolder !== null) return gitFolder
    if (at === dirname(at)) return null
  }
}

/** The main work tree first. */
export async function listTrees(folder: string, environment: GitEnvironment): Promise<readonly LinkedTree[]> {
  const { code, output, stderr } = await runGit(['worktree', 'list', '--porcelain', '-z'], {
    folder,
    environment,
    onlyReads: true,
  })
  if (code !== 0)
    throw new Failure('UNAVAILABLE', `The work trees of ${folder} cannot be listed: ${firstLine(stderr)}`, {
      reason: 'git_failed',
    })
  const bound = new Map((await boundTrees(folder)).map(({ path, taskId }) => [path, taskId]))
  const trees: LinkedTree[] = []
  let entry = new Map<string, string>()
  for (const line of [...nulRecords(output).map(displayPath), '']) {
    if (line !== '') {
      const [word = '', ...rest] = line.split(' ')
      entry.set(word, rest.join(' '))
      continue
    }
    const path = entry.get('worktree')
    if (path !== undefined) {
      trees.push({
        path,
        branch: entry.get('branch')?.replace(/^refs\/heads\//, '') ?? null,
        head: entry.get('HEAD') ?? null,
        taskId: bound.get(path) ?? null,
        exists: (await gitFolderOf(path)) !== null,
      })
    }
    entry = new Map()
  }
  return trees
}

interface WorkTreeAddContext {
  readonly environment: GitEnvironment
  /** The existing work trees. */
  readonly others: readonly LinkedTree[]
}

async function addTree(
  tree: NewWorkTreeRequest,
  { environment, others }: WorkTreeAddContext,
): Promise<NewWorkTree> {
  const { folder, path, branch, taskId } = tree
  const call = { folder, environment }
  await refusePlace(path, others)
  await refuseSuperproject(path, call)
  await refuseBranchName(branch, call)
  const head = await commitOf(tree.from, call)
  // Creates the branch only if it does not exist.
  const made = await runGit(['update-ref', `refs/heads/${branch}`, head, '0'.repeat(head.length)], call)
  if (made.code !== 0) throw await branchFailure(branch, made, call)
  const undo = async () => {
    await runGit(['worktree', 'remove', '--force', path], call)
    await runGit(['update-ref', '-d', `refs/heads/${branch}`, head], call)
  }
  try {
    const added = await runGit(['worktree', 'add', '--no-checkout', path, branch], call)
    if (added.code !== 0) throw creationFailure(path, added)
    const gitFolder = await gitFolderOf(path)
    if (gitFolder === null) throw creationFailure(path, added)
    // Configuration can be conditional on a folder or a branch, so filters are looked up inside the tree.
    const filters = await withoutFilters({ folder: path, environment })
    const filled = await runGit(['reset', '--hard', '--no-recurse-submodules', '--quiet'], {
      folder: path,
      environment: filters.environment,
      limit: checkoutLimit,
    })
    if (filled.code !== 0) throw creationFailure(path, filled)
    await writeFile(join(gitFolder, marker), `${taskId}\n`)
    const submodules = await submodulesIn(path, filters)
    const notes = submodules.length === 0 ? [] : [emptySubmodules(submodules)]
    return { path, branch, head, taskId, exists: true, notes: [...filters.notes, ...notes] }
  } catch (error) {
    await undo()
    throw error
  }
}

function emptySubmodules(paths: readonly PathBytes[]): string {
  const named = namesInWords(lossOf(paths))
  return `Submodules are empty there (${named}). Fill them in that tree with: git submodule update --init`
}

async function refusePlace(path: string, others: readonly LinkedTree[]): Promise<void> {
  // git stores the path in a file of lines.
  if (/\p{Cc}/u.test(path)) {
    throw new Failure(
      'INVALID_INPUT',
      `Cannot create a work tree at ${JSON.stringify(path)}: the path has control characters.`,
      { reason: 'path_invalid' },
    )
  }
  const around = others.find((other) => isWithin(other.path, path))
  if (around) {
    throw new Failure(
      'INVALID_INPUT',
      `Cannot create a work tree at ${path}: it is inside the work tree ${around.path}.`,
      { reason: 'path_inside_work_tree', hint: 'Choose a folder beside the repository with --folder.' },
    )
  }
  const stats = await lstat(path).catch(() => null)
  if (stats) {
    throw new Failure('CONFLICT', `${path} already exists.`, {
      reason: 'path_exists',
      hint: 'Choose another folder with --folder.',
    })
  }
}

/** Refuses a submodule's tree inside the superproject, where it would count as the superproject's own files. */
async function refuseSuperproject(path: string, call: GitRunOptions): Promise<void> {
  let outer = ''
  for (let folder = call.folder; ; folder = outer) {
    const question = ['rev-parse', '--show-superproject-working-tree']
    const answer = await runGit(question, { ...call, folder, onlyReads: true })
    const above = answer.code === 0 ? answer.output.toString('utf8').replace(/\n$/, '') : ''
    if (above === '' || above === outer) break
    outer = above
  }
  if (outer === '' || !isWithin(outer, path)) return
  throw new Failure(
    'INVALID_INPUT',
    `Cannot create a work tree at ${path}: it is inside ${outer}, which contains this submodule.`,
    {
      reason: 'path_inside_work_tree',
      hint: `Choose a folder beside it: --folder ${quoteShellWord(`${outer}-${basename(path)}`)}`,
    },
  )
}

type GitRunOptions = Parameters<typeof runGit>[1]

async function refuseBranchName(branch: string, call: GitRunOptions): Promise<void> {
  const checked = await runGit(['check-ref-format', `refs/heads/${branch}`], call)
  // Refuse names that look like options or that git resolves differently.
  if (checked.code === 0 && !/^[-@]|@\{/.test(branch) && branch !== 'HEAD') return
  throw new Failure('INVALID_INPUT', `"${branch}" is not a valid branch name.`, {
    reason: 'branch_name_invalid',
    hint: 'Choose another with --branch, such as fix/login.',
  })
}

async function commitOf(from: string | undefined, call: GitRunOptions): Promise<string> {
  const named = `${from ?? 'HEAD'}^{commit}`
  const answer = await runGit(['rev-parse', '--verify', '--quiet', '--end-of-options', named], call)
  const commit = answer.output.toString('utf8').trim()
  if (answer.code === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return commit
  if (from === undefined) {
    throw new Failure('UNAVAILABLE', 'The repository has no commit yet, and a work tree needs one.', {
      reason: 'no_commits',
      hint: 'Commit something first.',
    })
  }
  throw new Failure('NOT_FOUND', `There is no commit "${from}" in the repository.`, {
    reason: 'commit_not_found',
    hint: 'Use a branch, a tag or a commit with --from, or omit it.',
  })
}

async function branchFailure(branch: string, made: GitResult, call: GitRunOptions): Promise<Failure> {
  const existing = await runGit(['show-ref', '--verify', '--quiet', `refs/heads/${branch}`], call)
  if (existing.code === 0) {
    return new Failure('CONFLICT', `Branch ${branch} already exists.`, {
      reason: 'branch_exists',
      hint: hintOf`Choose another with --branch, or create the tree with git worktree add and pass it to ${callTo('start_task', { work_tree: undefined })}.`,
    })
  }
  return new Failure('REFUSED', `Cannot create branch ${branch}: ${firstLine(made.stderr)}`, {
    reason: 'git_failed',
    hint: 'Choose another with --branch.',
  })
}

function creationFailure(path: string, added: GitResult): Failure {
  return new Failure('REFUSED', `Cannot create the work tree ${path}: ${firstLine(added.stderr)}`, {
    reason: 'git_failed',
    hint: 'Nothing of it is left. Choose another folder with --folder, or ask a person.',
  })
}

/**
 * An environment in which no configured filter runs. Not set by `-c`: an equals sign in a filter's name would name
 * another filter.
 */
async function withoutFilters(
  call: GitRunOptions,
): Promise<{ environment: GitEnvironment; notes: readonly string[] }> {
  const question = [
    'config',
    '-z',
    '--name-only',
    '--get-regexp',
    String.raw`^filter\..*\.(smudge|process|clean|required)$`,
  ]
  const keys = [...new Set(nulRecords((await runGit(question, call)).output))].filter((key) => key !== '')
  const settings = [
    ...keys.map((key) => [key, key.endsWith('.required') ? 'false' : '']),
    ['submodule.recurse', 'false'],
  ]
  const environment = {
    ...call.environment,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key = '', value = ''], at) => [
        [`GIT_CONFIG_KEY_${at}`, key],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  }
  const names = [...new Set(keys.map((key) => key.replace(/^filter\./, '').replace(/\.[^.]*$/, '')))]
  const notes =
    names.length === 0
      ? []
      : [
          `Filters were not run (${names.slice(0, 5).join(', ')}): their files are as git stores them. For Git LFS, run git lfs checkout in that tree.`,
        ]
  return { environment, notes }
}

interface WorkTreeRemoveContext {
  readonly folder: string
  readonly environment: GitEnvironment
  readonly all: readonly LinkedTree[]
}

/** A call that runs nothing of the configuration that applies in the tree. */
async function quietCall(
  { path, exists }: Pick<LinkedTree, 'path' | 'exists'>,
  { folder, environment }: Pick<WorkTreeRemoveContext, 'folder' | 'environment'>,
): Promise<GitRunOptions> {
  const filters = await withoutFilters({ folder: exists ? path : folder, environment })
  return { folder, environment: filters.environment }
}

function refuseLosses({ path, branch }: LinkedTree, losses: TreeLosses): void {
  const words = lossWords(losses)
  if (words.length === 0) return
  throw new Failure('REFUSED', `Cannot remove ${path}: work would be lost: ${words.join('; ')}.`, {
    reason: 'work_would_be_lost',
    details: { lost: losses },
    hint:
      words.length === 1 && losses.submodules.total !== 0
        ? 'Push their commits. git removes such a tree only by force: a person runs the command with --force.'
        : `Commit it there and merge ${branch ?? 'its commits'}, then call again. To discard it, a person runs the command with --force.`,
  })
}

async function removeTree(
  tree: LinkedTree,
  { folder, environment, all }: WorkTreeRemoveContext,
  force: readonly string[],
): Promise<void> {
  const { path, branch } = tree
  const call = await quietCall(tree, { folder, environment })
  const tip = branch === null ? null : await commitOf(`refs/heads/${branch}`, call)
  const gone = await runGit(['worktree', 'remove', ...force, path], { ...call, limit: checkoutLimit })
  if (gone.code !== 0) {
    throw new Failure('REFUSED', `Cannot remove ${path}: ${firstLine(gone.stderr)}`, {
      reason: 'git_failed',
      hint: 'Check it with git worktree list.',
    })
  }
  const isElsewhere = all.some((other) => other.path !== path && other.branch === branch)
  if (branch !== null && tip !== null && !isElsewhere) {
    // Delete the branch only if it did not move meanwhile.
    await runGit(['update-ref', '-d', `refs/heads/${branch}`, tip], call)
  }
}

const maxNamed = 5

async function lossesOf(tree: LinkedTree, call: GitRunOptions): Promise<TreeLosses> {
  const { path, exists } = tree
  const nothing: TreeLossSummary = { total: 0, first: [] }
  return {
    uncommitted: exists ? await uncommittedLoss(path, call) : nothing,
    unmerged: await unmergedLoss(tree, call),
    submodules: exists ? await filledSubmodules(path, call) : nothing,
  }
}

/** The uncommitted files of a work tree. Runs nothing that its configuration names. */
export async function uncommittedLossOf(path: string, environment: GitEnvironment): Promise<TreeLossSummary> {
  return uncommittedLoss(path, await quietCall({ path, exists: true }, { folder: path, environment }))
}

/** Their paths; null if git cannot list them. */
export async function uncommittedPaths(
  path: string,
  environment: GitEnvironment,
): Promise<readonly PathBytes[] | null> {
  const call = await quietCall({ path, exists: true }, { folder: path, environment })
  const paths = await listUncommitted(path, call)
  return typeof paths === 'string' ? null : paths
}

async function uncommittedLoss(path: string, call: GitRunOptions): Promise<TreeLossSummary> {
  const paths = await listUncommitted(path, call)
  return typeof paths === 'string' ? unknownLoss(paths) : lossOf(paths)
}

/** The paths, or why git cannot list them. */
async function listUncommitted(
  path: string,
  { environment }: GitRunOptions,
): Promise<readonly PathBytes[] | string> {
  const question = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames']
  // A changed submodule commit counts, whatever is configured. No git runs inside it.
  const status = await runGit([...question, '--ignore-submodules=dirty'], { folder: path, environment })
  if (status.code !== 0) return firstLine(status.stderr)
  return nulRecords(status.output).flatMap((record) => (record === '' ? [] : [record.slice(3)]))
}

/** Commits that are reachable only from this tree and its branch. */
async function unmergedLoss({ branch, head }: LinkedTree, call: GitRunOptions): Promise<TreeLossSummary> {
  const tips = [
    ...(head === null || /^0+$/.test(head) ? [] : [head]),
    ...(branch === null ? [] : [`refs/heads/${branch}`]),
  ]
  if (tips.length === 0) return lossOf([])
  // Without refs/heads, as it applies to --branches. A branch name cannot be a pattern.
  const own = branch === null ? [] : [`--exclude=${branch}`]
  const rest = [...own, '--branches', '--tags', '--remotes']
  // rev-list, and not log: a repository can configure that log runs a program.
  const listed = await runGit(['rev-list', '--format=%h "%s"%x00', ...tips, '--not', ...rest, '--'], call)
  if (listed.code !== 0) return unknownLoss(firstLine(listed.stderr))
  // A line with the full id precedes each.
  return lossOf(nulRecords(listed.output).flatMap((record) => record.trim().split('\n').slice(1)))
}

/** Submodules that were initialized in the tree: git keeps their repositories in its folder of the tree. */
async function filledSubmodules(path: string, call: GitRunOptions): Promise<TreeLossSummary> {
  const gitFolder = await gitFolderOf(path)
  const kept = gitFolder === null ? [] : await readdir(join(gitFolder, 'modules')).catch(() => [])
  if (kept.length === 0) return lossOf([])
  const names = await submodulesIn(path, call)
  return lossOf(names.length > 0 ? names : kept.map(pathBytes))
}

/** The paths of submodules in a tree. */
async function submodulesIn(
  path: string,
  { environment }: Pick<GitRunOptions, 'environment'>,
): Promise<readonly PathBytes[]> {
  const listed = await runGit(['ls-files', '-z', '--stage'], { folder: path, environment })
  return nulRecords(listed.output).flatMap((record) =>
    record.startsWith('160000 ') ? [record.slice(record.indexOf('\t') + 1)] : [],
  )
}

/** The names are bytes, as git writes them. */
function lossOf(names: readonly PathBytes[]): TreeLossSummary {
  return { total: names.length, first: names.slice(0, maxNamed).map(displayPath) }
}

function unknownLoss(why: string): TreeLossSummary {
  return { total: null, first: [why] }
}

function firstLine(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('Preparing worktree'))
  return (lines[0] ?? 'git printed nothing').replace(/^fatal: /, '').slice(0, 300)
}

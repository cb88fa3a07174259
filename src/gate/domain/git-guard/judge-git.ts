import { quoteShellWord } from '../../../kernel/shell-word.ts'
import { formatCount, joinNames } from '../../../kernel/text.ts'
import type { HookDecision } from '../hook/tool-use.ts'
import type { GitCommand } from './git-commands.ts'
import type { GitEffect } from './git-effects.ts'
import { type PathspecPlace, pathspecMatcher } from './pathspecs.ts'

/** An uncommitted file that git does not ignore. */
export interface GuardFile {
  /** From the work tree's top. */
  readonly path: string
  readonly tracked: boolean
  /** The index holds a change of it. */
  readonly staged: boolean
  /** The other agents that changed it. */
  readonly others: readonly string[]
}

/** The work tree of a command. */
export interface GuardTree {
  readonly place: PathspecPlace
  /** Null if they could not be read. */
  readonly files: readonly GuardFile[] | null
  /** The other agents at work in it. */
  readonly agentsHere: readonly string[]
  /** The other agents at work in any work tree of the repository. */
  readonly agents: readonly string[]
  /** Whether a file or folder has this name, from the command's folder. */
  readonly exists: (path: string) => boolean
}

/** A command that concerns the work of others. */
export interface GuardFinding {
  readonly reason: string
  readonly files: readonly string[]
  readonly agents: readonly string[]
}

const maxNamed = 8
const maxInCommand = 50

/** What a command would do to the work of others; null if it concerns none of it. */
export function judgeGitCommand(
  { name, effect, isUncertain }: GitCommand,
  tree: GuardTree,
): GuardFinding | null {
  if (isUncertain) return null
  if (effect.kind === 'stash') {
    return findingOfAgents(
      tree,
      `\`${name}\` works on the stash, which all work trees of the repository share`,
    )
  }
  if (effect.kind === 'refs') {
    return findingOfAgents(tree, `\`${name}\` can remove commits that others need`)
  }
  if (tree.files === null) {
    if (tree.agentsHere.length === 0) return null
    const reason = `\`${name}\` may change uncommitted files of ${joinNames(tree.agentsHere)}, which could not be read in time.`
    return { reason, files: [], agents: tree.agentsHere }
  }
  const concerned = concernedFiles(effect, tree, tree.files)
  const files = concerned.filter(({ others }) => others.length > 0)
  if (files.length === 0) return null
  const own = concerned.filter(({ others }) => others.length === 0)
  const agents = [...new Set(files.flatMap(({ others }) => others))]
  const paths = files.map(({ path }) => path)
  const reason = `${whatHappens(name, effect, { agents, files: paths, all: concerned.length })} ${ownWay(effect, tree, own)}`
  return { reason, files: paths, agents }
}

function findingOfAgents({ agents }: GuardTree, says: string): GuardFinding | null {
  if (agents.length === 0) return null
  const reason = `${says}. At work in this repository: ${joinNames(agents)}. Ask them, or work on a branch of your own.`
  return { reason, files: [], agents }
}

/** The files that a command changes, of anybody. */
function concernedFiles(
  effect: Exclude<GitEffect, { kind: 'stash' | 'refs' }>,
  { place, exists }: GuardTree,
  files: readonly GuardFile[],
): readonly GuardFile[] {
  if (effect.kind === 'remove_tree') return files
  if (effect.kind === 'switch') {
    const { target } = effect
    const named = target === null ? null : pathspecMatcher([target], place)
    const isFile = named !== null && (exists(target ?? '') || files.some(({ path }) => named(path)))
    return files.filter(({ path, tracked }) => tracked && (!isFile || named(path)))
  }
  const matches = pathspecMatcher(effect.paths, place)
  return files.filter((file) => {
    if (!matches(file.path)) return false
    if (effect.which === 'staged') return file.staged
    if (effect.which === 'ignored') return false
    if (effect.which === 'any') return true
    return file.tracked !== (effect.which === 'untracked')
  })
}

function whatHappens(
  name: string,
  { kind }: GitEffect,
  {
    agents,
    files,
    all,
  }: { readonly agents: readonly string[]; readonly files: readonly string[]; readonly all: number },
): string {
  const whose = joinNames(agents)
  const more = files.length > maxNamed ? ` and ${files.length - maxNamed} more` : ''
  const list = files.slice(0, maxNamed).join(', ') + more
  if (kind === 'stage' || kind === 'commit') {
    const count =
      files.length === all
        ? all === 1
          ? 'This file is'
          : `These ${all} files are`
        : `${files.length} of these ${all} files are`
    return `\`${name}\` includes work of others. ${count} of ${whose}: ${list}.`
  }
  const does = kind === 'switch' ? 'carries to another branch' : 'overwrites or removes'
  return `\`${name}\` ${does} ${formatCount(files.length, 'uncommitted file')} of ${whose}: ${list}.`
}

/** The command that concerns only the caller's own files. */
function ownWay(effect: GitEffect, { place }: GuardTree, own: readonly GuardFile[]): string {
  if (effect.kind === 'switch') return 'Use a work tree of your own: git worktree add.'
  if (effect.kind === 'remove_tree') return 'Leave the work tree to them.'
  if (own.length === 0) return 'None of its files is yours.'
  if (own.length > maxInCommand) return 'Name your own files instead.'
  const paths = own.map(({ path }) => quoteShellWord(place.prefix === '' ? path : `:/${path}`)).join(' ')
  return `Only your own: ${ownCommand(effect, own)} -- ${paths}`
}

function ownCommand(effect: GitEffect, own: readonly GuardFile[]): string {
  if (effect.kind === 'stage') return 'git add'
  if (effect.kind === 'commit') return 'git commit'
  const isUntracked = own.every(({ tracked }) => !tracked)
  return isUntracked ? 'git clean -f' : 'git stash push -u'
}

/** The decision about a whole line, for a client in which a person can be asked or not. */
export function decideGuard(
  findings: readonly GuardFinding[],
  {
    mode,
    canAsk,
    missing,
  }: { readonly mode: string; readonly canAsk: boolean; readonly missing: string | null },
): HookDecision | null {
  if (findings.length === 0 || mode === 'snapshot') return null
  const kept =
    missing === null
      ? 'A snapshot of the work tree is kept for 30 days.'
      : `No snapshot could be taken: ${missing} What is lost cannot be restored.`
  const reason = [...new Set(findings.map(({ reason }) => reason)), kept].join(' ')
  return { decision: mode === 'deny' || !canAsk ? 'deny' : 'ask', reason }
}

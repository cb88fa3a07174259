import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { RepositoryPair } from './comparison.ts'
import { parseReflog, type ReflogEntry, reflogBetween } from './git-folder.ts'
import { otherWorkTrees, readGitText } from './other-work-trees.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { git } from './process.ts'

const ownVerbs = ['commit', 'cherry-pick', 'revert', 'am']

/** Whether an entry of the reflog is the task's own work, or git moving HEAD. */
export function isOwnReflogEntry({ verb, detail, existed }: ReflogEntry): boolean {
  if (existed === 'before') return false
  if (detail === 'continue' && (verb === 'rebase' || verb === 'pull')) return true
  return ownVerbs.includes(verb)
}

/** Whether git copied an earlier commit onto a new base. */
export function isReplay({ verb, detail, from, to, existed }: ReflogEntry): boolean {
  if (existed === 'before') return false
  const rebasing = verb === 'rebase' || verb === 'pull'
  return rebasing && from !== to && ['pick', 'squash', 'fixup', 'reword', 'edit'].includes(detail)
}

/**
 * The moves of HEAD between two snapshots; null if unknown. A copy of a commit with the same parent, identity and
 * second is that commit again: its entry tells whether it existed before.
 */
export async function headEntries(
  place: PrivateDirectory,
  pair: RepositoryPair,
): Promise<readonly ReflogEntry[] | null> {
  const { from, to } = pair
  const entries = reflogBetween(to.reflog, from.reflogPosition, to.reflogPosition)
  const copies = firstMade(entries ?? []).filter(isCopy)
  if (entries === null || copies.length === 0) return entries
  const existed = await existingCommits(place, pair, copies)
  return entries.map((entry) => {
    const known = isOwnReflogEntry(entry) || isReplay(entry) ? existed.get(entry.to) : undefined
    return known === undefined ? entry : { ...entry, existed: known }
  })
}

/** Of each commit that was made, the first entry. */
function firstMade(entries: readonly ReflogEntry[]): readonly ReflogEntry[] {
  const made = entries.filter(
    (entry) => entry.from !== entry.to && (isOwnReflogEntry(entry) || isReplay(entry)),
  )
  return [...new Map(made.toReversed().map((entry) => [entry.to, entry])).values()]
}

function isCopy(entry: ReflogEntry): boolean {
  return isReplay(entry) || ['cherry-pick', 'revert', 'am'].includes(entry.verb)
}

type Existed = NonNullable<ReflogEntry['existed']>

async function existingCommits(
  place: PrivateDirectory,
  { from, to }: RepositoryPair,
  copies: readonly ReflogEntry[],
): Promise<ReadonlyMap<string, Existed>> {
  const known = from.refs?.all ?? []
  const made = copies.map((copy) => copy.to)
  const newer = await unreachableCommits(place, made, known)
  const existed = new Map<string, Existed>(
    made.filter((commit) => !newer.has(commit)).map((commit) => [commit, 'before']),
  )
  // The times are accurate to the second.
  const note = (copy: ReflogEntry, at: number) => {
    if (at < copy.movedAt) existed.set(copy.to, 'before')
    else if (at === copy.movedAt && !existed.has(copy.to)) existed.set(copy.to, 'perhaps')
  }
  for (const entry of await entriesOfOtherTrees(place.top)) {
    if (!isOwnReflogEntry(entry) && !isReplay(entry)) continue
    for (const copy of copies) {
      if (copy.to !== entry.to) continue
      // What was written there was copied here, even within the second.
      if (entry.verb === 'commit' && entry.movedAt <= copy.movedAt) existed.set(copy.to, 'before')
      else note(copy, entry.movedAt)
    }
  }
  const isNew = (tip: string) => !known.includes(tip)
  if (!to.refs?.remote.some(isNew)) return existed
  const common = resolve(to.gitFolder, (await readGitText(join(to.gitFolder, 'commondir'))) ?? '.')
  const fetched = (await fetchedTips(common)).filter(({ tip }) => isNew(tip))
  for (const { tip, at, pushed } of fetched.slice(-maxFetched)) {
    const open = copies.filter((copy) => at <= copy.movedAt && existed.get(copy.to) !== 'before')
    const commits = open.map((copy) => copy.to)
    const others = await unreachableCommits(place, commits, [tip])
    for (const copy of open) if (!others.has(copy.to) && !pushed.has(copy.to)) note(copy, at)
  }
  return existed
}

const maxLogs = 500
const maxFetched = 12

interface FetchedTip {
  readonly tip: string
  readonly at: number
  /** What was pushed to the same branch before. */
  readonly pushed: ReadonlySet<string>
}

/** The commits that remote-tracking branches were moved to by a fetch, the oldest first. */
async function fetchedTips(commonFolder: string): Promise<readonly FetchedTip[]> {
  const folder = join(commonFolder, 'logs', 'refs', 'remotes')
  const names = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const files = names.filter((entry) => entry.isFile()).slice(0, maxLogs)
  const logs = await Promise.all(files.map(({ parentPath, name }) => readGitText(join(parentPath, name))))
  const fetched = logs.flatMap((log) => {
    const pushed = new Set<string>()
    return parseReflog(`${log ?? ''}\n`).flatMap(({ to: tip, message, movedAt: at }): FetchedTip[] => {
      if (/^(?:fetch|pull|clone|remote)\b/.test(message)) return [{ tip, at, pushed: new Set(pushed) }]
      pushed.add(tip)
      return []
    })
  })
  return fetched.sort((a, b) => a.at - b.at)
}

/** The moves of HEAD in the repository's other work trees, as far as their logs tell. */
export async function entriesOfOtherTrees(top: string): Promise<readonly ReflogEntry[]> {
  const others = await otherWorkTrees(top)
  const logs = await Promise.all(others.map((other) => readGitText(join(other.gitFolder, 'logs', 'HEAD'))))
  return logs.flatMap((log) => parseReflog(`${log ?? ''}\n`))
}

/** The commits that are not reachable from some tips: they are newer. */
export async function unreachableCommits(
  place: PrivateDirectory,
  commits: readonly string[],
  tips: readonly string[],
): Promise<ReadonlySet<string>> {
  if (commits.length === 0) return new Set()
  const input = Buffer.from([...commits, ...tips.map((tip) => `^${tip}`), ''].join('\n'))
  // A tip may be deleted since, or not be a commit. Before 2.42 git reads the input where `--stdin` stands: it comes last.
  const listed = await git(['rev-list', '--ignore-missing', '--stdin'], privateCall(place, input))
  const later = new Set(listed.toString('latin1').split('\n'))
  return new Set(commits.filter((commit) => later.has(commit)))
}

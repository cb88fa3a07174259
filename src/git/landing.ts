import { readContained } from '../kernel/files/contained-file.ts'
import type { LandingRequest } from '../lines/ports/line-history.ts'
import {
  type BranchVersion,
  type FileLines,
  followLines,
  type Landed,
  type OtherPlace,
  type TaskFileLines,
  type TaskLines,
  wholeFileLine,
} from '../track/domain/landed.ts'
import { objectIds, readBlobs, sizesOf } from './blobs.ts'
import { configuredValue } from './configuration.ts'
import { type Ref, readRefs, remoteDefault } from './git-folder.ts'
import { lineHasher, splitBufferLines } from './line-hash.ts'
import type { HistoryLookup } from './line-history.ts'
import { otherTreeTops } from './other-work-trees.ts'
import { objectId } from './pack.ts'
import { oidOf } from './patch.ts'
import { displayPath, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { gitEnvironment, runGit } from './process.ts'
import { locateFolder, type Repository } from './repository.ts'
import { leavingNothingOut } from './trees.ts'

// Newer branches are looked through first; a task is mostly on one of them.
const maxBranches = 40
const maxTrees = 10
const maxCommits = 50_000
const maxBytes = 5_000_000
/** All versions of all files together: files with more are not followed, since their lines are held in memory. */
const maxBytesInAll = 128 * 1024 * 1024
/** Contents are read together up to this size. */
const maxBytesAtOnce = 64 * 1024 * 1024
const blobsAtOnce = 200
// Git's command line has an end.
const pathsPerCall = 500

/** Follows the lines of tasks through the default branch, the other branches and the work trees. */
export async function measureLanding(
  lookup: HistoryLookup,
  request: Omit<LandingRequest, 'folder'>,
): Promise<readonly Landed[]> {
  const { repository, place, location } = lookup
  const refs = location.engine === 'git' ? await readRefs(repository.commonFolder) : null
  const isShallow = location.engine === 'git' && repository.shallow !== '' && (await hasShallowCommits(place))
  const branch = refs && (await defaultBranch(refs, lookup, request.branch))
  if (refs === null || isShallow || !branch) return request.tasks.map(unknownLanding)
  const paths = [
    ...new Set(
      request.tasks.flatMap(({ files, left }) =>
        [...files, ...(left ?? [])].map(({ path }) => pathBytes(path)),
      ),
    ),
  ]
  // A file that a task removed is not looked for under another name.
  const removedOnly = new Set(
    request.tasks.flatMap(({ files }) =>
      files.flatMap(({ path, added }) => (added.length === 0 ? [pathBytes(path)] : [])),
    ),
  )
  const since = Math.min(...request.tasks.map((task) => task.since))
  const commits = await commitsOf(place, branch.tip, since)
  const outside = await commitsOutside(
    place,
    branch.tip,
    request.tasks.flatMap(({ landed }) => landed?.commit ?? []),
  )
  const renamable = new Set(paths.filter((path) => !removedOnly.has(path)))
  const changes = await changesWithRenames(place, commits, { paths, renamable })
  const first = commits[0]
  const baseCommit = first === undefined ? branch.tip : first.parent
  const others = await otherTips(place, refs, branch)
  const [base = new Map(), ...tips] = await Promise.all(
    [baseCommit, ...others.map(({ tip }) => tip)].map((commit) => filesAt(place, commit, paths)),
  )
  let renaming = 0
  for (const [at, files] of tips.entries()) {
    if (renaming === maxRenaming) break
    const gone = [...renamable].filter((path) => files.get(path) === null && isThere(path, base, changes))
    if (gone.length === 0) continue
    renaming += 1
    const renamed = await renamedFiles(place, branch.tip, others[at]?.tip ?? '')
    for (const path of gone) files.set(path, renamed.get(path)?.oid ?? null)
  }
  const oidsOf = new Map<PathBytes, Set<string>>()
  for (const files of [base, ...tips, ...changes.values()])
    for (const [path, oid] of files)
      if (oid !== null) oidsOf.set(path, (oidsOf.get(path) ?? new Set()).add(oid))
  const sizes = await sizesOf(place, [...new Set([...oidsOf.values()].flatMap((oids) => [...oids]))])
  const heavy = tooHeavy(oidsOf, sizes, maxBytesInAll)
  for (const path of heavy) oidsOf.delete(path)
  const kept = new Set([...oidsOf.values()].flatMap((oids) => [...oids]))
  const linesIn = await contentLines(
    place,
    new Map([...sizes].filter(([oid]) => kept.has(oid))),
    request.salt,
  )
  const readable = (files: ReadonlyMap<PathBytes, string | null>): ReadonlyMap<string, FileLines> =>
    new Map(
      [...files].map(([path, oid]) => [displayPath(path), oid === null ? null : (linesIn.get(oid) ?? null)]),
    )
  const versions = commits.flatMap(({ id, committedAt }): readonly BranchVersion[] => {
    const files = changes.get(id)
    return files ? [{ commit: id, committedAt, files: readable(files) }] : []
  })
  const places: readonly OtherPlace[] = [
    ...others.map(({ is }, at) => ({ is, files: readable(tips[at] ?? new Map()) })),
    ...(await workTrees(repository, paths.map(displayPath), request.salt)),
  ]
  const history = { branch: branch.name, base: readable(base), versions, places }
  const tooLarge = new Set([...heavy].map(displayPath))
  return request.tasks.map((task) => {
    const readableOf = (files: readonly TaskFileLines[]) => files.filter(({ path }) => !tooLarge.has(path))
    const files = readableOf(task.files)
    if (files.length === 0 && task.files.length > 0) return unknownLanding(task)
    const rest = task.left && readableOf(task.left)
    // What cannot be read is not gone: nothing is replaced then.
    const left = rest?.length === task.left?.length ? rest : null
    const commit = task.landed?.commit ?? null
    const landed = commit === null || outside.has(commit) ? null : task.landed
    return followLines({ ...task, files, left, landed }, history)
  })
}

/** Names the default branch's last commit, without starting git for it; null without one. */
export async function landingTip(
  folder: string,
  wanted: string | null,
  environment: NodeJS.ProcessEnv,
): Promise<string | null> {
  const location = await locateFolder(folder, gitEnvironment(environment))
  if (location.engine !== 'git') return null
  const refs = await readRefs(location.repository.commonFolder)
  const branch = refs && (await defaultBranch(refs, location, wanted))
  return branch && `${branch.ref} ${branch.tip}`
}

/** The paths to leave out, so that the versions of the others are not more bytes than a limit: those with the most first. */
export function tooHeavy(
  versions: ReadonlyMap<PathBytes, ReadonlySet<string>>,
  sizes: ReadonlyMap<string, number>,
  limit: number,
): ReadonlySet<PathBytes> {
  const readable = (oid: string): number => {
    const size = sizes.get(oid) ?? 0
    return size > maxBytes ? 0 : size
  }
  const totals = [...versions].map(([path, oids]) => ({
    path,
    bytes: [...oids].reduce((sum, oid) => sum + readable(oid), 0),
  }))
  let left = totals.reduce((sum, { bytes }) => sum + bytes, 0)
  const heavy = new Set<PathBytes>()
  for (const { path, bytes } of totals.toSorted((a, b) => b.bytes - a.bytes)) {
    if (left <= limit) break
    heavy.add(path)
    left -= bytes
  }
  return heavy
}

function unknownLanding({ files, landed }: TaskLines): Landed {
  const total = files.reduce((sum, { added, removed }) => sum + added.length + removed.length, 0)
  const none = { branch: null, lines: 0, total, commit: null, landedAt: null }
  return landed === null ? { ...none, is: 'unknown' } : { ...none, ...landed, is: 'landed' }
}

async function hasShallowCommits(place: PrivateDirectory): Promise<boolean> {
  const { code, output } = await runGit(['rev-parse', '--is-shallow-repository'], privateCall(place))
  return code === 0 && output.toString('latin1').trim() === 'true'
}

interface DefaultBranch {
  readonly name: string
  readonly ref: string
  readonly tip: string
}

/**
 * The one that the project set, else the remote's, else git's usual names. Those of the remote come first, so that a clone
 * without origin/HEAD measures against the same branch as others.
 */
async function defaultBranch(
  refs: readonly Ref[],
  { repository }: Pick<HistoryLookup, 'repository'>,
  wanted: string | null,
): Promise<DefaultBranch | null> {
  // A loose ref comes after the packed one that it replaces.
  const tipOf = (ref: string): string | undefined => refs.findLast(({ name }) => name === ref)?.tip
  const ofRemote = await remoteDefault(repository.commonFolder, 'origin')
  const initial = configuredValue(repository.configuration, 'init.defaultbranch')
  const names = [initial, 'main', 'master'].filter((name) => name !== undefined)
  const candidates =
    wanted === null
      ? [
          ...(ofRemote === null ? [] : [ofRemote]),
          ...['refs/remotes/origin', 'refs/heads'].flatMap((folder) =>
            names.map((name) => `${folder}/${name}`),
          ),
        ]
      : [`refs/remotes/${wanted}`, `refs/remotes/origin/${wanted}`, `refs/heads/${wanted}`]
  for (const ref of candidates) {
    const tip = tipOf(ref)
    if (tip !== undefined) return { name: ref.replace(/^refs\/(?:heads|remotes)\//, ''), ref, tip }
  }
  return null
}

interface MainCommit {
  readonly id: string
  /** Null for the first commit of all. */
  readonly parent: string | null
  /** Milliseconds since the epoch. */
  readonly committedAt: number
}

/** The commits of a branch by their first parents since a time, oldest first. */
async function commitsOf(
  place: PrivateDirectory,
  tip: string,
  since: number,
): Promise<readonly MainCommit[]> {
  const question = [
    'rev-list',
    '--first-parent',
    '--timestamp',
    '--parents',
    `--max-count=${maxCommits}`,
    `--since=@${Math.max(0, Math.floor(since))}`,
    tip,
  ]
  const { code, output } = await runGit(question, privateCall(place))
  if (code !== 0) return []
  const lines = output.toString('latin1').split('\n').filter(Boolean)
  return lines.reverse().map((line) => {
    const [time = '0', id = '', parent = null] = line.split(' ')
    return { id, parent, committedAt: Number(time) * 1_000 }
  })
}

/** Those of the commits that a branch does not have, or not any more: it was reset or rewritten. */
async function commitsOutside(
  place: PrivateDirectory,
  tip: string,
  commits: readonly string[],
): Promise<ReadonlySet<string>> {
  const asked = [...new Set(commits)].filter((id) => /^[0-9a-f]{40,64}$/.test(id))
  if (asked.length === 0) return new Set()
  const question = ['rev-list', '--ignore-missing', '--stdin', `^${tip}`]
  const { code, output } = await runGit(question, {
    ...privateCall(place),
    input: Buffer.from(asked.join('\n')),
  })
  const outside = new Set(code === 0 ? output.toString('latin1').split('\n') : [])
  return new Set(asked.filter((id) => outside.has(id)))
}

/** By commit, the new contents of the paths that it changed; null for a removed file. */
async function changesOf(
  place: PrivateDirectory,
  commits: readonly MainCommit[],
  paths: readonly PathBytes[],
): Promise<Map<string, Map<PathBytes, string | null>>> {
  const changes = new Map<string, Map<PathBytes, string | null>>()
  if (commits.length === 0) return changes
  const form = ['-r', '--root', '--no-renames', '--raw', '--no-abbrev', '-z']
  const question = ['--literal-pathspecs', 'diff-tree', '--stdin', ...form, ...leavingNothingOut, '--']
  // git takes the second commit of a line as the only parent of the first: a merge is compared with its first parent.
  const named = commits.map(({ id, parent }) => (parent === null ? id : `${id} ${parent}`))
  const input = Buffer.from(`${named.join('\n')}\n`)
  const readable = paths.filter((path) => pathBytes(displayPath(path)) === path).map(displayPath)
  for (let from = 0; from < readable.length; from += pathsPerCall) {
    const { code, output } = await runGit(
      [...question, ...readable.slice(from, from + pathsPerCall)],
      privateCall(place, input),
    )
    const records = code === 0 ? nulRecords(output) : []
    let commit = ''
    for (let at = 0; at < records.length; at += 1) {
      const [mark = '', , , after = ''] = (records[at] ?? '').split(' ')
      if (!mark.startsWith(':')) {
        commit = mark
        continue
      }
      at += 1
      const files = changes.get(commit) ?? new Map<PathBytes, string | null>()
      files.set(records[at] ?? '', oidOf(after))
      changes.set(commit, files)
    }
  }
  return changes
}

/** Renames are looked for in so many commits, and in so many branches. */
const maxRenaming = 20

/** By old path, where a commit has the files that were renamed since another one. */
async function renamedFiles(
  place: PrivateDirectory,
  from: string,
  to: string,
): Promise<ReadonlyMap<PathBytes, { readonly path: PathBytes; readonly oid: string | null }>> {
  const form = ['-r', '-M70%', '-l200', '--diff-filter=R', '--raw', '--no-abbrev', '-z', ...leavingNothingOut]
  const { code, output } = await runGit(['diff-tree', ...form, from, to], privateCall(place))
  const records = code === 0 ? nulRecords(output) : []
  const renamed = new Map<PathBytes, { readonly path: PathBytes; readonly oid: string | null }>()
  for (let at = 0; at + 2 < records.length; at += 3) {
    const [, , , after = ''] = (records[at] ?? '').split(' ')
    renamed.set(records[at + 1] ?? '', { path: records[at + 2] ?? '', oid: oidOf(after) })
  }
  return renamed
}

/** Whether the default branch had a file. */
function isThere(
  path: PathBytes,
  base: ReadonlyMap<PathBytes, string | null>,
  changes: ReadonlyMap<string, ReadonlyMap<PathBytes, string | null>>,
): boolean {
  return base.get(path) != null || [...changes.values()].some((files) => files.get(path) != null)
}

/** The same as `changesOf`, with what became of a renamed file at its old path. */
async function changesWithRenames(
  place: PrivateDirectory,
  commits: readonly MainCommit[],
  { paths, renamable }: { readonly paths: readonly PathBytes[]; readonly renamable: ReadonlySet<PathBytes> },
): Promise<ReadonlyMap<string, ReadonlyMap<PathBytes, string | null>>> {
  const changes = await changesOf(place, commits, paths)
  const names = new Map<PathBytes, PathBytes>()
  let renaming = 0
  for (const [at, { id, parent }] of commits.entries()) {
    const files = changes.get(id) ?? new Map<PathBytes, string | null>()
    const gone = [...files].flatMap(([path, oid]) => (oid === null && renamable.has(path) ? [path] : []))
    if (gone.length === 0 || parent === null || renaming === maxRenaming) continue
    renaming += 1
    const renamed = await renamedFiles(place, parent, id)
    for (const path of gone) {
      const target = renamed.get(names.get(path) ?? path)
      if (target === undefined) continue
      names.set(path, target.path)
      files.set(path, target.oid)
      for (const [commit, later] of await changesOf(place, commits.slice(at + 1), [target.path])) {
        const known = changes.get(commit) ?? new Map<PathBytes, string | null>()
        // Another file with the old name is followed instead.
        known.set(path, known.get(path) ?? later.get(target.path) ?? null)
        changes.set(commit, known)
      }
    }
  }
  return changes
}

interface BranchTip {
  readonly is: 'pushed' | 'committed'
  readonly tip: string
}

/** The tips of the other branches, the remote ones first: what is pushed is committed as well. */
async function otherTips(
  place: PrivateDirectory,
  refs: readonly Ref[],
  branch: DefaultBranch,
): Promise<readonly BranchTip[]> {
  const tips = new Map<string, BranchTip['is']>()
  const named = new Map(refs.map(({ name, tip }) => [name, tip]))
  for (const [prefix, is] of [
    ['refs/remotes/', 'pushed'],
    ['refs/heads/', 'committed'],
  ] as const) {
    for (const [name, tip] of named)
      if (name.startsWith(prefix) && name !== branch.ref && tip !== branch.tip && !tips.has(tip))
        tips.set(tip, is)
  }
  if (tips.size <= maxBranches) return [...tips].map(([tip, is]) => ({ is, tip }))
  const question = [
    'rev-list',
    '--no-walk=sorted',
    '--ignore-missing',
    `--max-count=${maxBranches}`,
    '--stdin',
  ]
  const { output } = await runGit(
    question,
    privateCall(place, Buffer.from(`${[...tips.keys()].join('\n')}\n`)),
  )
  const newest = new Set(output.toString('latin1').split('\n'))
  return [...tips].filter(([tip]) => newest.has(tip)).map(([tip, is]) => ({ is, tip }))
}

/** The contents of paths in a commit; null for no file. */
async function filesAt(
  place: PrivateDirectory,
  commit: string | null,
  paths: readonly PathBytes[],
): Promise<Map<PathBytes, string | null>> {
  if (commit === null) return new Map()
  const oids = await objectIds(
    place,
    paths.map((path) => `${commit}:${path}`),
  )
  return new Map(paths.map((path, at) => [path, oids[at] ?? null]))
}

/** By the id of a content, the hashes of its lines, and its own id as a line of files without lines. */
async function contentLines(
  place: PrivateDirectory,
  sizes: ReadonlyMap<string, number>,
  salt: string,
): Promise<ReadonlyMap<string, FileLines>> {
  const hashOf = lineHasher(salt)
  const found = new Map<string, FileLines>()
  for (const group of readableGroups(sizes)) {
    const contents = await readBlobs(place, group)
    for (const [oid, content] of contents) found.set(oid, linesOfContent(oid, content, hashOf))
  }
  // Of a large file, only its whole content is compared.
  for (const [oid, size] of sizes) if (size > maxBytes) found.set(oid, new Set([wholeFileLine(oid)]))
  return found
}

/** Contents that are not too large, in groups that are read together. */
function readableGroups(sizes: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  const groups: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const [oid, size] of sizes) {
    if (size > maxBytes) continue
    const last = groups.at(-1)
    if (last === undefined || last.length >= blobsAtOnce || bytes + size > maxBytesAtOnce) {
      groups.push([oid])
      bytes = size
    } else {
      last.push(oid)
      bytes += size
    }
  }
  return groups
}

function linesOfContent(oid: string, content: Buffer, hashOf: (line: string) => string): ReadonlySet<string> {
  return new Set([
    wholeFileLine(oid),
    ...(content.length > maxBytes ? [] : splitBufferLines(content).map(hashOf)),
  ])
}

/** The files of the work trees, as they are on disk. */
async function workTrees(
  { top, objectFormat }: Pick<Repository, 'top' | 'objectFormat'>,
  paths: readonly string[],
  salt: string,
): Promise<readonly OtherPlace[]> {
  const hashOf = lineHasher(salt)
  const tops = [top, ...(await otherTreeTops(top))].slice(0, maxTrees)
  const places: OtherPlace[] = []
  // One after the other: their files may be large.
  for (const tree of tops) {
    const files = new Map<string, FileLines>()
    for (const path of paths) {
      const read = await readContained(tree, path, { maxBytes })
      if ('reason' in read) continue
      const { content } = read
      files.set(path, linesOfContent(objectId(objectFormat, { type: 'blob', content }), content, hashOf))
    }
    places.push({ is: 'uncommitted', files })
  }
  return places
}

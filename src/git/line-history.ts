import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { isAbsolute, join, resolve } from 'node:path'
import { Failure } from '../kernel/failure.ts'
import { isWithin, linkFree, type RefusalReason } from '../kernel/files/contained-file.ts'
import { readRegularSync } from '../kernel/files/regular-file.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import type {
  BlamedCommit,
  BlamedLines,
  BlameRequest,
  BlameResult,
  FileRequest,
  LineHistory,
  LineHistoryFile,
  ListedCommit,
  ListedFile,
} from '../lines/ports/line-history.ts'
import { agentsOfCommits } from './agent-commits.ts'
import { objectIds, readBlobs } from './blobs.ts'
import { configuredValue } from './configuration.ts'
import { KeptBlames } from './kept-blames.ts'
import { measureLanding } from './landing.ts'
import { isBinary, lineHasher, splitBufferLines } from './line-hash.ts'
import { pathsByCommit } from './origin.ts'
import { objectId } from './pack.ts'
import { diskPath, displayPath, nulInput, nulRecords, type PathBytes, pathBytes } from './paths.ts'
import { type PrivateDirectory, privateCall, writePrivateDirectory } from './private-directory.ts'
import { type GitEnvironment, git, runGit, withGitFaults } from './process.ts'
import {
  locateFolder,
  type Repository,
  type RepositoryLocation,
  retryWithFreshLocations,
  standInRepository,
} from './repository.ts'

interface LineHistoryOptions {
  readonly environment: GitEnvironment
  /** Makes a folder for one look-up. */
  readonly directory: () => string
  /** Keeps git's answers, if it exists. */
  readonly stateFolder?: string
}

/** A private git directory for one look-up. */
export interface HistoryLookup {
  readonly location: RepositoryLocation
  readonly repository: Repository
  readonly place: PrivateDirectory
}

/** Makes a private git directory for a look-up, and removes it afterwards. */
export function historyLookups(options: LineHistoryOptions) {
  return <T>(folder: string, work: (lookup: HistoryLookup) => Promise<T>): Promise<T> =>
    withGitFaults(folder, () =>
      retryWithFreshLocations(options.environment, async () => {
        const location = await locateFolder(folder, options.environment)
        const directory = options.directory()
        try {
          const repository =
            location.engine === 'git' ? location.repository : standInRepository(location.folder, directory)
          writePrivateDirectory(directory, repository)
          const { top, index, objects } = repository
          const place = { directory, top, index, objects: [objects], environment: options.environment }
          return await work({ location, repository, place })
        } finally {
          await rm(directory, { recursive: true, force: true })
        }
      }),
    )
}

export function createLineHistory(options: LineHistoryOptions): LineHistory {
  const withLookup = historyLookups(options)
  return {
    file: inBatches((folder, requests: readonly FileRequest[]) =>
      withLookup(folder, (lookup) => filesOf(lookup, requests)),
    ),
    blame: inBatches((folder, requests: readonly BlameRequest[]) =>
      withLookup(folder, (lookup) => {
        const { stateFolder } = options
        return blames(
          lookup,
          requests,
          stateFolder === undefined ? null : new KeptBlames(stateFolder, lookup.place),
        )
      }),
    ),
    commits: (folder, range, most) => withLookup(folder, (lookup) => commitsIn(lookup, range, most)),
    files: (folder, rev, under) => withLookup(folder, (lookup) => filesIn(lookup, rev, under)),
    landing: ({ folder, ...request }) => withLookup(folder, (lookup) => measureLanding(lookup, request)),
    hashes: (folder, oids, salt) =>
      withLookup(folder, async ({ place }) => {
        const hashOf = lineHasher(salt)
        const contents = await readBlobs(place, oids)
        return [...contents].map(([oid, content]) => [oid, splitBufferLines(content).map(hashOf)] as const)
      }),
  }
}

/** Answers requests for the same folder that are made at once together. */
function inBatches<Request extends { readonly folder: string }, Answer>(
  work: (folder: string, requests: readonly Request[]) => Promise<readonly Settled<Answer>[]>,
): (request: Request) => Promise<Answer> {
  const waiting = new Map<string, { readonly request: Request; readonly settle: Settle<Answer> }[]>()
  const start = async (folder: string): Promise<void> => {
    const batch = waiting.get(folder) ?? []
    waiting.delete(folder)
    const results = await work(
      folder,
      batch.map(({ request }) => request),
    ).catch((reason: unknown) => batch.map(() => ({ status: 'rejected' as const, reason })))
    for (const [at, { settle }] of batch.entries()) settle(results[at])
  }
  return (request) =>
    new Promise((resolve, reject) => {
      const batch = waiting.get(request.folder) ?? []
      if (batch.length === 0) {
        waiting.set(request.folder, batch)
        setImmediate(() => void start(request.folder))
      }
      batch.push({
        request,
        settle: (result) => (result?.status === 'fulfilled' ? resolve(result.value) : reject(result?.reason)),
      })
    })
}

type Settled<Answer> = PromiseSettledResult<Answer>
type Settle<Answer> = (result: Settled<Answer> | undefined) => void

/** Files that git reads at the same time. */
const atOnce = 4

async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [at, item] of left) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}

/** A refusal of one file leaves the others. */
async function settle<Answer>(work: () => Promise<Answer> | Answer): Promise<Settled<Answer>> {
  try {
    return { status: 'fulfilled', value: await work() }
  } catch (reason) {
    if (reason instanceof Failure) return { status: 'rejected', reason }
    throw reason
  }
}

async function filesOf(
  lookup: HistoryLookup,
  requests: readonly FileRequest[],
): Promise<readonly Settled<LineHistoryFile>[]> {
  const stamp = stampOf(lookup.repository)
  const results = new Map<FileRequest, Settled<LineHistoryFile>>()
  const keep = (request: FileRequest, version: Settled<FileVersion>): void => {
    const kept =
      version.status === 'rejected'
        ? version
        : { ...version, value: hashVersion(version.value, request, stamp) }
    results.set(request, kept)
  }
  const onDisk = requests.filter(({ rev }) => rev === undefined)
  await mapConcurrently(onDisk, async (request) =>
    keep(request, await settle(() => fileOnDisk(lookup, request))),
  )
  await committedFiles(
    lookup,
    requests.flatMap((request) =>
      request.rev === undefined ? [] : [{ ...request, rev: request.rev, request }],
    ),
    ({ request }, version) => keep(request, version),
  )
  return requests.flatMap((request) => results.get(request) ?? [])
}

function hashVersion(
  { content, ...version }: FileVersion,
  { salt, text }: FileRequest,
  stamp: string,
): LineHistoryFile {
  if (version.withoutLines !== undefined || content === null) return { ...version, stamp, hashes: [] }
  const lines = splitBufferLines(content)
  return {
    ...version,
    stamp,
    hashes: lines.map(lineHasher(salt)),
    ...(text && { text: lines.map(displayPath) }),
  }
}

type FileVersion = Omit<LineHistoryFile, 'hashes' | 'text' | 'stamp'> & { readonly content: Buffer | null }

interface LineHistoryTarget {
  readonly folder: string
  readonly path: string
}

const maxBytes = 5_000_000
const maxLines = 100_000

async function fileOnDisk(lookup: HistoryLookup, target: LineHistoryTarget): Promise<FileVersion> {
  const { repository, place, location } = lookup
  const path = pathOf(lookup, target)
  const { top } = repository
  const kind = lstatSync(diskPath(top, path), { throwIfNoEntry: false })
  if (kind === undefined) {
    throw new Failure('NOT_FOUND', `There is no file ${displayPath(path)} in ${top}.`, {
      reason: 'file_not_found',
      hint: 'Use a path from the current folder. For a deleted file, name a commit that has it (--rev HEAD).',
    })
  }
  const version = { top, path: displayPath(path), commit: null }
  const nothing = { ...version, oid: '', head: null, content: null }
  if (kind.isSymbolicLink())
    return { ...nothing, withoutLines: `${version.path} is a link, so it has no lines.` }
  if (kind.isDirectory()) {
    throw new Failure('INVALID_INPUT', `${version.path} is a folder: name a file in it.`, {
      reason: 'not_a_file',
    })
  }
  if (!kind.isFile()) return { ...nothing, withoutLines: `${version.path} is not a regular file.` }
  if (kind.size > maxBytes) return { ...nothing, withoutLines: tooLargeMessage(version.path, kind.size) }
  if (isSecretFile(version.path)) return { ...nothing, withoutLines: secretFile(version.path) }
  const content = readRegularSync(diskPath(top, path))
  if (location.engine !== 'git') {
    const oid = objectId('sha256', { type: 'blob', content })
    return { ...version, oid, head: null, content, ...linesOmission(version.path, content) }
  }
  const { head } = repository
  const [hashed, [headOid = null], filter] = await Promise.all([
    git(['hash-object', '--stdin', `--path=${displayPath(path)}`], privateCall(place, content)),
    head === null ? [] : objectIds(place, [`${head.commit}:${path}`]),
    git(['check-attr', '-z', 'filter', '--', displayPath(path)], privateCall(place)),
  ])
  if (headOid === null) {
    const why = await withheldReason(place, path)
    if (why !== null) return { ...nothing, withoutLines: why }
  }
  const driver = filter.toString('utf8').split('\0')[2] ?? 'unspecified'
  return {
    ...version,
    oid: hashed.toString('latin1').trim(),
    head: head && { commit: head.commit, oid: headOid },
    content,
    ...linesOmission(version.path, content, driver),
  }
}

/** Why an uncommitted file's lines are withheld: the reader may be on another machine. */
async function withheldReason(place: PrivateDirectory, path: PathBytes): Promise<string | null> {
  const name = displayPath(path)
  const question = ['ls-files', '--others', '--ignored', '--exclude-standard', '--', name]
  const ignored = await git(question, privateCall(place))
  return ignored.length > 0 ? `${name} is ignored by git: its lines are not recorded.` : null
}

function secretFile(path: string): string {
  return `${path} has the name of a secret file: its lines are neither recorded nor shown.`
}

// Each is as large as a file whose lines are looked up.
const contentsAtOnce = 50

/** Files of commits: their ids with one question to git, their contents with one for many. */
async function committedFiles<Target extends LineHistoryTarget & { readonly rev: string }>(
  lookup: HistoryLookup,
  targets: readonly Target[],
  keep: (target: Target, version: Settled<FileVersion>) => void,
): Promise<void> {
  if (targets.length === 0) return
  const { repository, place, location } = lookup
  const commits = new Map<string, Settled<string>>()
  for (const rev of new Set(targets.map((target) => target.rev))) {
    commits.set(
      rev,
      await settle(() => {
        if (location.engine === 'git') return commitOf(lookup, rev)
        throw new Failure('INVALID_INPUT', `There are no commits in ${location.folder}: ${location.reason}`, {
          reason: 'no_commits',
        })
      }),
    )
  }
  const { top, head } = repository
  const named: { readonly target: Target; readonly path: PathBytes; readonly commit: string }[] = []
  for (const target of targets) {
    const commit = commits.get(target.rev)
    const path = await settle(() => pathOf(lookup, target))
    if (commit?.status === 'rejected') keep(target, commit)
    else if (path.status === 'rejected') keep(target, path)
    else if (commit) named.push({ target, path: path.value, commit: commit.value })
  }
  const ids = await objectIds(place, [
    ...named.map(({ path, commit }) => `${commit}:${path}`),
    ...(head === null ? [] : named.map(({ path }) => `${head.commit}:${path}`)),
  ])
  const found: { readonly target: Target; readonly version: Omit<FileVersion, 'content'> }[] = []
  for (const [at, { target, path, commit }] of named.entries()) {
    const oid = ids[at] ?? null
    if (oid === null) {
      const reason = new Failure('NOT_FOUND', `There is no file ${displayPath(path)} in ${target.rev}.`, {
        reason: 'path_not_in_commit',
        hint: 'Use the path that it had in that commit.',
      })
      keep(target, { status: 'rejected', reason })
      continue
    }
    const headOid = head && { commit: head.commit, oid: ids[named.length + at] ?? null }
    found.push({ target, version: { top, path: displayPath(path), commit, oid, head: headOid } })
  }
  for (let from = 0; from < found.length; from += contentsAtOnce) {
    const some = found.slice(from, from + contentsAtOnce)
    const readable = some.filter(({ version }) => !isSecretFile(version.path))
    const contents = await readBlobs(
      place,
      readable.map(({ version }) => version.oid),
    )
    for (const { target, version } of some) {
      const content = isSecretFile(version.path) ? null : (contents.get(version.oid) ?? null)
      const omission = isSecretFile(version.path)
        ? { withoutLines: secretFile(version.path) }
        : content === null
          ? { withoutLines: `The content of ${version.path} in ${target.rev} is not on this machine.` }
          : linesOmission(version.path, content)
      keep(target, { status: 'fulfilled', value: { ...version, content, ...omission } })
    }
  }
}

/** The id of a revision's commit. No form of a revision runs anything. */
async function commitOf({ repository, place }: HistoryLookup, rev: string): Promise<string> {
  const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${rev}^{commit}`]
  const answer = await runGit(question, {
    folder: repository.top,
    environment: place.environment,
    onlyReads: true,
  })
  const commit = answer.output.toString('latin1').trim()
  if (answer.code === 0 && /^[0-9a-f]{40,64}$/.test(commit)) return commit
  throw new Failure('NOT_FOUND', `There is no commit "${rev}" in ${repository.top}.`, {
    reason: 'commit_not_found',
    hint: 'Use a commit, a branch or a tag.',
  })
}

/** The path from the top, in the Unicode form that the disk has. */
function pathOf({ repository }: HistoryLookup, { folder, path }: LineHistoryTarget): PathBytes {
  const { top } = repository
  const whole = path.startsWith(':/')
    ? join(top, path.slice(2))
    : isAbsolute(path)
      ? path
      : resolve(folder, path)
  const forms = [whole, whole.normalize('NFC'), whole.normalize('NFD')]
  const existing = forms.find((form) => lstatSync(form, { throwIfNoEntry: false }) !== undefined) ?? whole
  const place = linkFree(top, existing)
  if (!('reason' in place)) return pathBytes(place.path)
  const { reason, problem, hint } = pathRefusals[place.reason] ?? outsideTree
  throw new Failure('INVALID_INPUT', `${path} ${problem} (work tree ${top}).`, {
    reason,
    ...(hint !== undefined && { hint }),
  })
}

interface OwnPathRefusal {
  readonly reason: string
  readonly problem: string
  readonly hint?: string
}

const outsideTree: OwnPathRefusal = {
  reason: 'path_outside_work_tree',
  problem: 'is not in the work tree',
  hint: 'Use the path of a file in it.',
}

const pathRefusals: Readonly<Partial<Record<RefusalReason, OwnPathRefusal>>> = {
  git: { reason: 'path_of_git', problem: 'belongs to git, not to the work tree' },
  behind_link: {
    reason: 'path_behind_link',
    problem: 'is behind a link',
    hint: "Use the file's own path in the work tree.",
  },
}

function linesOmission(
  path: string,
  content: Buffer,
  filter = 'unspecified',
): { readonly withoutLines?: string } {
  if (filter === 'lfs' || content.subarray(0, 40).toString('latin1').startsWith('version https://git-lfs')) {
    return { withoutLines: `${path} is kept with Git LFS: its lines are not recorded.` }
  }
  if (isBinary(content)) return { withoutLines: `${path} is not a text file.` }
  if (content.length > maxBytes) return { withoutLines: tooLargeMessage(path, content.length) }
  let lines = 0
  for (let at = content.indexOf(10); at >= 0; at = content.indexOf(10, at + 1)) lines += 1
  return lines > maxLines ? { withoutLines: `${path} has ${lines} lines, too many to look up.` } : {}
}

function tooLargeMessage(path: string, bytes: number): string {
  return `${path} has ${bytes} bytes, too many to look up its lines.`
}

type Blamed = Omit<BlameResult, 'contents'>

/** The contents of all commits that the answers name are found with one question to git. */
async function blames(
  lookup: HistoryLookup,
  requests: readonly BlameRequest[],
  kept: KeptBlames | null,
): Promise<readonly Settled<BlameResult>[]> {
  const answers = await mapConcurrently(requests, (request) => settle(() => blame(lookup, request, kept)))
  const namesOf = ({ lines }: Blamed) => [
    ...new Set(lines.flatMap(({ commit, path }) => (commit === null ? [] : [`${commit}:${path}`]))),
  ]
  const names = [
    ...new Set(answers.flatMap((answer) => (answer.status === 'fulfilled' ? namesOf(answer.value) : []))),
  ]
  const committed = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value.commits : []))
  const ids = await objectIds(lookup.place, names).catch(() => [])
  const agents = await agentsOfCommits(lookup.place, [...new Set(committed.map(({ id }) => id))])
  const idOf = new Map(names.map((name, at) => [name, ids[at] ?? null]))
  return answers.map((answer) => {
    if (answer.status === 'rejected') return answer
    const contents = namesOf(answer.value).flatMap((name) => {
      const oid = idOf.get(name) ?? null
      const colon = name.indexOf(':')
      return oid === null ? [] : [[name.slice(0, colon), displayPath(name.slice(colon + 1)), oid] as const]
    })
    const lines = answer.value.lines.map((one) => ({ ...one, path: displayPath(one.path) }))
    const commits = answer.value.commits.map((commit) => {
      const agent = agents.get(commit.id)
      return agent === undefined ? commit : { ...commit, agent }
    })
    return { status: 'fulfilled', value: { ...answer.value, lines, commits, contents } }
  })
}

async function blame(
  { location, repository, place }: HistoryLookup,
  request: BlameRequest,
  kept: KeptBlames | null,
): Promise<Blamed> {
  const nothing = { lines: [], commits: [] }
  if (location.engine !== 'git' || repository.head === null) return nothing
  const { head, top } = repository
  const onTop = pathBytes(request.path)
  const [ofName = null] =
    request.commit === null ? await objectIds(place, [`${head.commit}:${onTop}`]) : [request.oid]
  const earlier = ofName === null ? await nameBefore({ repository, place }, onTop) : null
  const path = earlier?.path ?? onTop
  const inHead = ofName ?? earlier?.oid ?? null
  if (inHead === null) return nothing
  const target = request.commit ?? (ofName === request.oid ? head.commit : null)
  const file =
    target === null || request.copies
      ? null
      : { path, oid: inHead, commit: target, stamp: stampOf(repository) }
  const known = file && (await kept?.find(file))
  if (known) return { lines: known.lines, commits: known.commits }
  const options = [
    '--porcelain',
    '-M',
    ...(request.copies ? ['-C', '-C', '-C'] : []),
    '--no-textconv',
    '--root',
  ]
  const ignored = ignoredRevisions(repository, place)
  const question = (ignoring: readonly string[]) => [
    '-c',
    'core.quotePath=false',
    'blame',
    ...options,
    ...ignoring,
    ...(target === null ? ['--contents', snapshotOf(place, diskPath(top, onTop))] : [target]),
    '--',
    displayPath(path),
  ]
  if (target === null) copyMergeHeads(repository, place)
  let answer = await runGit(question(ignored), privateCall(place))
  // If git cannot read the list of ignored revisions, run without it.
  if (answer.code !== 0 && ignored.length > 0) answer = await runGit(question([]), privateCall(place))
  if (answer.code !== 0) {
    const first = answer.stderr.trim().split('\n')[0] ?? ''
    return { ...nothing, error: `git blame failed: ${first}` }
  }
  const found = parsePorcelain(answer.output, cutCommits(repository))
  if (file !== null) kept?.keep(file, found)
  return found
}

const maxGone = 100

/** The path in HEAD of a renamed file: the deleted file of which the most lines, at least half, are in it. */
async function nameBefore(
  { repository, place }: Pick<HistoryLookup, 'repository' | 'place'>,
  path: PathBytes,
): Promise<{ readonly path: PathBytes; readonly oid: string } | null> {
  const { head, top } = repository
  if (head === null) return null
  const question = ['diff-index', '--name-only', '--diff-filter=D', '--no-renames', '-z', head.commit]
  const listed = await runGit(question, privateCall(place))
  if (listed.code !== 0) return null
  const gone = nulRecords(listed.output).slice(0, maxGone)
  const oids = await objectIds(
    place,
    gone.map((name) => `${head.commit}:${name}`),
  )
  const contents = await readBlobs(
    place,
    oids.flatMap((oid) => oid ?? []),
  )
  const own = splitBufferLines(readRegularSync(diskPath(top, path))).map((line) => displayPath(line).trim())
  const ownLines = new Set(own.filter((line) => line !== ''))
  const shares = gone.flatMap((name, at) => {
    const oid = oids[at] ?? null
    const content = oid === null ? undefined : contents.get(oid)
    if (oid === null || content === undefined || isBinary(content)) return []
    const lines = splitBufferLines(content).map((line) => displayPath(line).trim())
    const equal = lines.filter((line) => ownLines.has(line)).length
    return [{ path: name, oid, share: equal / Math.max(1, lines.length) }]
  })
  shares.sort((a, b) => b.share - a.share)
  const [best] = shares
  return best !== undefined && best.share >= 0.5 ? best : null
}

/** Copies the file, so that the whole answer is about one state of it. */
function snapshotOf({ directory }: PrivateDirectory, file: string | Buffer): string {
  const copy = join(directory, 'content')
  writeFileSync(copy, readRegularSync(file), { mode: 0o600 })
  return copy
}

function copyMergeHeads({ gitFolder }: Repository, { directory }: PrivateDirectory): void {
  try {
    writeFileSync(join(directory, 'MERGE_HEAD'), readRegularSync(join(gitFolder, 'MERGE_HEAD')))
  } catch {
    // No merge is in progress.
  }
}

const maxListBytes = 1_000_000

/** The option for the revisions that blame ignores, from the file in `blame.ignoreRevsFile`. */
function ignoredRevisions({ configuration, top }: Repository, { directory }: PrivateDirectory): string[] {
  const named = configuredValue(configuration, 'blame.ignorerevsfile')
  if (named === undefined || named === '') return []
  try {
    const content = readRegularSync(resolve(top, named))
    if (content.length > maxListBytes) return []
    const copy = join(directory, 'ignored-revisions')
    writeFileSync(copy, content)
    return ['--ignore-revs-file', copy]
  } catch {
    return []
  }
}

/** A digest of the files that change git's answers about a history. */
function stampOf(repository: Repository): string {
  const { configuration, top, shallow, gitFolder } = repository
  const named = configuredValue(configuration, 'blame.ignorerevsfile') ?? ''
  const files = [named === '' ? '' : resolve(top, named), shallow, join(gitFolder, 'MERGE_HEAD')]
  const hash = createHash('sha256').update(named)
  for (const file of files) {
    try {
      hash.update(file === '' ? '\0' : readRegularSync(file))
    } catch {
      hash.update('\0')
    }
  }
  return hash.digest('hex').slice(0, 16)
}

function cutCommits({ shallow }: Repository): ReadonlySet<string> {
  try {
    return new Set(readFileSync(shallow, 'latin1').split('\n'))
  } catch {
    return new Set()
  }
}

interface MutableCommit {
  author: string
  authoredAt: number
  committedAt: number
  summary: string
}

const uncommitted = /^0+$/

/** Parses `blame --porcelain`: `<commit> <line there> <line here> [<count>]`, headers, a tab and the text. */
function parsePorcelain(
  output: Buffer,
  cut: ReadonlySet<string>,
): { readonly lines: readonly BlamedLines[]; readonly commits: readonly BlamedCommit[] } {
  const commits = new Map<string, MutableCommit>()
  const paths = new Map<string, string>()
  const lines: BlamedLines[] = []
  let commit = ''
  for (const record of output.toString('latin1').split('\n')) {
    if (record.startsWith('\t')) continue
    const head = /^([0-9a-f]{40,64}) (\d+) (\d+)(?: (\d+))?$/.exec(record)
    if (head !== null) {
      commit = head[1] ?? ''
      if (!commits.has(commit))
        commits.set(commit, { author: '', authoredAt: 0, committedAt: 0, summary: '' })
      if (head[4] === undefined) continue
      const path = paths.get(commit) ?? ''
      lines.push({
        commit: uncommitted.test(commit) ? null : commit,
        path,
        line: Number(head[2]),
        currentLine: Number(head[3]),
        count: Number(head[4]),
      })
      continue
    }
    const space = record.indexOf(' ')
    const word = space < 0 ? record : record.slice(0, space)
    const value = space < 0 ? '' : record.slice(space + 1)
    const entry = commits.get(commit)
    if (entry === undefined) continue
    if (word === 'author') entry.author = displayPath(value)
    else if (word === 'author-time') entry.authoredAt = Number(value) * 1000
    else if (word === 'committer-time') entry.committedAt = Number(value) * 1000
    else if (word === 'summary') entry.summary = displayPath(value)
    else if (word === 'filename') {
      const path = unquotePath(value)
      paths.set(commit, path)
      const last = lines.at(-1)
      if (last !== undefined) lines[lines.length - 1] = { ...last, path }
    }
  }
  const committed = [...commits].filter(([id]) => !uncommitted.test(id))
  return { lines, commits: committed.map(([id, entry]) => ({ id, ...entry, isCut: cut.has(id) })) }
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

/** Decodes a path that git may have quoted in C style. */
function unquotePath(text: string): PathBytes {
  if (!text.startsWith('"')) return text
  return text.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code: string) => {
    return code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code)
  })
}

/** The commits of a range, newest first. */
async function commitsIn(lookup: HistoryLookup, range: string, most: number): Promise<ListedCommit[]> {
  const { repository, place, location } = lookup
  if (location.engine !== 'git') {
    throw new Failure('INVALID_INPUT', `There are no commits in ${location.folder}: ${location.reason}`, {
      reason: 'no_commits',
    })
  }
  const isRange = range.includes('..')
  const ends = isRange ? range.split(/\.{2,3}/) : [range]
  // Resolve each end separately: an invalid one is reported, and git gets only ids.
  const named = await Promise.all(ends.map((end) => commitOf(lookup, end === '' ? 'HEAD' : end)))
  const [first = '', last = ''] = named
  const listed = isRange
    ? await git(['rev-list', '--timestamp', `--max-count=${most}`, last, `^${first}`], {
        ...privateCall(place),
        folder: repository.top,
      })
    : await git(['rev-list', '--timestamp', '--no-walk', first], privateCall(place))
  const commits = listed
    .toString('latin1')
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [seconds = '0', id = ''] = line.split(' ')
      return { id, committedAt: Number(seconds) * 1000 }
    })
  const paths = await pathsByCommit(
    place,
    commits.map(({ id }): [string] => [id]),
  )
  return commits.map((commit) => ({ ...commit, paths: (paths.get(commit.id) ?? []).map(displayPath) }))
}

const generatedNames =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|Gemfile\.lock|poetry\.lock|uv\.lock|composer\.lock|go\.sum|flake\.lock)$/
const attributes = ['linguist-generated', 'linguist-vendored']

async function filesIn(
  lookup: HistoryLookup,
  rev: string,
  under: string | null,
): Promise<{ readonly commit: string; readonly files: readonly ListedFile[] }> {
  const { place, location } = lookup
  if (location.engine !== 'git') {
    throw new Failure('INVALID_INPUT', `There are no commits in ${location.folder}: ${location.reason}`, {
      reason: 'no_commits',
    })
  }
  const commit = await commitOf(lookup, rev)
  // git would fail for a path outside the work tree.
  if (under !== null && !isWithin(place.top, resolve(place.top, under))) return { commit, files: [] }
  const below = under === null ? [] : ['--', under.replace(/\/+$/, '')]
  const listed = await git(['ls-tree', '-r', '-l', '-z', '--full-tree', commit, ...below], privateCall(place))
  const files = nulRecords(listed).flatMap((record) => {
    const tab = record.indexOf('\t')
    const [mode = '', , , bytes = ''] = record.slice(0, tab).split(/ +/)
    return mode.startsWith('100') ? [{ path: record.slice(tab + 1), bytes: Number(bytes) }] : []
  })
  const attributeOutput = await git(
    ['check-attr', '-z', '--stdin', ...attributes],
    privateCall(place, nulInput(files.map(({ path }) => path))),
  )
  const marked = new Set<PathBytes>()
  const records = nulRecords(attributeOutput)
  for (let at = 0; at + 2 < records.length; at += 3) {
    if (['set', 'true'].includes(records[at + 2] ?? '')) marked.add(records[at] ?? '')
  }
  return {
    commit,
    files: files.map(({ path, bytes }) => ({
      path: displayPath(path),
      bytes,
      generated: marked.has(path) || generatedNames.test(path),
    })),
  }
}

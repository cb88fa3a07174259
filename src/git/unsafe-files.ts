import { type Dirent, lstatSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { Failure } from '../kernel/failure.ts'
import { readRegular, readRegularSync, specialKind } from '../kernel/files/regular-file.ts'

/** A special file that git would open and wait for without end. */
interface Obstacle {
  readonly path: string
  readonly kind: string
}

/** The folders of a repository. */
interface GitSearchPath {
  readonly top: string
  /** The repository's own folder, and the one that linked work trees share. */
  readonly folders: readonly string[]
}

// Files that every git call opens, and that a snapshot reads.
const mainFiles = [
  'HEAD',
  'config',
  'config.worktree',
  'commondir',
  'gitdir',
  'index',
  'packed-refs',
  'shallow',
  'info/exclude',
  'info/attributes',
  'info/sparse-checkout',
  'logs/HEAD',
  'objects/info/alternates',
]

// Files that git opens in any folder of a work tree.
const treeFiles = ['.gitignore', '.gitattributes', '.gitmodules']

/** The failure for an obstacle. */
export function obstacleFailure({ path, kind }: Obstacle): Failure {
  return new Failure('UNAVAILABLE', `${path} is ${kind}, and git expects a file there.`, {
    reason: 'git_file_blocked',
    hint: `Remove ${path}, or put the file back; then call again.`,
  })
}

/** Checks the files that git opens first, before git is started. */
export function mainObstacle(folder: string): Obstacle | null {
  // Outside a repository, git checks in each parent folder for a HEAD of a bare repository.
  for (let at = folder; ; at = dirname(at)) {
    const place = gitPlaceAt(at)
    if (place !== null && 'kind' in place) return place
    if (place !== null) return firstObstacle(place.folders)
    const head = specialFileAt(join(at, 'HEAD'))
    if (head !== null) return head
    if (dirname(at) === at) return null
  }
}

/** Checks everything in the repository of a folder, and the files in its work tree that git opens. */
export async function firstObstacleAround(folder: string, isWanted: () => boolean): Promise<Obstacle | null> {
  const place = gitPlaceAround(folder)
  if (place === null) return workTreeObstacle(folder, isWanted)
  if ('kind' in place) return place
  return (await repositoryObstacle(place, isWanted)) ?? workTreeObstacle(place.top, isWanted)
}

/** Checks the attributes files above some paths, which git would open to store them. */
export function attributesObstacle(top: string, paths: readonly string[]): Obstacle | null {
  const folders = new Set<string>()
  for (const path of paths) {
    for (let at = dirname(path); !folders.has(at); at = dirname(at)) folders.add(at)
  }
  for (const folder of folders) {
    const obstacle = specialFileAt(join(top, folder, '.gitattributes'))
    if (obstacle !== null) return obstacle
  }
  return null
}

/** The repository of a folder, where its files say that it is; git may find another one. */
export function gitPlaceAround(folder: string): GitSearchPath | Obstacle | null {
  for (let at = folder; ; at = dirname(at)) {
    const place = gitPlaceAt(at)
    if (place !== null || dirname(at) === at) return place
  }
}

function gitPlaceAt(top: string): GitSearchPath | Obstacle | null {
  const entry = join(top, '.git')
  const stats = statSync(entry, { throwIfNoEntry: false })
  if (stats === undefined) return null
  if (stats.isDirectory()) return resolveCommonFolder(top, entry)
  if (!stats.isFile()) return null
  const named = /^gitdir: (.*?)\n?$/.exec(textAt(entry))?.[1]
  return named === undefined ? null : resolveCommonFolder(top, resolve(top, named))
}

function resolveCommonFolder(top: string, folder: string): GitSearchPath | Obstacle {
  const pointer = join(folder, 'commondir')
  const obstacle = specialFileAt(pointer)
  if (obstacle !== null) return obstacle
  const common = textAt(pointer).trim()
  return { top, folders: common === '' ? [folder] : [folder, resolve(folder, common)] }
}

function textAt(path: string): string {
  try {
    return readRegularSync(path).toString('utf8')
  } catch {
    return ''
  }
}

function firstObstacle(folders: readonly string[]): Obstacle | null {
  for (const folder of folders) {
    for (const name of mainFiles) {
      const obstacle = specialFileAt(join(folder, name))
      if (obstacle !== null) return obstacle
    }
  }
  return null
}

function specialFileAt(path: string): Obstacle | null {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    const kind = stats === undefined ? null : specialKind(stats)
    return kind === null ? null : { path, kind }
  } catch {
    return null
  }
}

async function repositoryObstacle(
  { folders }: GitSearchPath,
  isWanted: () => boolean,
): Promise<Obstacle | null> {
  for (const folder of folders) {
    const inside = await obstacleBelow(folder, { isWanted, concerns: () => true })
    if (inside !== null) return inside
    for (const named of await externalGitPaths(folder)) {
      const obstacle =
        specialFileAt(named) ?? (await obstacleBelow(named, { isWanted, concerns: () => true }))
      if (obstacle !== null) return obstacle
    }
  }
  return null
}

// Other repositories' objects, and files that the configuration includes or names.
async function externalGitPaths(folder: string): Promise<string[]> {
  const [alternates, configuration] = await Promise.all(
    ['objects/info/alternates', 'config'].map((name) => textOf(join(folder, name))),
  )
  const objects = (alternates ?? '').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  const paths = [
    ...(configuration ?? '').matchAll(/^[ \t]*(?:path|excludesfile|attributesfile)[ \t]*=[ \t]*(.+)$/gim),
  ]
  return [
    ...objects.map((path) => resolve(folder, 'objects', path)),
    ...paths.map(([, value = '']) => {
      const path = value.trim().replace(/^"(.*)"$/, '$1')
      return isAbsolute(path) ? path : join(folder, path)
    }),
  ]
}

async function textOf(path: string): Promise<string> {
  return readRegular(path).then(
    (content) => content.toString('utf8'),
    () => '',
  )
}

function workTreeObstacle(top: string, isWanted: () => boolean): Promise<Obstacle | null> {
  return obstacleBelow(top, { isWanted, concerns: (name) => treeFiles.includes(name), skip: '.git' })
}

interface ObstacleWalk {
  readonly isWanted: () => boolean
  readonly concerns: (name: string) => boolean
  readonly skip?: string
}

async function obstacleBelow(
  folder: string,
  { isWanted, concerns, skip }: ObstacleWalk,
): Promise<Obstacle | null> {
  const waiting = [folder]
  for (let next = waiting.shift(); next !== undefined && isWanted(); next = waiting.shift()) {
    for (const entry of await entriesOf(next)) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) {
        if (entry.name !== skip) waiting.push(path)
        else if (next !== folder) {
          // Git opens these of each folder that may be a repository.
          const obstacle = firstObstacle([path])
          if (obstacle !== null) return obstacle
        }
      } else if (!entry.isFile() && concerns(entry.name)) {
        const obstacle = specialFileAt(path)
        if (obstacle !== null) return obstacle
      }
    }
  }
  return null
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  // A path that the configuration names may be anything.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isFile() === true) return []
  return readdir(folder, { withFileTypes: true }).catch(() => [])
}

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { readRegular } from '../kernel/files/regular-file.ts'
import { removeFromState } from '../kernel/files/state-folder.ts'
import { yieldToEventLoop } from '../kernel/files/yield-to-event-loop.ts'
import { isSecretFile } from '../kernel/secret-files.ts'
import { align } from '../lines/domain/alignment.ts'
import { readBlobs } from './blobs.ts'
import { comparisonPlace } from './comparison.ts'
import { blobId } from './disk.ts'
import { PackWriter } from './pack.ts'
import { type PathBytes, pathBytes } from './paths.ts'
import type { ContentAt, FileCopies, HistoryStep, OwnLines, SnapshotRef } from './ports/work-tree.ts'
import { type PrivateDirectory, privateCall } from './private-directory.ts'
import { contentBudget, countStoredBytes } from './private-store.ts'
import { type GitEnvironment, gitEnvironment, runGit } from './process.ts'
import {
  loadState,
  type OverlayEntry,
  type RepositoryState,
  storeState,
  type WorkTreeState,
} from './recorded-state.ts'
import { headStates } from './trees.ts'

export interface CopiesOptions {
  /** Waymark's state folder, the same as the witness uses. */
  readonly stateFolder: string
  readonly environment?: NodeJS.ProcessEnv
}

/** The copies of files by hooks, stored as the contents of snapshots are. */
export function fileCopies(options: CopiesOptions): FileCopies {
  const { stateFolder } = options
  const environment = gitEnvironment(options.environment ?? process.env)
  const folder = join(stateFolder, 'snapshots')
  return {
    keep: async (place, copies) => {
      const state = await loadState(place.directory)
      if (state === null) return copies.map(() => null)
      return keepCopies(state, copies, environment)
    },
    contents: async (place, paths) => {
      const state = await loadState(place.directory)
      return state === null ? new Map() : contentsAt(state, paths, environment)
    },
    amend: async (place, name, files) => {
      const state = await loadState(place.directory)
      if (state === null) return null
      return amend(state, place, { stateFolder, directory: join(folder, name), files, environment })
    },
    linesOf: async (place, steps) => {
      const state = await loadState(place.directory)
      return state === null ? null : linesOf(copyPlace(state, environment), steps)
    },
  }
}

export function copyPlace(state: WorkTreeState, environment: GitEnvironment): PrivateDirectory {
  return comparisonPlace({ from: state, to: state }, environment)
}

/** The innermost repository that contains a path. */
export function repositoryAt({ repositories }: WorkTreeState, path: PathBytes): RepositoryState | undefined {
  return repositories
    .filter(({ prefix }) => path.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0]
}

async function keepCopies(
  state: WorkTreeState,
  copies: Parameters<FileCopies['keep']>[1],
  environment: GitEnvironment,
): Promise<readonly (string | null)[]> {
  const packs = new Map<string, PackWriter>()
  const ids: (string | null)[] = []
  const place = copyPlace(state, environment)
  for (const { path, copy } of copies) {
    const content = await readRegular(copy).catch(() => null)
    const bytes = pathBytes(path)
    const repository = repositoryAt(state, bytes)
    if (content === null || repository === undefined) {
      ids.push(null)
      continue
    }
    const inside = bytes.slice(repository.prefix.length)
    const stored = isPlain(repository)
      ? { id: blobId(state.objectFormat, content), content }
      : await convertCopy(place, { path: inside, content, objectFormat: state.objectFormat })
    ids.push(stored.id)
    const { contents } = repository
    if (contents === undefined || stored.content === null || isSecretFile(path)) continue
    const pack = packs.get(contents) ?? packIn(contents, state.objectFormat)
    if (pack === null) continue
    packs.set(contents, pack)
    await pack.add({ type: 'blob', content: stored.content })
  }
  for (const pack of packs.values()) await pack.close()
  return ids
}

function packIn(contents: string, objectFormat: string): PackWriter | null {
  return countStoredBytes(contents) < contentBudget ? new PackWriter(contents, objectFormat) : null
}

const noAttributes = createHash('sha256').digest('hex')

/** Whether git stores a file unchanged. */
function isPlain({ settings = {}, attributes }: RepositoryState): boolean {
  const endings = settings['core.autocrlf'] ?? 'false'
  const named = ['core.attributesfile', 'info/attributes', "the user's attributes"].some(
    (key) => settings[key] !== undefined,
  )
  return endings === 'false' && !named && (attributes === undefined || attributes === noAttributes)
}

interface StoredCopy {
  readonly id: string
  /** Null if only the id of the stored content is known. */
  readonly content: Buffer | null
}

async function convertCopy(
  place: PrivateDirectory,
  { path, content, objectFormat }: { path: PathBytes; content: Buffer; objectFormat: string },
): Promise<StoredCopy> {
  const plain = { id: blobId(objectFormat, content), content }
  const question = ['hash-object', '--stdin', `--path=${Buffer.from(path, 'latin1').toString('utf8')}`]
  const answered = await runGit(question, privateCall(place, content))
  const id = answered.output.toString('latin1').trim()
  if (answered.code !== 0 || id === plain.id) return plain
  const unix = Buffer.from(content.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
  return { id, content: blobId(objectFormat, unix) === id ? unix : null }
}

async function contentsAt(
  state: WorkTreeState,
  paths: readonly string[],
  environment: GitEnvironment,
): Promise<ReadonlyMap<string, ContentAt>> {
  const contents = new Map<string, ContentAt>()
  const asCommitted = new Map<RepositoryState, string[]>()
  for (const path of paths) {
    const bytes = pathBytes(path)
    const repository = repositoryAt(state, bytes)
    if (repository === undefined) continue
    const inside = bytes.slice(repository.prefix.length)
    const entry = repository.overlay.get(inside)
    if (entry === undefined) {
      const ignored = repository.ignoredFiles.get(inside)
      if (ignored === undefined) asCommitted.set(repository, [...(asCommitted.get(repository) ?? []), path])
      else contents.set(path, { id: ignored.oid ?? undefined, changedAt: ignored.stat.changed })
      continue
    }
    const { disk, uncertain } = entry
    const id = disk === null ? null : uncertain === undefined ? (disk.oid ?? undefined) : undefined
    contents.set(path, { id, changedAt: disk?.stat?.changed ?? null })
  }
  const place = copyPlace(state, environment)
  for (const [repository, some] of asCommitted) {
    const heads = await headsOf(place, repository, some)
    for (const path of some) contents.set(path, { id: heads.get(path)?.oid ?? null, changedAt: null })
  }
  return contents
}

/** The states of some paths in HEAD, by the whole paths. */
export async function headsOf(
  place: PrivateDirectory,
  repository: RepositoryState,
  paths: readonly string[],
) {
  const { head, tree, prefix } = repository
  if (head === null) return new Map<string, { readonly mode: string; readonly oid: string }>()
  const inside = new Map(paths.map((path) => [pathBytes(path).slice(prefix.length), path]))
  const states = await headStates(place, { head: { commit: head, tree } }, [...inside.keys()])
  return new Map(
    [...states].flatMap(([path, one]) => {
      const whole = inside.get(path)
      return whole === undefined ? [] : [[whole, one] as const]
    }),
  )
}

interface CopyAmendment {
  readonly stateFolder: string
  readonly directory: string
  readonly files: ReadonlyMap<string, string | null>
  readonly environment: GitEnvironment
}

/** A separate directory, kept as long as something refers to it. */
async function amend(
  state: WorkTreeState,
  place: SnapshotRef,
  { stateFolder, directory, files, environment }: CopyAmendment,
): Promise<SnapshotRef> {
  if (existsSync(directory)) removeFromState(stateFolder, directory)
  await cp(place.directory, directory, {
    recursive: true,
    filter: (path) => !path.endsWith('snapshot.json'),
  })
  const at = copyPlace(state, environment)
  const repositories: RepositoryState[] = []
  for (const repository of state.repositories) {
    const own = [...files].filter(([path]) => repositoryAt(state, pathBytes(path)) === repository)
    const heads = await headsOf(
      at,
      repository,
      own.map(([path]) => path),
    )
    const overlay = new Map(repository.overlay)
    for (const [path, oid] of own) {
      const inside = pathBytes(path).slice(repository.prefix.length)
      const before = overlay.get(inside)
      const head = before === undefined ? (heads.get(path) ?? null) : before.head
      const mode = before?.disk?.mode ?? head?.mode ?? '100644'
      overlay.set(inside, {
        head,
        disk: oid === null ? null : { mode, oid },
        tracked: before?.tracked ?? head !== null,
        staged: false,
        ...stagedIndex(before, oid),
      })
    }
    repositories.push({
      ...repository,
      overlay,
      directory: repository.directory.replace(place.directory, directory),
    })
  }
  storeState(directory, { ...state, repositories })
  return { ...place, directory }
}

/** The content in the index, if the disk has another. */
function stagedIndex(before: OverlayEntry | undefined, oid: string | null): { readonly index?: string } {
  const index = before?.staged ? before.disk?.oid : before?.index
  return index == null || index === oid ? {} : { index }
}

const maxLines = 20_000

/** Follows each line of a file through the steps, to find who added the remaining lines and who removed the others. */
async function linesOf(
  place: PrivateDirectory,
  steps: readonly HistoryStep[],
): Promise<ReadonlyMap<string, OwnLines> | null> {
  const [first] = steps
  if (first === undefined) return new Map()
  const ids = [...new Set(steps.flatMap(({ before, after }) => [before, after]).filter((id) => id !== null))]
  const contents = await readBlobs(place, ids)
  const textOf = (id: string | null): readonly string[] | null => {
    if (id === null) return []
    const content = contents.get(id)
    return content === undefined || content.includes(0) ? null : linesIn(content)
  }
  const start = textOf(first.before)
  if (start === null || start.length > maxLines) return null
  const deleted = new Map<string, number>()
  let lines: readonly Owned[] = start.map((text) => ({ text, author: null }))
  for (const { author, after, reformats } of steps) {
    const next = textOf(after)
    if (next === null || next.length > maxLines) return null
    const comparable = (text: string) => (reformats ? withoutSpace(text) : text)
    const now: Owned[] = next.map((text) => ({ text, author }))
    const places = align(
      lines.map(({ text }) => comparable(text)),
      next.map(comparable),
    )
    for (const [at, line] of lines.entries()) {
      const to = places[at] ?? -1
      if (to >= 0) now[to] = { text: next[to] ?? line.text, author: line.author }
      // Only removed lines of the first state count; lines that were added meanwhile do not.
      else deleted.set(author, (deleted.get(author) ?? 0) + (line.author === null ? 1 : 0))
    }
    lines = now
    await yieldToEventLoop()
  }
  const authors = new Set(steps.map(({ author }) => author))
  return new Map(
    [...authors].map((author) => [
      author,
      { added: lines.filter((line) => line.author === author).length, deleted: deleted.get(author) ?? 0 },
    ]),
  )
}

function withoutSpace(text: string): string {
  return text.replace(/\s+/g, '')
}

interface Owned {
  readonly text: string
  readonly author: string | null
}

/** Splits into lines with their line feeds: as in git, a last line without one differs. */
function linesIn(content: Buffer): readonly string[] {
  return content.length === 0 ? [] : content.toString('latin1').split(/(?<=\n)/)
}

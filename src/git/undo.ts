import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemWith } from '../kernel/files/contained-file.ts'
import {
  type PendingMerge,
  planFileUndo,
  type UndoDecision,
  type UndoneFile,
  type UndoVersion,
} from '../lines/domain/undo-file.ts'
import { diffContents, type PathChange } from './diff.ts'
import { blobId } from './disk.ts'
import { type HistoryLookup, historyLookups } from './line-history.ts'
import { PackWriter } from './pack.ts'
import { displayPath, nulInput, nulRecords, pathBytes } from './paths.ts'
import type {
  FileState,
  SnapshotContents,
  UndoneWindow,
  UndoPlan,
  UndoRequest,
  WorkTreeWitness,
  WorkUndo,
} from './ports/work-tree.ts'
import { privateCall } from './private-directory.ts'
import { git, gitEnvironment, gitFault, runGit } from './process.ts'
import { type FileWrite, readPresent, writeFiles } from './write-tree.ts'

export interface UndoOptions {
  /** Waymark's state folder, the same as the witness uses. */
  readonly stateFolder: () => string
  readonly environment?: NodeJS.ProcessEnv
  readonly witness: Pick<WorkTreeWitness, 'changes' | 'contents'>
}

/** Files over this size are neither merged nor shown. */
const maxBytes = 5_000_000

/** Undoes work in a work tree. */
export function workUndo({ stateFolder, environment, witness }: UndoOptions): WorkUndo {
  const withLookup = historyLookups({
    environment: gitEnvironment(environment ?? process.env),
    directory: () => {
      const folder = join(stateFolder(), 'snapshots')
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      return mkdtempSync(join(folder, 'undo-'))
    },
  })
  const planUndo = (request: UndoRequest) =>
    withLookup(request.folder, (lookup) => planUndoing(lookup, request, witness))
  return {
    plan: async (request) => (await planUndo(request)).plan,
    apply: async (request, hash) => {
      const { plan, writes } = await planUndo(request)
      if (plan.hash !== hash) return null
      const { written, refused } = await writeFiles(plan.top, writes)
      return {
        ...plan,
        written,
        refused: refused.map(({ path, refusal }) => ({ path, problem: problemWith(refusal) })),
      }
    },
  }
}

interface PlannedUndo {
  readonly plan: UndoPlan
  readonly writes: readonly FileWrite[]
}

/** Decides what an undo writes into a work tree. */
async function planUndoing(
  lookup: HistoryLookup,
  { windows, now, marks }: UndoRequest,
  { changes, contents }: UndoOptions['witness'],
): Promise<PlannedUndo> {
  const files = new FilesNow(lookup)
  const plan: Mutable<Pick<UndoPlan, 'conflicts' | 'stays' | 'missing'>> = {
    conflicts: [],
    stays: [],
    missing: 0,
  }
  for (const window of windows) {
    const states = await statesOf(window, contents)
    if (states === null) {
      plan.missing += 1
      continue
    }
    const report = await changes(window.to, now)
    const renames = new Map(
      report.changes.flatMap(({ path, from }) => (from === undefined ? [] : [[from, path] as const])),
    )
    const conversions = await files.conversionsOf(window.files.flatMap(({ path, from }) => [path, from]))
    for (const file of window.files) {
      const path = files.nameNow(file, renames)
      const { end, start } = states.of(file.path, file.from)
      const planned = planFileUndo(file, {
        start,
        end,
        now: files.at(path),
        path,
        atStart: files.at(file.from),
        endings: await files.endingsOf(end === null ? file.from : path, conversions),
        contentOf: states.contentOf,
      })
      const decided: MergedDecision =
        planned.is === 'merge' ? await mergedDecision(lookup, planned, marks) : planned
      for (const { reason, lines } of staysOf(decided)) plan.stays.push({ path, reason, lines })
      if (decided.is === 'conflict') plan.conflicts.push({ path, reason: decided.reason, isMarked: false })
      if (decided.is !== 'write') continue
      if (decided.isMarked)
        plan.conflicts.push({ path: decided.path, reason: 'lines_changed', isMarked: true })
      if (decided.removes !== null) files.put(decided.removes, null)
      const version = decided.isStored
        ? await checkedOut(lookup, decided.path, decided.version, conversions)
        : decided.version
      files.put(decided.path, version, path)
    }
  }
  const marked = new Set(plan.conflicts.flatMap(({ path, isMarked }) => (isMarked ? [path] : [])))
  const changed = files.changes()
  return {
    writes: changed.map(writeOf),
    plan: {
      ...plan,
      top: lookup.repository.top,
      files: changed.map(({ path, before, after }) => ({
        path,
        action: after === null ? 'removed' : before.version === null ? 'restored' : 'changed',
        ...(marked.has(path) && { marked: true }),
      })),
      diff: await diffOf(lookup, changed),
      hash: createHash('sha256').update(JSON.stringify(changed)).digest('hex'),
    },
  }
}

type Mutable<Type> = {
  -readonly [Key in keyof Type]: Type[Key] extends readonly (infer Item)[] ? Item[] : Type[Key]
}

function staysOf(decided: UndoDecision) {
  return decided.is === 'write' || decided.is === 'stays' ? decided.stays : []
}

type MergedDecision = UndoDecision & { readonly isMarked?: boolean }

/** Merges with git. A conflict is only written with its marks where that was wanted. */
async function mergedDecision(
  lookup: HistoryLookup,
  merge: PendingMerge,
  marks: UndoRequest['marks'],
): Promise<MergedDecision> {
  const { content, isClean } = await mergeFiles(lookup, merge, marks)
  const decided = merge.decide(isClean ? content : null)
  if (decided.is !== 'conflict' || decided.reason !== 'lines_changed' || marks === null) return decided
  return { ...merge.markContent(content), isMarked: true }
}

async function mergeFiles(
  { place }: HistoryLookup,
  { base, ours, theirs }: PendingMerge,
  marks: UndoRequest['marks'],
): Promise<{ readonly content: string; readonly isClean: boolean }> {
  if (ours === base) return { content: theirs, isClean: true }
  const names = Object.entries({ ours, base, theirs }).map(([name, content]) => {
    const file = join(place.directory, `merge-${name}`)
    writeFileSync(file, content, { encoding: 'latin1', mode: 0o600 })
    return file
  })
  const labels = [marks?.now ?? 'now', marks?.base ?? 'base', marks?.undone ?? 'undone']
  const question = ['merge-file', '-p', ...labels.flatMap((label) => ['-L', label]), ...names]
  const call = privateCall(place)
  const merged = await runGit(question, call)
  // The code is the number of conflicts, at most 127.
  if (merged.code > 127) throw gitFault(question, merged, call)
  return { content: merged.output.toString('latin1'), isClean: merged.code === 0 }
}

interface WindowStates {
  readonly of: (path: string, from: string) => Record<'start' | 'end', UndoVersion | null | undefined>
  readonly contentOf: (id: string) => string | null
}

async function statesOf(
  { from, to, files }: UndoneWindow,
  contents: SnapshotContents,
): Promise<WindowStates | null> {
  const [starts, ends] = await Promise.all([
    contents.states(
      from,
      files.map((file) => file.from),
    ),
    contents.states(
      to,
      files.map((file) => file.path),
    ),
  ])
  if (starts === null || ends === null) return null
  const ids = [
    ...[...starts.values(), ...ends.values()].map((state) => state?.id ?? null),
    ...files.flatMap(({ steps }) => steps?.map(({ after }) => after) ?? []),
  ]
  const bytes = await contents.read([from, to], [...new Set(ids.filter((id) => id !== null))], maxBytes)
  const contentOf = (id: string) => {
    const found = bytes.get(id)?.bytes
    return found ? Buffer.from(found).toString('latin1') : null
  }
  const versionOf = (state: FileState | null | undefined): UndoVersion | null | undefined => {
    if (!state) return state
    return { mode: state.mode, content: state.id === null ? null : contentOf(state.id) }
  }
  return {
    of: (path, old) => ({ start: versionOf(starts.get(old)), end: versionOf(ends.get(path)) }),
    contentOf,
  }
}

/** The files of a work tree as an undo leaves them so far. */
class FilesNow {
  readonly #lookup: HistoryLookup
  readonly #before = new Map<string, VersionOnDisk>()
  readonly #after = new Map<string, UndoVersion | null>()
  readonly #names = new Map<string, string>()

  constructor(lookup: HistoryLookup) {
    this.#lookup = lookup
  }

  at(path: string): UndoVersion | null {
    const known = this.#after.get(path)
    if (known !== undefined) return known
    const found = versionOnDisk(this.#lookup.repository.top, path)
    this.#before.set(path, found)
    this.#after.set(path, found.version)
    return found.version
  }

  put(path: string, version: UndoVersion | null, name = path): void {
    this.at(path)
    this.#after.set(path, version)
    if (name !== path) this.#names.set(name, path)
  }

  /** The present path of a file: others may have renamed it, and so may what was already undone. */
  nameNow(
    { path, pathNow }: Pick<UndoneFile, 'path' | 'pathNow'>,
    renames: ReadonlyMap<string, string>,
  ): string {
    if (this.at(path) !== null) return path
    const renamed = [renames.get(path), pathNow].filter((name) => name !== undefined)
    const candidates = [this.#names.get(path), ...renamed, ...renamed.map((name) => this.#names.get(name))]
    return candidates.find((name) => name !== undefined && this.at(name) !== null) ?? path
  }

  /** The files that are other ones than on disk. */
  changes(): readonly UndoChange[] {
    return [...this.#after]
      .flatMap(([path, after]) => {
        const before = this.#before.get(path) ?? noFile
        const isSame = before.version?.mode === after?.mode && before.version?.content === after?.content
        return isSame ? [] : [{ path, before, after }]
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1))
  }

  /** The paths whose bytes on disk may differ from those that git stores, by their attributes and settings. */
  async conversionsOf(paths: readonly string[]): Promise<ReadonlyMap<string, StoredForm>> {
    const { place } = this.#lookup
    const unique = [...new Set(paths)].map(pathBytes)
    const question = ['check-attr', '-z', '--stdin', ...Object.keys(formOfAttribute)]
    const records = nulRecords(await git(question, privateCall(place, nulInput(unique))))
    const endings = await runGit(['config', '--get', 'core.autocrlf'], privateCall(place))
    const isEverywhere = !['', 'false'].includes(endings.output.toString('latin1').trim())
    const found = new Map<string, StoredForm>()
    if (isEverywhere) for (const path of unique) found.set(displayPath(path), 'endings')
    for (let at = 0; at + 2 < records.length; at += 3) {
      const [path = '', name = '', value = ''] = records.slice(at, at + 3)
      const form = value === 'unspecified' || value === 'unset' ? undefined : formOfAttribute[name]
      const known = found.get(displayPath(path))
      if (form !== undefined && (known === undefined || known === 'endings' || form === 'filter'))
        found.set(displayPath(path), form)
    }
    return found
  }

  /** How the bytes on disk differ from those that git stores. */
  async endingsOf(
    path: string,
    conversions: ReadonlyMap<string, StoredForm>,
  ): Promise<'crlf' | 'other' | null> {
    const conversion = conversions.get(path)
    const version = this.at(path)
    if (conversion === 'filter') return 'other'
    if (conversion === undefined || version?.content == null || !version.mode.startsWith('100')) return null
    // Only a carriage return may be stored in another way.
    if (conversion === 'endings' && !version.content.includes('\r')) return null
    const { place, repository } = this.#lookup
    const bytes = Buffer.from(version.content, 'latin1')
    const question = ['hash-object', '--stdin', `--path=${path}`]
    const stored = (await git(question, privateCall(place, bytes))).toString('latin1').trim()
    const idOf = (content: Buffer) => blobId(repository.objectFormat, content)
    if (stored === idOf(bytes)) return null
    const unix = Buffer.from(version.content.replaceAll('\r\n', '\n'), 'latin1')
    return stored === idOf(unix) ? 'crlf' : 'other'
  }
}

/** What may make the bytes that git stores other ones than those on disk. */
type StoredForm = 'endings' | 'encoding' | 'filter'

// A filter says more than an encoding, and that more than line endings.
const formOfAttribute: Readonly<Record<string, StoredForm>> = {
  text: 'endings',
  eol: 'endings',
  crlf: 'endings',
  ident: 'encoding',
  'working-tree-encoding': 'encoding',
  filter: 'filter',
}

interface VersionOnDisk {
  readonly version: UndoVersion | null
  /** By which a later write recognizes it; null for no file. */
  readonly expected: string | null
}

interface UndoChange {
  readonly path: string
  readonly before: VersionOnDisk
  readonly after: UndoVersion | null
}

const noFile: VersionOnDisk = { version: null, expected: null }

function versionOnDisk(top: string, path: string): VersionOnDisk {
  const present = readPresent(top, path, maxBytes)
  if (present === null) return noFile
  if ('reason' in present) return { version: unknownVersion, expected: null }
  const { mode, hash, content } = present
  return { version: { mode, content: content?.toString('latin1') ?? null }, expected: hash }
}

function writeOf({ path, before: { expected }, after }: UndoChange): FileWrite {
  if (after === null) return { path, entry: null, expected }
  const mode = after.mode === '120000' || after.mode === '100755' ? after.mode : '100644'
  return { path, entry: { mode, content: Buffer.from(after.content ?? '', 'latin1') }, expected }
}

/** What is at a path that is no file or link of this work tree: its content is unknown. */
const unknownVersion: UndoVersion = { mode: '040000', content: null }

/** A file as git would check it out, if its line endings or its encoding are converted. No filter is run. */
async function checkedOut(
  { place, repository }: HistoryLookup,
  path: string,
  version: UndoVersion | null,
  conversions: ReadonlyMap<string, StoredForm>,
): Promise<UndoVersion | null> {
  if (version?.content == null || !version.mode.startsWith('100') || !conversions.has(path)) return version
  const pack = new PackWriter(join(place.directory, 'objects'), repository.objectFormat)
  const oid = await pack.add({ type: 'blob', content: Buffer.from(version.content, 'latin1') })
  await pack.close()
  const content = await git(['cat-file', '--filters', `--path=${path}`, oid], privateCall(place))
  return { ...version, content: content.toString('latin1') }
}

/** The unified diff of what is written. */
async function diffOf({ place, repository }: HistoryLookup, changed: readonly UndoChange[]): Promise<string> {
  if (changed.length === 0) return ''
  const pack = new PackWriter(join(place.directory, 'objects'), repository.objectFormat)
  const stateOf = async (version: UndoVersion | null) => {
    if (version === null || version.content === null) return null
    const content = Buffer.from(version.content, 'latin1')
    return { mode: version.mode, oid: await pack.add({ type: 'blob', content }) }
  }
  const changes: PathChange[] = []
  for (const { path, before, after } of changed) {
    changes.push({
      path: pathBytes(path),
      before: await stateOf(before.version),
      after: await stateOf(after),
    })
  }
  await pack.close()
  const diff = await diffContents(place, changes, ['-p', '--no-color'])
  return diff?.output.toString('utf8') ?? ''
}

import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { errorCode, Failure, messageOf } from '../../kernel/failure.ts'
import { isWithin, reachedPath } from '../../kernel/files/contained-file.ts'
import { readRegularSync } from '../../kernel/files/regular-file.ts'
import { fileHash, type SetupChange } from './edit/edit-file.ts'
import { isBare, type PlannedFile } from './plan-setup.ts'

/** The changes to a file and its content before: enough to undo them later. */
export interface FileRecord {
  /** The path as the client names it; `target` has links resolved. */
  readonly file: string
  readonly target: string
  /** The bytes without our changes, in base64; null where there was no file. */
  readonly before: string | null
  readonly beforeHash: string | null
  readonly afterHash: string
  /** Folders that were made for it, the innermost first. */
  readonly folders: readonly string[]
  /** Holds the new bytes until it is renamed. */
  readonly temporary: string
  readonly changes: readonly SetupChange[]
}

/** The files of this machine, each read once. */
export class Disk {
  readonly #read = new Map<string, FileReadResult>()

  /** The text without its byte order mark; null where there is no such file, or none that could be read. */
  read = (file: string): string | null => {
    const { text } = this.#readOnce(file)
    return text
  }

  fault = (file: string): string | null => this.#readOnce(file).fault

  /** The bytes as they were read. */
  bytes = (file: string): Buffer | null => this.#readOnce(file).bytes

  expand = (pattern: string): readonly string[] => {
    const [before = '', after = ''] = basename(pattern).split('*')
    try {
      return readdirSync(dirname(pattern))
        .filter((name) => name.startsWith(before) && name.endsWith(after))
        .map((name) => join(dirname(pattern), name))
    } catch {
      return []
    }
  }

  exists = (path: string): boolean => {
    try {
      return statSync(path, { throwIfNoEntry: false }) !== undefined
    } catch {
      return false
    }
  }

  #readOnce(file: string): FileReadResult {
    const result = this.#read.get(file) ?? inspectFile(file)
    this.#read.set(file, result)
    return result
  }
}

interface FileReadResult {
  readonly bytes: Buffer | null
  readonly text: string | null
  readonly fault: string | null
}

const mark = '\uFEFF'

function inspectFile(file: string): FileReadResult {
  try {
    const bytes = readRegularSync(file)
    const text = utf8Text(bytes)
    return text === null ? { bytes, text, fault: 'it is not UTF-8 text' } : { bytes, text, fault: null }
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { bytes: null, text: null, fault: null }
    return { bytes: null, text: null, fault: `it cannot be read (${code ?? messageOf(error)})` }
  }
}

/** Null for bytes that are not UTF-8. */
export function utf8Text(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Writes to the file system; a test passes one that fails. */
export interface DiskWriter {
  write(path: string, bytes: Uint8Array, mode: number): void
  rename(from: string, to: string): void
}

export const writer: DiskWriter = {
  write(path, bytes, mode) {
    const file = openSync(path, 'wx', mode)
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      fchmodSync(file, mode) // whatever the umask is
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
  },
  rename: renameSync,
}

export interface ApplyContext {
  /** The project's folder: a link in it may not lead out of it. */
  readonly project: string
  readonly disk: Disk
  readonly writer: DiskWriter
  readonly recordOf: (file: string) => FileRecord | null
  /** Keeps these records, and removes those of the forgotten files. */
  readonly keep: (records: readonly FileRecord[], forgotten: readonly string[]) => void
}

interface WriteStep {
  readonly planned: PlannedFile
  readonly target: string
  /** The target without links: another one later means that a folder was swapped. */
  readonly real: string
  readonly bytes: Buffer | null
  readonly after: Buffer | null
  readonly mode: number
  readonly temporary: string
  readonly folders: readonly string[]
}

/**
 * Writes planned files, all of them or none: first all temporaries, then the undo records, then the renames.
 * Fails with CONFLICT where a file changed since it was read, with UNAVAILABLE where the disk does not take them.
 */
export function applyPlan(files: readonly PlannedFile[], context: ApplyContext): void {
  const changed = files.filter(({ before, text }) => before !== text)
  const steps = changed.map((planned) => stepFor(planned, context))
  const earlier = files.flatMap(({ file }) => context.recordOf(file) ?? [])
  const madeFolders: string[] = []
  const done: WriteStep[] = []
  try {
    for (const step of steps) {
      assertUnchanged(step)
      for (const folder of step.folders.toReversed()) {
        if (statSync(folder, { throwIfNoEntry: false })) continue
        mkdirSync(folder)
        madeFolders.push(folder)
      }
      if (step.after !== null) context.writer.write(step.temporary, step.after, step.mode)
    }
    const records = files.flatMap((planned) => recordFor(planned, steps, context) ?? [])
    const forgotten = files
      .map(({ file }) => file)
      .filter((file) => !records.some((one) => one.file === file))
    context.keep([...records, ...earlier.filter(({ file }) => forgotten.includes(file))], [])
    for (const step of steps) {
      assertUnchanged(step)
      if (step.after === null) rmSync(step.target)
      else context.writer.rename(step.temporary, step.target)
      done.push(step)
    }
    for (const record of earlier) rmSync(record.temporary, { force: true })
    for (const { file } of files.filter(({ text }) => text === null)) removeEmpty(earlier, file)
    context.keep(records, forgotten)
  } catch (error) {
    const unrestored = restoreSteps(done)
    for (const { temporary } of steps) rmSync(temporary, { force: true })
    for (const folder of madeFolders.toReversed()) removeIfEmpty(folder)
    const recorded = earlier.map(({ file }) => file)
    context.keep(
      earlier,
      files.map(({ file }) => file).filter((file) => !recorded.includes(file)),
    )
    if (error instanceof Failure) throw error
    const what =
      unrestored.length === 0 ? 'Nothing was changed' : `${unrestored.join(' and ')} could not be put back`
    // The message names the file, not its temporary.
    const why = steps.reduce((text, step) => text.replaceAll(step.temporary, step.target), messageOf(error))
    throw new Failure('UNAVAILABLE', `The files could not be written: ${why}. ${what}.`, {
      reason: 'file_not_writable',
      hint: 'Make room or make the files writable, then run the same command again.',
      cause: error,
    })
  }
}

interface WriteObstacle {
  readonly reason: string
  readonly says: string
  readonly hint: string
}

/** The first reason why planned files cannot be written; null where none shows beforehand. */
export function firstFileObstacle(files: readonly PlannedFile[], project: string): WriteObstacle | null {
  const changed = files.filter(({ before, text }) => before !== text)
  return changed.map(({ file }) => fileObstacle(file, project)).find((obstacle) => obstacle !== null) ?? null
}

/** Fails with UNAVAILABLE if there is one. */
export function refuseObstacle(obstacle: WriteObstacle | null): void {
  if (obstacle)
    throw new Failure('UNAVAILABLE', `${obstacle.says}: nothing was written.`, {
      reason: obstacle.reason,
      hint: obstacle.hint,
    })
}

function fileObstacle(file: string, project: string): WriteObstacle | null {
  const target = targetOf(file)
  if (isWithin(project, file) && !isWithin(realOf(project), realOf(target))) {
    const says = `${file} is a link that leads out of the project, to ${target}`
    return {
      reason: 'link_out_of_project',
      says,
      hint: 'Replace the link by a file, then run the same command again.',
    }
  }
  const stats = entryAt(target)
  const hint = 'Make it writable, then run the same command again.'
  if (stats && (stats.mode & 0o222) === 0)
    return { reason: 'file_not_writable', says: `${file} is read-only`, hint }
  const folder = nearestExistingFolder(dirname(target))
  if (!entryAt(folder)?.isDirectory()) {
    const says = `${folder} is not a folder, and ${file} belongs below it`
    return { reason: 'not_a_folder', says, hint: 'Move it away, then run the same command again.' }
  }
  try {
    accessSync(folder, constants.W_OK)
    return null
  } catch {
    return { reason: 'folder_not_writable', says: `${folder} cannot be written`, hint }
  }
}

function nearestExistingFolder(folder: string): string {
  return entryAt(folder) || dirname(folder) === folder ? folder : nearestExistingFolder(dirname(folder))
}

function entryAt(path: string, ask: typeof statSync = statSync): Stats | undefined {
  try {
    return ask(path, { throwIfNoEntry: false })
  } catch {
    return undefined // a file where a folder should be: the walk upwards meets it
  }
}

function stepFor(planned: PlannedFile, { disk, project }: ApplyContext): WriteStep {
  const target = targetOf(planned.file)
  const bytes = disk.bytes(planned.file)
  const stats = bytes === null ? undefined : entryAt(target)
  refuseObstacle(fileObstacle(planned.file, project))
  const mode = stats ? stats.mode & 0o777 : planned.executable ? 0o755 : 0o644
  return {
    planned,
    target,
    real: realOf(target),
    bytes,
    after: planned.text === null ? null : keepByteOrderMark(planned.text, bytes),
    mode: planned.executable ? mode | 0o111 : mode,
    temporary: join(dirname(target), `${basename(target)}.waymark-${randomBytes(4).toString('hex')}`),
    folders: missingFolders(dirname(target)),
  }
}

/** Keeps the byte order mark that the file began with. */
function keepByteOrderMark(text: string, bytes: Buffer | null): Buffer {
  const isMarked = bytes?.subarray(0, 3).equals(Buffer.from(mark)) === true
  return Buffer.from((isMarked ? mark : '') + text)
}

/** The final target of a link, which may not exist. */
function targetOf(file: string): string {
  try {
    return realpathSync.native(file)
  } catch {
    const link = entryAt(file, lstatSync)
    return link?.isSymbolicLink() ? targetOf(resolve(dirname(file), readlinkSync(file))) : file
  }
}

/** Resolves links as far as the path exists. */
function realOf(path: string): string {
  const real = reachedPath(path)
  return typeof real === 'string' ? real : path
}

function missingFolders(folder: string): readonly string[] {
  if (statSync(folder, { throwIfNoEntry: false }) || dirname(folder) === folder) return []
  return [folder, ...missingFolders(dirname(folder))]
}

function assertUnchanged({ planned, real, bytes }: WriteStep): void {
  const now = inspectFile(planned.file).bytes
  if (realOf(targetOf(planned.file)) !== real) throw fileChangedFailure(planned)
  if (now === null ? bytes === null : bytes?.equals(now) === true) return
  throw fileChangedFailure(planned)
}

function fileChangedFailure({ file }: PlannedFile): Failure {
  return new Failure('CONFLICT', `${file} changed meanwhile. Nothing was written.`, {
    reason: 'file_changed',
    hint: 'Run the same command again: it reads the file again.',
  })
}

function recordFor(
  planned: PlannedFile,
  steps: readonly WriteStep[],
  context: ApplyContext,
): FileRecord | null {
  const { file, changes } = planned
  const record = context.recordOf(file)
  if (changes.length === 0) return null
  const step = steps.find((one) => one.planned === planned)
  if (!step) return record && { ...record, changes }
  const isUnchanged = record !== null && step.bytes !== null && record.afterHash === fileHash(step.bytes)
  const before = isUnchanged ? record.before : withoutUs(planned, step.bytes, record)
  return {
    file,
    target: step.target,
    before,
    beforeHash: before === null ? null : fileHash(Buffer.from(before, 'base64')),
    afterHash: fileHash(step.after ?? ''),
    folders: [...step.folders, ...(record?.folders ?? [])],
    temporary: step.temporary,
    changes,
  }
}

/** The file as if setup had never touched it, in base64; null where nobody else wrote into it. */
function withoutUs({ without }: PlannedFile, bytes: Buffer | null, record: FileRecord | null): string | null {
  if (without === null || (record?.before === null && isBare(without))) return null
  return keepByteOrderMark(without, bytes).toString('base64')
}

/** Restores the files before their renames. Returns those that could not be restored. */
function restoreSteps(done: readonly WriteStep[]): readonly string[] {
  const unrestored: string[] = []
  for (const { target, bytes, mode, temporary } of done.toReversed()) {
    try {
      if (bytes === null) rmSync(target, { force: true })
      else {
        writer.write(temporary, bytes, mode)
        writer.rename(temporary, target)
      }
    } catch {
      unrestored.push(target)
    }
  }
  return unrestored
}

function removeEmpty(records: readonly FileRecord[], file: string): void {
  for (const folder of records.find((record) => record.file === file)?.folders ?? []) removeIfEmpty(folder)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {} // there is something else in it, or it is gone already
}

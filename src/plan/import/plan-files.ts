import { type FileHandle, readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { errorCode, Failure, messageOf } from '../../kernel/failure.ts'
import {
  containedPath,
  openContainedFile,
  pathFailure,
  readContained,
} from '../../kernel/files/contained-file.ts'
import { openRegular, readRegular, specialKind } from '../../kernel/files/regular-file.ts'
import { excerpt } from '../../kernel/text.ts'
import type { LoadedPlan, PlanFiles, PlanFormat } from '../../project/ports/project-files.ts'
import type { PlanDocument } from '../domain/document.ts'
import { readBacklog } from './backlog.ts'
import { fileLines } from './file-lines.ts'
import type { ImportResult, SourceText } from './import-result.ts'
import { readPlan } from './read-plan.ts'
import { readTaskman } from './taskman.ts'

/** The size limit of a plan file, in bytes. */
const largest = 200_000_000
/** The size limit of a plan's text, in bytes: a database may be larger. */
const maxPlanBytes = 20_000_000
const maxFiles = 20_000

/** System errors for a missing file. */
const missing = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'])

/** Sentences for system errors. */
const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it is no longer there',
  EACCES: 'you may not read it',
  EPERM: 'you may not read it',
  EISDIR: 'it is a folder',
  ELOOP: 'it is a link that leads to itself',
}

/** Reads plan files; relative paths start at the given folder. Confined, no path leaves it. */
export function planFiles(folder: string, confinedTo: string | null): PlanFiles {
  return {
    load: async (path, format) => {
      const named = resolve(folder, path)
      const place = confinedTo === null ? named : containedPlanPath(confinedTo, { path, named })
      const found = await stat(place).catch((error: unknown) => {
        const code = errorCode(error) ?? messageOf(error)
        if (!missing.has(code)) throw unreadablePlanFailure(path, code)
        throw new Failure('NOT_FOUND', `There is no file ${excerpt(path, 200)}.`, {
          reason: 'file_not_found',
          hint: `Waymark looked for it at ${excerpt(place, 200)}.`,
        })
      })
      const special = specialKind(found)
      if (special !== null) {
        throw new Failure('INVALID_INPUT', `${path} is ${special}, not a file.`, {
          reason: 'not_a_file',
          hint: 'Write the plan to a file and import that.',
        })
      }
      const reading = readerWithin(confinedTo)
      if (found.isDirectory()) return loadFolder(place, format, reading)
      const opening = () => openWithin(confinedTo, place)
      if (format === 'log' || (format === undefined && (await beginsAsLog(place, opening))))
        return { kind: 'log', lines: logLines(place, opening) }
      if (found.size > largest) {
        throw new Failure(
          'INVALID_INPUT',
          `The file ${path} has ${found.size} bytes; at most ${largest} are read.`,
          { reason: 'file_too_large' },
        )
      }
      return loadFile(place, format, reading)
    },
  }
}

function containedPlanPath(
  confinedTo: string,
  { path, named }: { readonly path: string; readonly named: string },
): string {
  const place = containedPath(confinedTo, named)
  if ('reason' in place) throw pathFailure(path, place)
  return place.absolute
}

type FileLoader = (file: string) => Promise<Buffer>

/** Opens the file without following links, since it may have been replaced since the check. */
function readerWithin(confinedTo: string | null): FileLoader {
  if (confinedTo === null) return readRegular
  return async (file) => {
    const read = await readContained(confinedTo, file, { maxBytes: largest })
    if ('reason' in read) throw pathFailure(file, read)
    return read.content
  }
}

async function openWithin(confinedTo: string | null, file: string): Promise<FileHandle> {
  if (confinedTo === null) return openRegular(file)
  const opened = await openContainedFile(confinedTo, file, { maxBytes: Number.POSITIVE_INFINITY })
  if ('reason' in opened) throw pathFailure(file, opened)
  return opened.file
}

/** Whether a file is an exported project. */
async function beginsAsLog(file: string, opening: () => Promise<FileHandle>): Promise<boolean> {
  const handle = await withReadFailure(file, opening())
  try {
    const { buffer } = await withReadFailure(file, handle.read(Buffer.alloc(logBeginning.length)))
    return buffer.toString('latin1') === logBeginning
  } finally {
    await handle.close()
  }
}

const logBeginning = '{"waymark":"log"'

/** The lines after the first one. */
async function* logLinesOnce(file: string, lines: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true
  try {
    for await (const line of lines) {
      if (!isFirst) yield line
      isFirst = false
    }
  } catch (error) {
    if (error instanceof Failure) throw error
    throw unreadablePlanFailure(file, errorCode(error) ?? messageOf(error))
  }
}

function logLines(file: string, opening: () => Promise<FileHandle>): AsyncIterable<string> {
  const lines = fileLines(opening)
  return { [Symbol.asyncIterator]: () => logLinesOnce(file, lines) }
}

async function loadFolder(
  folder: string,
  format: PlanFormat | undefined,
  reading: FileLoader,
): Promise<LoadedPlan> {
  if (format !== undefined && format !== 'backlog') {
    throw new Failure('INVALID_INPUT', `${folder} is a folder; only a Backlog.md project is one.`, {
      reason: 'folder_not_a_plan',
      hint: 'Name the file itself.',
    })
  }
  return loadedPlanOf('backlog', readBacklog(await markdownFiles(folder, reading)))
}

async function markdownFiles(folder: string, reading: FileLoader): Promise<readonly SourceText[]> {
  const entries = await withReadFailure(folder, readdir(folder, { recursive: true, withFileTypes: true }))
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.md')).slice(0, maxFiles)
  const sources: SourceText[] = []
  let total = 0
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    const displayPath = join(basename(folder), relative(folder, path)).replaceAll('\\', '/')
    const bytes = await withReadFailure(path, reading(path))
    total += bytes.length
    if (total > maxPlanBytes) throw planTooLargeFailure(basename(folder), `more than ${maxPlanBytes}`)
    sources.push({ path: displayPath, text: bytes.toString('utf8') })
  }
  return sources
}

async function loadFile(
  file: string,
  requestedFormat: Exclude<PlanFormat, 'log'> | undefined,
  reading: FileLoader,
): Promise<LoadedPlan> {
  const bytes = await withReadFailure(file, reading(file))
  if (bytes.length > maxPlanBytes && !isDatabase(bytes)) {
    throw planTooLargeFailure(basename(file), String(bytes.length))
  }
  const text = bytes.toString('utf8')
  const format = requestedFormat ?? formatOf(file, text)
  if (format === 'taskman') return loadedPlanOf(format, await withReadFailure(file, readTaskman(file)))
  return loadedPlanOf(format, await readPlan({ format, text, name: basename(file) }))
}

function planTooLargeFailure(name: string, bytes: string): Failure {
  return new Failure(
    'INVALID_INPUT',
    `The plan ${name} has ${bytes} bytes; at most ${maxPlanBytes} are read.`,
    { reason: 'plan_too_large', hint: 'Split it into several files, and import one after the other.' },
  )
}

/** Whether a file is a database of another program. */
function isDatabase(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 40).startsWith('SQLite format 3')
}

/** Turns read errors into a failure with a sentence, also for files that vanish meanwhile. */
async function withReadFailure<T>(file: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Failure) throw error
    throw unreadablePlanFailure(file, errorCode(error) ?? messageOf(error))
  }
}

function unreadablePlanFailure(file: string, code: string): Failure {
  return new Failure('UNAVAILABLE', `${file} cannot be read: ${reasons[code] ?? code}.`, {
    reason: 'file_unreadable',
    hint: 'Nothing was imported. Check the file, then import it again.',
  })
}

function isEmpty({ phases, milestones, tasks }: PlanDocument, format: PlanFormat): boolean {
  // The single phase of a Backlog.md project is ours.
  return tasks.length + milestones.length === 0 && (phases.length === 0 || format === 'backlog')
}

function emptyPlanFailure(format: PlanFormat, notices: readonly string[]): Failure {
  const found = notices.slice(0, 5).join('\n')
  return new Failure(
    'INVALID_INPUT',
    `Nothing was imported, because there is no task in it (read as ${format}).${found === '' ? '' : `\n${found}`}`,
    {
      reason: 'plan_empty',
      hint:
        format === 'markdown'
          ? 'Tasks are list entries such as "- [ ] Draw the screens", and headings are phases. Name another format with --from.'
          : 'Name another format with --from.',
    },
  )
}

function loadedPlanOf(format: Exclude<PlanFormat, 'log'>, result: ImportResult): LoadedPlan {
  if (result.accepted && isEmpty(result.document, format)) throw emptyPlanFailure(format, result.notices)
  if (result.accepted) return { kind: 'plan', format, document: result.document, notices: result.notices }
  const { problems } = result
  const listed = problems.slice(0, 20).join('\n')
  const shape = format === 'json' ? ' A task has at least {"key": "build-it", "title": "Build it"}.' : ''
  const more = problems.length > 20 ? `\n… and ${problems.length - 20} more.` : ''
  throw new Failure(
    'INVALID_INPUT',
    `Nothing was imported, because the ${format} plan has problems:\n${listed}${more}`,
    {
      reason: 'plan_invalid',
      hint: `Fix them and import again, or name another format with --from.${shape}`,
      details: { problems: problems.slice(0, 100) },
    },
  )
}

/** The format of a file, by its name and beginning. */
function formatOf(file: string, text: string): Exclude<PlanFormat, 'log'> {
  const name = basename(file).toLowerCase()
  if (text.startsWith('SQLite format 3\0')) return 'taskman'
  if (/\.(md|markdown|txt)$/.test(name)) return 'markdown'
  const firstLine = text.slice(0, text.indexOf('\n') + 1 || undefined)
  if (name.endsWith('.jsonl'))
    return /"(issue_type|depends_on_id|closed_at)"/.test(firstLine) || isBeads(firstLine) ? 'beads' : 'jsonl'
  if (!name.endsWith('.json')) return 'markdown'
  return isTaskMaster(text) ? 'task-master' : 'json'
}

/** beads issues have a numeric priority and a title; our lines have a kind. */
function isBeads(line: string): boolean {
  return /"title"\s*:/.test(line) && /"priority"\s*:\s*\d/.test(line)
}

/** `{ tasks: [ { id: 1 …` is Task Master, alone or under a tag; our plans have phases and keys. */
function isTaskMaster(text: string): boolean {
  const beginning = text.slice(0, 4_000)
  return !/"(waymark_plan|phases|key)"\s*:/.test(beginning) && /"tasks"\s*:\s*\[/.test(beginning)
}

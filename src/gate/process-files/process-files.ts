import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Failure } from '../../kernel/failure.ts'
import { containedPath, isWithin, pathFailure, readContained } from '../../kernel/files/contained-file.ts'
import { readRegular } from '../../kernel/files/regular-file.ts'
import { didYouMean } from '../../kernel/nearest-word.ts'
import { untilEnd } from '../../kernel/process-end.ts'
import type {
  LoadedProcess,
  LocatedFinding,
  ProcessFiles,
  ProcessOrigin,
  ProcessSource,
} from '../../project/ports/project-files.ts'
import type { ProcessDefinition } from '../domain/definition.ts'
import { finding, type Severity } from '../domain/lint/finding.ts'
import { type ReadDefinition, readDefinition } from './read-definition.ts'

interface ProcessFolders {
  /** The project's root. */
  readonly project: string
  /** Base folder of relative paths. */
  readonly working: string
  /** The shipped processes. */
  readonly shipped: string
  /** Only files of the project may be named: the caller is an agent, or elsewhere. */
  readonly isConfined: boolean
}

interface ProcessPath {
  readonly path: string
  readonly origin: ProcessOrigin
}

/** Largest file that is read, in bytes; the reader refuses less. */
const largest = 4_000_000
const maxFiles = 200

/** Reads the processes of a project and the shipped ones. */
export function processFiles(folders: ProcessFolders): ProcessFiles {
  return {
    list: async () => {
      const places = await everyProcess(folders)
      const loaded = await Promise.all(places.map((place) => load(place, folders)))
      return loaded.toSorted((a, b) => a.id.localeCompare(b.id, 'en'))
    },
    hasOwn: async () => (await ownProcesses(folders)).length > 0,
    load: async (idOrFile) => {
      const file = await namedFile(idOrFile, folders)
      if (file) return load(file, folders)
      const places = await everyProcess(folders)
      const byName = places.find(({ path }) => idOf(path) === idOrFile)
      if (byName) return load(byName, folders)
      const ids = places.map(({ path }) => idOf(path))
      throw new Failure('NOT_FOUND', `There is no process "${idOrFile}".${didYouMean(idOrFile, ids)}`, {
        reason: 'process_not_found',
        hint: `Processes: ${ids.join(', ') || 'none'}. Or name a file, such as .waymark/processes/feature.yaml.`,
      })
    },
    read: readSource,
  }
}

/** The files that ids name, the first of each: the project's, the original's folder, the shipped ones. */
async function everyProcess(folders: ProcessFolders): Promise<readonly ProcessPath[]> {
  const files = [...(await ownProcesses(folders)), ...(await yamlFiles(folders.shipped, 'shipped'))]
  return files.filter(
    ({ path }, index) => files.findIndex((other) => idOf(other.path) === idOf(path)) === index,
  )
}

async function ownProcesses({ project }: ProcessFolders): Promise<readonly ProcessPath[]> {
  return [
    ...(await yamlFiles(join(project, '.waymark', 'processes'), 'project')),
    ...(await yamlFiles(join(project, '.state_gate', 'processes'), 'project')),
    // A repository may contain a link to any file of this machine.
  ].filter(({ path }) => !('reason' in containedPath(project, path)))
}

async function yamlFiles(folder: string, origin: ProcessOrigin): Promise<readonly ProcessPath[]> {
  const names = await readdir(folder).catch(() => [])
  const paths = names
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .slice(0, maxFiles)
    .map((name) => join(folder, name))
  const areFiles = await Promise.all(paths.map(isFile))
  return paths.filter((_, index) => areFiles[index]).map((path) => ({ path, origin }))
}

/** A word with a slash or an ending is a file, unless there is none and an id is meant. */
async function namedFile(
  word: string,
  { working, project, isConfined }: ProcessFolders,
): Promise<ProcessPath | null> {
  if (!/[/\\]|\.ya?ml$/.test(word)) return null
  const path = resolve(working, word)
  if (isConfined) {
    const place = containedPath(project, path)
    if ('reason' in place) throw pathFailure(word, place)
  }
  if (await isFile(path)) return { path, origin: 'file' }
  throw new Failure('NOT_FOUND', `There is no file ${word}.`, {
    reason: 'file_not_found',
    hint: `Waymark looked for it at ${path}.`,
  })
}

/** Not a folder, nor a link that leads nowhere. */
async function isFile(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null)
  return stats?.isFile() ?? false
}

async function load({ path, origin }: ProcessPath, folders: ProcessFolders): Promise<LoadedProcess> {
  const source = { file: shownPath(path, origin, folders), origin, id: idOf(path) }
  const size = (await stat(path)).size
  if (size > largest) return readSource({ ...source, text: '', unread: { bytes: size } })
  const isOurs = origin === 'shipped' || (origin === 'file' && !folders.isConfined)
  const text = (isOurs ? await readRegular(path) : await readInside(path, folders)).toString('utf8')
  return readSource(
    isProcess(path, text) ? { ...source, text } : { ...source, text: '', unread: 'no-process' },
  )
}

async function readInside(path: string, { project }: ProcessFolders): Promise<Buffer> {
  const result = await readContained(project, path, { maxBytes: largest })
  if ('reason' in result) throw pathFailure(path, result)
  return result.content
}

/** Reports no details about any other file, because an error may quote its content. */
function isProcess(path: string, text: string): boolean {
  return /\.ya?ml$/i.test(path) && /^[ \t]*(?:\{\s*)?["']?process["']?[ \t]*:/m.test(text)
}

const noProcess: ReadDefinition = {
  definition: null,
  findings: [
    problem(
      'error',
      'no-process',
      'It is not a process file, which is a .yaml or .yml file with "process:" at its top.',
    ),
  ],
  patterns: [],
}

async function readSource(source: ProcessSource): Promise<LoadedProcess> {
  const { definition, findings, patterns } = await readText(source)
  return {
    ...source,
    definition,
    findings: [...fileNameFindings(definition, source.file), ...findings],
    patterns,
  }
}

async function readText({ text, unread }: ProcessSource): Promise<ReadDefinition> {
  if (unread === 'no-process') return noProcess
  return unread ? tooLargeDefinition(unread.bytes) : readInWorker(text)
}

function tooLargeDefinition(size: number): ReadDefinition {
  const message = `The file has ${size} bytes; at most ${largest} are read.`
  return { definition: null, findings: [problem('error', 'file-size', message)], patterns: [] }
}

function fileNameFindings(definition: ProcessDefinition | null, path: string): readonly LocatedFinding[] {
  if (definition === null || definition.id === idOf(path)) return []
  const message = `The process "${definition.id}" is in ${basename(path)}, and processes are found by file name. Rename one of them.`
  return [problem(definition.dialect === 1 ? 'error' : 'warning', 'id-not-file-name', message)]
}

function problem(severity: Severity, rule: string, message: string): LocatedFinding {
  return { ...finding(severity, rule, { message, path: ['process', 'id'] }), place: null }
}

function idOf(path: string): string {
  return basename(path).replace(/\.ya?ml$/, '')
}

function shownPath(path: string, origin: ProcessOrigin, { project, working }: ProcessFolders): string {
  if (origin === 'shipped') return basename(path)
  const from = origin === 'file' ? working : project
  return isWithin(from, path) ? relative(from, path).replaceAll('\\', '/') : path
}

/** Parsing takes about two milliseconds per thousand characters; longer texts are parsed on a worker thread. */
const shortText = 8_000
/** Milliseconds. */
const patience = 20_000

/** Reads a definition, and blocks nothing with a long one. */
export function readInWorker(text: string): Promise<ReadDefinition> {
  if (text.length <= shortText) return Promise.resolve(readDefinition(text))
  const { promise, resolve, reject } = Promise.withResolvers<ReadDefinition>()
  // Flags of the parent, such as a test runner's loaders, are none of the worker's business.
  const worker = new Worker(workerFile(), { execArgv: [] })
  const deadline = setTimeout(() => resolve(readTimeoutDefinition(text)), patience)
  worker.once('message', resolve)
  worker.once('error', reject)
  worker.once('exit', (code) => reject(new Error(`The reader of processes ended with code ${code}.`)))
  worker.postMessage(text)
  return untilEnd(promise).finally(() => {
    clearTimeout(deadline)
    void worker.terminate()
  })
}

/** The worker is bundled beside this module; in the sources Node runs it as TypeScript. */
function workerFile(): string {
  const bundled = join(import.meta.dirname, 'definition-worker.js')
  return existsSync(bundled) ? bundled : join(import.meta.dirname, 'definition-worker.ts')
}

function readTimeoutDefinition(text: string): ReadDefinition {
  const message = `Reading its ${text.length} characters takes longer than ${patience / 1000} seconds.`
  return {
    definition: null,
    findings: [{ ...finding('error', 'yaml', { message, path: [] }), place: null }],
    patterns: [],
  }
}

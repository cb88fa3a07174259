import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { ContentDifference, ContentParts, FilePreview } from '../domain/approved-content.ts'
import type { PreviewStore } from '../ports/evidence-files.ts'

const maxFiles = 200
const maxAgeMs = 30 * 24 * 60 * 60_000

/** Stores reviewed contents, one file each, in the state folder. */
export function shownContents(stateFolder: string): PreviewStore {
  const folder = join(stateFolder, 'shown')
  const fileOf = (content: string) => join(folder, `${nameOf(content)}.json`)
  return {
    isKept: (content) => {
      const now = new Date()
      return utimes(fileOf(content), now, now).then(returnTrue, returnFalse)
    },
    keep: async (content, parts) => {
      const file = fileOf(content)
      const json = JSON.stringify(parts)
      const draft = join(folder, `${randomUUID()}.draft`)
      // A folder that cannot be written costs the difference, never the question.
      await mkdir(folder, { recursive: true, mode: 0o700 })
        .then(() => writeFile(draft, json, { mode: 0o600, flag: 'wx' }))
        .then(() => rename(draft, file))
        .then(() => prune(folder))
        .catch(() => rm(draft, { force: true }).catch(() => undefined))
    },
    since: async (content, now) => {
      const names = await readdir(folder).catch(() => [])
      const matches = names.filter((name) => name.endsWith('.json') && name.startsWith(nameOf(content)))
      if (matches.length !== 1 || matches[0] === undefined) return null
      const previous = await read(join(folder, matches[0]))
      return previous && difference(previous, now)
    },
  }
}

const returnTrue = () => true
const returnFalse = () => false

/** Any content name maps to a file of this folder. */
function nameOf(content: string): string {
  return content.toLowerCase().replace(/[^0-9a-z-]/g, '')
}

async function read(file: string): Promise<ContentParts | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as ContentParts // as this module wrote it
  } catch {
    return null
  }
}

async function prune(folder: string): Promise<void> {
  const names = await readdir(folder)
  if (names.length <= maxFiles) return
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0,
    })),
  )
  const oldestFirst = dated.toSorted((a, b) => a.at - b.at)
  const expired = oldestFirst.filter(
    ({ at }, index) => index < names.length - maxFiles || at < Date.now() - maxAgeMs,
  )
  for (const { name } of expired) await rm(join(folder, name), { force: true })
}

function difference(previous: ContentParts, now: ContentParts): ContentDifference {
  const before = indexFilesByPath(previous.files)
  const after = indexFilesByPath(now.files)
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  const names = [...new Set([...Object.keys(previous.events), ...Object.keys(now.events)])]
  return {
    files: paths.flatMap((path) => {
      const [was, is] = [before.get(path), after.get(path)]
      if ((was?.sha256 ?? null) === (is?.sha256 ?? null)) return []
      return [{ path, shown: was?.sha256 ?? null, now: is?.sha256 ?? null, diff: patch(path, was, is) }]
    }),
    events: names.flatMap((name) => {
      const [was, is] = [previous.events[name] ?? null, now.events[name] ?? null]
      return was === is ? [] : [{ name, shown: was, now: is }]
    }),
  }
}

function indexFilesByPath(files: readonly FilePreview[]): ReadonlyMap<string, FilePreview> {
  return new Map(files.map((file) => [file.path, file]))
}

const maxPatchLength = 20_000
// A diff takes time quadratic in its edits: about 0.1 seconds for this limit.
const maxEdits = 600

function patch(path: string, was: FilePreview | undefined, is: FilePreview | undefined): string | null {
  // A file may have had the name of a script.
  if (was && is && was.isScript !== is.isScript) return null
  const [before, after] = [textOf(was), textOf(is)]
  if (before === null || after === null) return null
  const text = createTwoFilesPatch(path, path, before, after, 'shown', 'now', { maxEditLength: maxEdits })
  if (text === undefined) return null
  return text.length > maxPatchLength ? `${text.slice(0, maxPatchLength)}…\n` : text
}

/** Null if the text is not stored. */
function textOf(file: FilePreview | undefined): string | null {
  return file === undefined || file.sha256 === null ? '' : file.text
}

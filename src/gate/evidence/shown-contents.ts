import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import type { ContentDifference, ContentParts, FilePreview } from '../domain/approved-content.ts'
import type { PreviewStore } from '../ports/evidence-files.ts'

const maxKept = 200
const longest = 30 * 24 * 60 * 60_000

/** What was shown, as one file per content in a state folder. */
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
      const kept = JSON.stringify(parts)
      const draft = join(folder, `${randomUUID()}.draft`)
      // A folder that cannot be written costs the difference, never the question.
      await mkdir(folder, { recursive: true, mode: 0o700 })
        .then(() => writeFile(draft, kept, { mode: 0o600, flag: 'wx' }))
        .then(() => rename(draft, file))
        .then(() => prune(folder))
        .catch(() => rm(draft, { force: true }).catch(() => undefined))
    },
    since: async (content, now) => {
      const names = await readdir(folder).catch(() => [])
      const found = names.filter((name) => name.endsWith('.json') && name.startsWith(nameOf(content)))
      if (found.length !== 1 || found[0] === undefined) return null
      const shown = await read(join(folder, found[0]))
      return shown && difference(shown, now)
    },
  }
}

const returnTrue = () => true
const returnFalse = () => false

/** Whatever a caller sends as a content, it names a file of this folder. */
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
  if (names.length <= maxKept) return
  const dated = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(folder, name)).catch(() => null))?.mtimeMs ?? 0,
    })),
  )
  const oldestFirst = dated.toSorted((a, b) => a.at - b.at)
  const old = oldestFirst.filter(
    ({ at }, place) => place < names.length - maxKept || at < Date.now() - longest,
  )
  for (const { name } of old) await rm(join(folder, name), { force: true })
}

function difference(shown: ContentParts, now: ContentParts): ContentDifference {
  const before = indexFilesByPath(shown.files)
  const after = indexFilesByPath(now.files)
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort()
  const names = [...new Set([...Object.keys(shown.events), ...Object.keys(now.events)])]
  return {
    files: paths.flatMap((path) => {
      const [was, is] = [before.get(path), after.get(path)]
      if ((was?.sha256 ?? null) === (is?.sha256 ?? null)) return []
      return [{ path, shown: was?.sha256 ?? null, now: is?.sha256 ?? null, diff: patch(path, was, is) }]
    }),
    events: names.flatMap((name) => {
      const [was, is] = [shown.events[name] ?? null, now.events[name] ?? null]
      return was === is ? [] : [{ name, shown: was, now: is }]
    }),
  }
}

function indexFilesByPath(files: readonly FilePreview[]): ReadonlyMap<string, FilePreview> {
  return new Map(files.map((file) => [file.path, file]))
}

const maxPatchLength = 20_000
// Finding a difference takes time with the square of its lines: about a tenth of a second for so many.
const maxEdits = 600

function patch(path: string, was: FilePreview | undefined, is: FilePreview | undefined): string | null {
  const [before, after] = [textOf(was), textOf(is)]
  if (before === null || after === null) return null
  const text = createTwoFilesPatch(path, path, before, after, 'shown', 'now', { maxEditLength: maxEdits })
  if (text === undefined) return null
  return text.length > maxPatchLength ? `${text.slice(0, maxPatchLength)}…\n` : text
}

/** Null where there is a content that is not kept. */
function textOf(file: FilePreview | undefined): string | null {
  return file === undefined || file.sha256 === null ? '' : file.text
}

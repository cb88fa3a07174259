import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { lstat, readFile, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileContent } from '../ports/evidence-files.ts'
import { examine } from './read-evidence.ts'

const atOnce = 8
const longestText = 64 * 1024
const mostText = 1024 * 1024

/** What is at paths in a folder now: the hash of each file, and the text of short ones as far as a megabyte goes. */
export async function contentsOf(folder: string, paths: readonly string[]): Promise<FileContent[]> {
  const top = await realpath(folder).catch(() => folder)
  const contents: FileContent[] = []
  let room = mostText
  for (let from = 0; from < paths.length; from += atOnce) {
    for (const content of await Promise.all(
      paths.slice(from, from + atOnce).map((path) => contentOf(top, path)),
    )) {
      const { length } = content.text ?? ''
      contents.push(length > room ? { ...content, text: null } : content)
      room -= Math.min(length, room)
    }
  }
  return contents
}

async function contentOf(top: string, path: string): Promise<FileContent> {
  const absolute = join(top, path)
  const found = await lstat(absolute).catch(() => null)
  if (found === null) return { path, sha256: null, text: null }
  // A link is what it says, wherever it leads.
  if (found.isSymbolicLink()) {
    const target = await readlink(absolute).catch(() => '')
    return { path, sha256: sha256(Buffer.from(`link ${target}`)), text: null }
  }
  const file = await examine(top, path)
  if ('problem' in file) return { path, sha256: sha256(Buffer.from(file.problem)), text: null }
  return {
    path,
    sha256: file.sha256,
    text: file.bytes > longestText ? null : await textOf(absolute, file.sha256),
  }
}

/** The text whose hash it is: a file that was written since is another. */
async function textOf(absolute: string, hash: string): Promise<string | null> {
  const bytes = await readFile(absolute).catch(() => null)
  return bytes !== null && isUtf8(bytes) && sha256(bytes) === hash ? bytes.toString('utf8') : null
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

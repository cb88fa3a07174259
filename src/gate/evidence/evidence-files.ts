import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, realpathSync } from 'node:fs'
import { type FileHandle, lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { errorCode, Failure } from '../../kernel/failure.ts'
import {
  containedPath,
  isWithin,
  openContainedFile,
  type PathRules,
  problemWith,
  type RefusalReason,
  readContained,
} from '../../kernel/files/contained-file.ts'
import { yieldToEventLoop } from '../../kernel/files/yield-to-event-loop.ts'
import { parseJson } from '../../kernel/json.ts'
import { isSecretFile } from '../../kernel/secret-files.ts'
import type { EvidenceFile, EvidenceFileStamp, EvidenceFiles, FileContent } from '../ports/evidence-files.ts'

/** Reads evidence on this machine's disk. */
export function evidenceFiles(): EvidenceFiles {
  return { read: readEvidence, freshness: freshnessOf, contents: contentsOf }
}

const atOnce = 8

/** A file, or why the path names none that can be evidence. */
export type EvidenceResult = EvidenceFile | { readonly problem: string; readonly reason?: RefusalReason }

/** Reads files of a folder, each once, in the order given. Fails with one sentence for all paths that are no evidence. */
async function readEvidence(folder: string, paths: readonly string[]): Promise<EvidenceFile[]> {
  const top = await realFolder(folder)
  const files = new Map<string, EvidenceFile>()
  const problems: string[] = []
  const distinct = [...new Set(paths)]
  for (let from = 0; from < distinct.length; from += atOnce) {
    const some = distinct.slice(from, from + atOnce)
    for (const [index, examined] of (await Promise.all(some.map((path) => examine(top, path)))).entries()) {
      if ('problem' in examined) problems.push(`${JSON.stringify(some[index])} ${examined.problem}`)
      else files.set(examined.path, files.get(examined.path) ?? examined)
    }
  }
  if (problems.length === 0) return [...files.values()]
  throw new Failure('INVALID_INPUT', `No evidence: ${problems.join('; ')}.`, {
    reason: 'evidence_invalid',
    hint: `Use regular files in ${top}, with paths relative to it.`,
    details: { problems },
  })
}

/** One file of a folder. A file that is secret by its name is no evidence. */
async function examine(folder: string, path: string, rules: PathRules = {}): Promise<EvidenceResult> {
  const opened = await openContainedFile(folder, path, { ...rules, maxBytes: maxBytes })
  if ('reason' in opened) return { problem: problemWith(opened), reason: opened.reason }
  try {
    const measured = await readWhole(opened.file, opened.absolute)
    return 'problem' in measured ? measured : { path: opened.path, ...measured }
  } catch (error) {
    return { problem: `cannot be read (${errorCode(error) ?? String(error)})` }
  } finally {
    await opened.file.close()
  }
}

async function realFolder(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (cause) {
    throw new Failure('UNAVAILABLE', `There is no folder ${folder}.`, { reason: 'folder_not_found', cause })
  }
}

export interface MeasuredFile {
  readonly bytes: number
  readonly sha256: string
  readonly stamp: string
  readonly content?: unknown
}

const megabyte = 1024 * 1024
const maxBytes = 100 * megabyte
const maxParsed = megabyte

const unsteady = { problem: 'changed while it was read: submit it again once it is written' }

async function readWhole(file: FileHandle, absolute: string): Promise<MeasuredFile | typeof unsteady> {
  const before = await file.stat({ bigint: true })
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.min(Number(before.size) + 1, megabyte))
  const small: Buffer[] = []
  let bytes = 0
  for (;;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, bytes)
    if (bytesRead === 0) break
    const part = buffer.subarray(0, bytesRead)
    hash.update(part)
    bytes += bytesRead
    if (bytes > before.size) return unsteady
    if (before.size <= maxParsed) small.push(Buffer.from(part))
  }
  const stamp = stampOf(await file.stat({ bigint: true }))
  if (stamp !== stampOf(before) || BigInt(bytes) !== before.size) return unsteady
  const measured = { bytes, sha256: hash.digest('hex'), stamp }
  const content =
    bytes > maxParsed ? undefined : parseJsonEvidence(Buffer.concat(small).toString('utf8'), absolute)
  return content === undefined ? measured : { ...measured, content }
}

function parseJsonEvidence(text: string, absolute: string): unknown {
  const plain = text.replace(/^\uFEFF/, '')
  if (extname(absolute).toLowerCase() !== '.json' && !/^\s*[[{]/.test(plain)) return undefined
  return parseJson(plain)
}

export type Freshness = 'current' | 'changed' | 'deleted'

// About a millisecond each, so that a server keeps answering.
const perTurn = 200

/** Whether files are unchanged. A file with the same stamp is not read. */
async function freshnessOf(folder: string, files: readonly EvidenceFileStamp[]): Promise<Freshness[]> {
  const top = realPath(folder)
  if (top === null) return files.map(() => 'deleted')
  const parents = new Map<string, boolean>()
  const answers: Freshness[] = []
  for (const [index, file] of files.entries()) {
    if (index > 0 && index % perTurn === 0) await yieldToEventLoop()
    const absolute = join(top, file.path)
    const parent = dirname(absolute)
    const direct = parents.get(parent) ?? (isWithin(top, parent) && realPath(parent) === parent)
    parents.set(parent, direct)
    const found = direct ? entryAt(absolute) : undefined
    if (found?.isFile() && stampOf(found) === file.stamp) answers.push('current')
    else if (direct && found === undefined) answers.push('deleted')
    else answers.push(await recheckFile(top, file))
  }
  return answers
}

async function recheckFile(top: string, file: EvidenceFileStamp): Promise<Freshness> {
  const examined = await examine(top, file.path)
  if ('problem' in examined) return examined.reason === 'missing' ? 'deleted' : 'changed'
  return examined.sha256 === file.sha256 ? 'current' : 'changed'
}

function realPath(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

function entryAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false })
  } catch {
    // A part of the path is a file instead of a folder: there is nothing at the path.
    return undefined
  }
}

const readAtOnce = 8
const maxTextLength = 64 * 1024
const maxText = 1024 * 1024

/**
 * The current content of paths in a folder: the hash of each file, and the text of short ones up to a megabyte in total. A
 * secret file has a hash of its stamp only.
 */
async function contentsOf(folder: string, paths: readonly string[]): Promise<FileContent[]> {
  const top = await realpath(folder).catch(() => folder)
  const contents: FileContent[] = []
  let room = maxText
  for (let from = 0; from < paths.length; from += readAtOnce) {
    for (const content of await Promise.all(
      paths.slice(from, from + readAtOnce).map((path) => contentOf(top, path)),
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
  const parent = containedPath(top, dirname(absolute), {
    secrets: 'allowed',
    missing: 'allowed',
    git: 'allowed',
  })
  if ('reason' in parent) return { path, sha256: sha256(Buffer.from(problemWith(parent))), text: null }
  const found = await lstat(absolute).catch(() => null)
  if (found === null) return { path, sha256: null, text: null }
  // A link counts by its target text, wherever it leads.
  if (found.isSymbolicLink()) {
    const target = await readlink(absolute).catch(() => '')
    return { path, sha256: sha256(Buffer.from(`link ${target}`)), text: null }
  }
  const file = await examine(top, path, { secrets: 'allowed' })
  if ('problem' in file) return { path, sha256: sha256(Buffer.from(file.problem)), text: null }
  // Anyone with the hash of a short secret can guess the secret.
  if (isSecretFile(path) || isSecretFile(file.path)) {
    return { path, sha256: sha256(Buffer.from(`secret file ${file.stamp}`)), text: null }
  }
  const isShown = file.bytes <= maxTextLength
  return { path, sha256: file.sha256, text: isShown ? await textOf(top, path, file.sha256) : null }
}

/** The text with the given hash; null if the file was written since. */
async function textOf(top: string, path: string, hash: string): Promise<string | null> {
  const read = await readContained(top, path, { maxBytes: maxTextLength })
  if ('reason' in read) return null
  const { content } = read
  return isUtf8(content) && sha256(content) === hash ? content.toString('utf8') : null
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Changes whenever a file is written, replaced or renamed over: no program can set the last time back. */
function stampOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`
}

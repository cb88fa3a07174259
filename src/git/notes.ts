import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../domain/failure.ts'
import { readRegularSync } from '../files/regular-file.ts'
import {
  type CommitNote,
  type ForeignWords,
  type FoundNotes,
  type NotesRef,
  type NotesRequest,
  noteRefs,
} from '../ports/line-history.ts'
import { contentsOf, objectIds } from './blobs.ts'
import { configured } from './configuration.ts'
import { parsePackedRefs } from './git-folder.ts'
import type { Look } from './line-history.ts'
import { nulRecords } from './paths.ts'
import { privateCall } from './private-directory.ts'
import { type Environment, git, runGit } from './process.ts'
import type { Repository } from './repository.ts'

/** Where tools that follow Agent Trace leave their records. */
const tracesFile = '.agent-trace/traces.jsonl'

const mostTraces = 6_000_000

/** The files that say where the refs of notes point. */
export function noteFiles({ commonFolder }: Repository): readonly string[] {
  const loose = noteRefs.map((ref) => join(commonFolder, ref))
  return [...loose, join(commonFolder, 'packed-refs'), join(commonFolder, 'reftable', 'tables.list')]
}

/** When traces were written last, so that no answer rests on older ones. */
export function stampOfTraces({ top }: Repository): string {
  const found = statSync(join(top, tracesFile), { throwIfNoEntry: false })
  return found === undefined ? '' : `${found.size} ${found.mtimeMs}`
}

/** What others say of some commits. */
export async function claimsIn(look: Look, commits: readonly string[]): Promise<readonly ForeignWords[]> {
  const words: ForeignWords[] = []
  for (const ref of noteRefs) {
    const { notes } = await notesIn(look, ref, commits)
    words.push(...notes.map(({ commit, text }) => ({ source: ref, commit, text })))
  }
  const traces = tracesIn(look.repository)
  return traces === null ? words : [...words, { source: tracesFile, commit: null, text: traces }]
}

function tracesIn({ top }: Repository): string | null {
  const file = join(top, tracesFile)
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined || !found.isFile() || found.size > mostTraces) return null
  try {
    return readRegularSync(file).toString('utf8')
  } catch {
    return null
  }
}

/** The notes of some commits, or all of them. */
export async function notesIn(
  look: Look,
  ref: NotesRef,
  commits: readonly string[] | null,
): Promise<FoundNotes> {
  const { place, location } = look
  const tip = location.engine === 'git' ? await tipOf(look, ref) : null
  if (tip === null) return { tip, notes: [] }
  const oids = commits === null ? await allNotes(look, tip) : await notesOf(look, tip, commits)
  const contents = await contentsOf(place, [...oids.values()])
  const notes = [...oids].flatMap(([commit, oid]): CommitNote[] => {
    const content = contents.get(oid)
    return content === undefined ? [] : [{ commit, text: content.toString('utf8') }]
  })
  return { tip, notes }
}

async function tipOf({ repository, place }: Look, ref: NotesRef): Promise<string | null> {
  const { commonFolder, configuration, top } = repository
  if (configured(configuration, 'extensions.refstorage') !== undefined) {
    const question = ['rev-parse', '--verify', '--quiet', '--end-of-options', ref]
    const asked = await runGit(question, { folder: top, environment: place.environment, onlyReads: true })
    return idIn(asked.output.toString('latin1'))
  }
  const loose = idIn(textOf(join(commonFolder, ref)))
  if (loose !== null) return loose
  return (
    parsePackedRefs(textOf(join(commonFolder, 'packed-refs'))).find(({ name }) => name === ref)?.tip ?? null
  )
}

function textOf(file: string): string {
  try {
    return readRegularSync(file).toString('latin1')
  } catch {
    return ''
  }
}

function idIn(text: string): string | null {
  const id = text.trim()
  return /^[0-9a-f]{40,64}$/.test(id) ? id : null
}

// git spreads notes over folders by the first letters of the commits, the more of them there are.
const mostFolders = 4

function placesOf(commit: string): string[] {
  return Array.from({ length: mostFolders + 1 }, (_, folders) => {
    const parts = Array.from({ length: folders }, (_, at) => commit.slice(2 * at, 2 * at + 2))
    return [...parts, commit.slice(2 * folders)].join('/')
  })
}

async function notesOf(
  { place }: Look,
  tip: string,
  commits: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const asked = commits.flatMap((commit) => placesOf(commit).map((path) => ({ commit, path })))
  const ids = await objectIds(
    place,
    asked.map(({ path }) => `${tip}:${path}`),
  )
  return new Map(
    asked.flatMap(({ commit }, at): [string, string][] => {
      const oid = ids[at] ?? null
      return oid === null ? [] : [[commit, oid]]
    }),
  )
}

async function allNotes({ place }: Look, tip: string): Promise<ReadonlyMap<string, string>> {
  const listed = nulRecords(await git(['ls-tree', '-r', '-z', tip], privateCall(place)))
  return new Map(
    listed.flatMap((record): [string, string][] => {
      const [kind = '', path = ''] = record.split('\t')
      const commit = path.replaceAll('/', '')
      return /^[0-9a-f]{40,64}$/.test(commit) ? [[commit, kind.split(' ')[2] ?? '']] : []
    }),
  )
}

/** Who writes, as git knows the person, and when: `Ada <ada@example.com> 1764000000 +0100`. */
async function committerOf({ repository, place }: Look, identity: Environment): Promise<string> {
  const asked = await runGit(['-c', 'user.useConfigOnly=true', 'var', 'GIT_COMMITTER_IDENT'], {
    folder: repository.top,
    environment: { ...place.environment, ...identity },
    onlyReads: true,
  })
  const said = asked.output.toString('utf8').trim()
  if (asked.code === 0 && /^.*<.*> \d+ [+-]\d{4}$/.test(said)) return said
  throw new Failure('REFUSED', `Git does not know who writes in ${repository.top}: no note was written.`, {
    hint: 'Set user.name and user.email with git config, as for a commit.',
  })
}

/**
 * Adds notes to commits, all of them or none. Objects are written by one fast-import in a git directory of our own, so
 * that nothing the repository configures is in force; then the ref moves if it is still where it was.
 */
export async function writeNotes(
  look: Look,
  { ref, tip, notes, message }: NotesRequest,
  identity: Environment,
): Promise<boolean> {
  const { repository, place, location } = look
  if (location.engine !== 'git') {
    throw new Failure('INVALID_INPUT', `There are no commits in ${location.folder}: ${location.reason}`)
  }
  const committer = await committerOf(look, identity)
  const call = privateCall(place, importOf({ ref, tip, notes, message, committer }))
  await git(['fast-import', '--quiet', '--done'], {
    ...call,
    environment: { ...call.environment, GIT_OBJECT_DIRECTORY: repository.objects },
  })
  const made = (await git(['rev-parse', '--verify', ref], privateCall(place))).toString('latin1').trim()
  const [, name = '', email = ''] = /^(.*) <(.*)> \d+ [+-]\d{4}$/.exec(committer) ?? []
  const moved = await runGit(['update-ref', '-m', message, ref, made, tip ?? '0'.repeat(made.length)], {
    folder: repository.top,
    environment: { ...place.environment, GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email },
  })
  if (moved.code === 0) return true
  // Another writer was there first, or is there now.
  if (/cannot lock ref|but expected|reference already exists|Unable to create/i.test(moved.complaint))
    return false
  throw new Failure(
    'UNAVAILABLE',
    `git could not move ${ref}: ${moved.complaint.trim().split('\n')[0] ?? ''}`,
  )
}

function importOf({
  ref,
  tip,
  notes,
  message,
  committer,
}: Omit<NotesRequest, 'folder'> & { readonly committer: string }): Buffer {
  const parts: Buffer[] = [Buffer.from(`commit ${ref}\ncommitter ${committer}\n`), data(message)]
  if (tip !== null) parts.push(Buffer.from(`from ${tip}\n`))
  for (const { commit, text } of notes) parts.push(Buffer.from(`N inline ${commit}\n`), data(text))
  parts.push(Buffer.from('\ndone\n'))
  return Buffer.concat(parts)
}

function data(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')])
}

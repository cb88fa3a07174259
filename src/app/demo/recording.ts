import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { Fact } from '../../events/domain/fact.ts'
import { beforeFirst, factRows } from '../../events/log/journal.ts'
import { journalMark, readExport } from '../../events/operations/journal-line.ts'
import { Failure } from '../../kernel/failure.ts'

export const recordingFiles = {
  journal: 'journal.jsonl.gz',
  work: 'work.json.gz',
  objects: 'objects.pack',
} as const

/** Stands in a recording for the folder in which it was recorded. */
export const homeMark = '{{home}}'

const tree = z.object({ folder: z.string(), tree: z.string() })
const workShape = z.object({ texts: z.record(z.string(), z.string()), trees: z.array(tree).min(1) })

/** A work tree: its folder, and the git tree of all that lay in it. */
export type RecordedTree = Readonly<z.output<typeof tree>>

/** A recorded day: what happened, and the repository with the snapshots that were taken of it. */
export interface Recording {
  readonly facts: readonly Fact[]
  readonly texts: Readonly<Record<string, string>>
  /** The main work tree first. */
  readonly trees: readonly RecordedTree[]
  /** The pack of every object. */
  readonly objects: string
}

/** Reads a recording as it takes place in `home`. Fails with a sentence where it is not whole. */
export function readRecording(folder: string, home: string): Recording {
  const [mark, ...lines] = textOf(folder, recordingFiles.journal).trim().split('\n')
  if (mark !== JSON.stringify(journalMark)) throw damaged(folder, 'its journal does not begin as one')
  const recorded = exportedFacts(folder, lines)
  const changed = linkFacts(recorded).find(({ hash }, at) => hash !== recorded[at]?.hash)
  if (changed) throw damaged(folder, `fact ${changed.seq} does not follow from the ones before it`)
  const work = workShape.safeParse(JSON.parse(textOf(folder, recordingFiles.work).replaceAll(homeMark, home)))
  if (!work.success) throw damaged(folder, `${recordingFiles.work} does not hold a repository`)
  const objects = join(folder, recordingFiles.objects)
  if (!existsSync(objects)) throw damaged(folder, `${recordingFiles.objects} is missing`)
  const facts = exportedFacts(
    folder,
    lines.map((line) => line.replaceAll(homeMark, home)),
  )
  return { facts, texts: work.data.texts, trees: work.data.trees, objects }
}

function exportedFacts(folder: string, lines: readonly string[]): readonly Fact[] {
  try {
    return readExport(lines).facts
  } catch {
    throw damaged(folder, 'its journal is not whole')
  }
}

function textOf(folder: string, name: string): string {
  try {
    return gunzipSync(readFileSync(join(folder, name))).toString('utf8')
  } catch {
    throw damaged(folder, `${name} cannot be read`)
  }
}

export function damaged(folder: string, reason: string): Failure {
  return new Failure('UNAVAILABLE', `The recording in ${folder} is damaged: ${reason}.`, {
    reason: 'recording_damaged',
    hint: 'Install Waymark again, or record the day again: demo/README.md says how.',
  })
}

/** The same facts with hashes of their own, each over the one before. */
export function linkFacts(facts: readonly Fact[]): readonly Fact[] {
  let head = { seq: 0, head: beforeFirst }
  return facts.map(({ at, actor, body }) => {
    const [row] = factRows({ projectId: '', at, actor }, [body], head)
    if (!row) throw new Error('one fact is one row')
    head = { seq: row.seq, head: row.hash }
    return { seq: row.seq, at, version: row.version, actor, body, hash: row.hash }
  })
}

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { ProjectEvent } from '../../events/domain/project-event.ts'
import { beforeFirst, eventRows } from '../../events/log/event-log.ts'
import { logMark, readExport } from '../../events/operations/event-line.ts'
import { Failure } from '../../kernel/failure.ts'

export const recordingFiles = {
  log: 'log.jsonl.gz',
  work: 'work.json.gz',
  objects: 'objects.pack',
} as const

/** The placeholder for the recorded folder. */
export const homeMark = '{{home}}'

const tree = z.object({ folder: z.string(), tree: z.string() })
const workShape = z.object({ texts: z.record(z.string(), z.string()), trees: z.array(tree).min(1) })

/** A work tree: its folder and the git tree of its files. */
export type RecordedTree = Readonly<z.output<typeof tree>>

/** A recorded day: its log entries, and the repository with its snapshots. */
export interface DemoRecording {
  readonly events: readonly ProjectEvent[]
  readonly texts: Readonly<Record<string, string>>
  /** The main work tree first. */
  readonly trees: readonly RecordedTree[]
  /** The pack of every object. */
  readonly objects: string
}

/** Reads a recording and places it in `home`. Fails if it is incomplete. */
export async function readRecording(folder: string, home: string): Promise<DemoRecording> {
  const [mark, ...lines] = textOf(folder, recordingFiles.log).trim().split('\n')
  if (mark !== JSON.stringify(logMark)) throw damagedRecording(folder, 'its first line does not mark a log')
  const recorded = await exportedEvents(folder, lines)
  const changed = linkEvents(recorded).find(({ hash }, at) => hash !== recorded[at]?.hash)
  if (changed)
    throw damagedRecording(folder, `log entry ${changed.seq} does not follow from the ones before it`)
  const work = workShape.safeParse(JSON.parse(textOf(folder, recordingFiles.work).replaceAll(homeMark, home)))
  if (!work.success) throw damagedRecording(folder, `${recordingFiles.work} does not hold a repository`)
  const objects = join(folder, recordingFiles.objects)
  if (!existsSync(objects)) throw damagedRecording(folder, `${recordingFiles.objects} is missing`)
  const events = await exportedEvents(
    folder,
    lines.map((line) => line.replaceAll(homeMark, home)),
  )
  return { events, texts: work.data.texts, trees: work.data.trees, objects }
}

async function exportedEvents(folder: string, lines: readonly string[]): Promise<readonly ProjectEvent[]> {
  try {
    return await Array.fromAsync((await readExport(lines)).readEvents(0))
  } catch {
    throw damagedRecording(folder, 'its log is incomplete')
  }
}

function textOf(folder: string, name: string): string {
  try {
    return gunzipSync(readFileSync(join(folder, name))).toString('utf8')
  } catch {
    throw damagedRecording(folder, `${name} cannot be read`)
  }
}

export function damagedRecording(folder: string, reason: string): Failure {
  return new Failure('UNAVAILABLE', `The recording in ${folder} is damaged: ${reason}.`, {
    reason: 'recording_damaged',
    hint: 'Install Waymark again.',
  })
}

/** Chains the log entries with new hashes. */
export function linkEvents(events: readonly ProjectEvent[]): readonly ProjectEvent[] {
  let head = { seq: 0, head: beforeFirst }
  return events.map(({ recordedAt, actor, body }) => {
    const [row] = eventRows({ projectId: '', at: recordedAt, actor }, [body], head)
    if (!row) throw new Error('one log entry is one row')
    head = { seq: row.seq, head: row.hash }
    return { seq: row.seq, recordedAt, version: row.version, actor, body, hash: row.hash }
  })
}

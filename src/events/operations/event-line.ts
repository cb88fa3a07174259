import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { parseJson } from '../../kernel/json.ts'
import type { CommandContext } from '../../kernel/operations/operation.ts'
import { keptTables, type LogSource, type SideRow } from '../../store/ports/record-rows.ts'
import type { ProjectEvent } from '../domain/project-event.ts'

/** The first line of an exported log: its format. */
export const logMark = { waymark: 'log', version: 1 } as const

const line = z.object({
  seq: z.int().min(1),
  recordedAt: z.int(),
  version: z.int(),
  // Additional actor fields are allowed: the hash covers them.
  actor: z.looseObject({
    name: z.string(),
    kind: z.enum(['agent', 'person']),
    agentName: z.string().optional(),
    role: z.string().nullable(),
    channel: z.enum(['stdio', 'http', 'cli', 'dashboard', 'elicitation']),
    connection: z.string().optional(),
    insideCommand: z.literal(true).optional(),
    identity: z.string().optional(),
    token: z.string().optional(),
    person: z.string().optional(),
    machine: z.string().optional(),
    runner: z.literal(true).optional(),
  }),
  body: z.looseObject({ kind: z.string() }),
  hash: z.string(),
})

/** A log entry as a line of an exported log. */
export function formatEventLine(event: ProjectEvent): string {
  return JSON.stringify(event)
}

const keptValue = z.union([z.string(), z.number(), z.null(), z.strictObject({ base64: z.string() })])
const keptLine = z.strictObject({
  kept: z.strictObject({ table: z.enum(keptTables), values: z.record(z.string(), keptValue) }),
})

/** A row beside the log, as a line after the log entries. */
export function formatKeptRow({ table, values: { project_id: _, ...values } }: SideRow): string {
  return JSON.stringify({ kept: { table, values } })
}

function parseKeptRow(text: string, number: number): SideRow {
  const row = keptLine.safeParse(jsonOf(text, number))
  if (row.success) return row.data.kept
  throw new Failure('INVALID_INPUT', `Line ${number} of the export is neither a log entry nor a kept row.`, {
    reason: 'export_line_invalid',
    hint: 'Import a file as `waymark export` writes it.',
  })
}

const endLine = z.strictObject({
  end: z.strictObject({ events: z.int(), kept: z.int(), hash: z.string() }),
})

/** The last line: a file without it was cut. */
export function formatExportEnd(events: number, kept: number, hash: string): string {
  return JSON.stringify({ end: { events, kept, hash } })
}

/** The lines of an export after its first one. They can be read again. */
export type ExportLines = Iterable<string> | AsyncIterable<string>

/** Reads the lines after the first one, twice or more. Fails for a cut file. */
export async function readExport(lines: ExportLines): Promise<LogSource> {
  let count = 0
  let first = ''
  let last = ''
  let before = ''
  for await (const text of lines) {
    count += 1
    if (count === 1) first = text
    before = last
    last = text
  }
  const end = endLine.safeParse(parseJson(last)).data?.end
  if (end === undefined) throw incompleteExport('it does not end with the line that marks its end')
  const rows = count - 1
  if (rows !== end.events + end.kept)
    throw incompleteExport(`it has ${rows} lines of the ${end.events + end.kept} that its end names`)
  const source = { lines, end }
  const lastEvent = end.kept === 0 ? before : await eventLineAt(source, end.events)
  const ends = {
    first: end.events > 0 ? parseEventLine(first, 2) : null,
    last: end.events > 0 ? parseEventLine(lastEvent, end.events + 1) : null,
  }
  if ((ends.last?.hash ?? '') !== end.hash)
    throw incompleteExport('its last log entry is not the one that its end names')
  return {
    events: end.events,
    kept: end.kept,
    eventAt: async (seq) => {
      if (seq === 1) return ends.first
      if (seq === end.events) return ends.last
      return seq > 0 && seq < end.events ? parseEventLine(await eventLineAt(source, seq), seq + 1) : null
    },
    readEvents: (after) => eventsIn(source, after),
    readKept: () => keptRowsIn(source),
  }
}

interface ExportContent {
  readonly lines: ExportLines
  readonly end: { readonly events: number; readonly kept: number; readonly hash: string }
}

async function eventLineAt({ lines }: ExportContent, seq: number): Promise<string> {
  let at = 0
  for await (const text of lines) {
    at += 1
    if (at === seq) return text
  }
  throw changedExport()
}

async function* eventsIn({ lines, end }: ExportContent, after: number): AsyncGenerator<ProjectEvent> {
  let at = 0
  let hash = ''
  if (after >= end.events) return
  for await (const text of lines) {
    at += 1
    if (at > after) {
      const event = parseEventLine(text, at + 1)
      hash = event.hash
      yield event
    }
    if (at === end.events) break
  }
  if (at !== end.events || hash !== end.hash) throw changedExport()
}

async function* keptRowsIn({ lines, end }: ExportContent): AsyncGenerator<SideRow> {
  let at = 0
  if (end.kept === 0) return
  for await (const text of lines) {
    at += 1
    if (at > end.events && at <= end.events + end.kept) yield parseKeptRow(text, at + 1)
  }
  if (at !== end.events + end.kept + 1) throw changedExport()
}

function changedExport(): Failure {
  return incompleteExport('it changed while it was read')
}

function incompleteExport(why: string): Failure {
  return new Failure('INVALID_INPUT', `The export is incomplete: ${why}. Nothing was imported.`, {
    reason: 'export_incomplete',
    hint: 'Export it again with `waymark export`, and copy the whole file.',
  })
}

/** Reads a line back. The store checks its body by its hash. */
export function parseEventLine(text: string, number: number): ProjectEvent {
  const parsed = line.safeParse(jsonOf(text, number))
  if (parsed.success) return parsed.data as unknown as ProjectEvent // the hash covers the rest
  throw new Failure(
    'INVALID_INPUT',
    `Line ${number} is not a log entry of a log: ${parsed.error.issues[0]?.path.join('.')} is wrong.`,
    { reason: 'export_line_invalid', hint: 'Restore a log as `waymark export` writes it.' },
  )
}

function jsonOf(text: string, number: number): unknown {
  const parsed = parseJson(text)
  if (parsed !== undefined) return parsed
  throw new Failure('INVALID_INPUT', `Line ${number} of the log is not JSON.`, {
    reason: 'export_line_not_json',
    hint: 'The file may be cut short: export it again.',
  })
}

/** Restores an exported project, all of it or nothing. */
export async function restoreEventLog(
  { store, actor, clock }: CommandContext,
  lines: ExportLines,
  { dryRun = false, replace = false }: { readonly dryRun?: boolean; readonly replace?: boolean } = {},
) {
  const log = await readExport(lines)
  if (dryRun) await readThrough(log)
  const restored = dryRun ? null : await store.restore(log, { replace, actor, at: clock.now() })
  return { events: log.events, kept: log.kept, restored }
}

/** Fails at the first line that cannot be read. */
async function readThrough(log: LogSource): Promise<void> {
  for await (const _ of log.readEvents(0));
  for await (const _ of log.readKept());
}

import { z } from 'zod'
import { Failure } from '../../kernel/failure.ts'
import { parseJson } from '../../kernel/json.ts'
import type { CommandContext } from '../../kernel/operations/operation.ts'
import { keptTables, type SideRow } from '../../store/ports/record-rows.ts'
import type { ProjectEvent } from '../domain/project-event.ts'

/** The first line of an exported log: its format. */
export const logMark = { waymark: 'log', version: 1 } as const

const line = z.object({
  seq: z.int().min(1),
  at: z.int(),
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
  happening: z.looseObject({ kind: z.string() }),
  hash: z.string(),
})

/** A log entry as a line of an exported log. */
export function formatEventLine({ body, hash, ...event }: ProjectEvent): string {
  return JSON.stringify({ ...event, happening: body, hash })
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

interface ExportBatch {
  readonly events: readonly ProjectEvent[]
  readonly kept: readonly SideRow[]
}

/** The lines after the first one. Fails for a cut file. */
export function readExport(lines: readonly string[]): ExportBatch {
  const last = endLine.safeParse(lines.length === 0 ? null : parseJson(lines.at(-1) ?? ''))
  if (!last.success) throw incompleteExport('it does not end with the line that marks its end')
  const { end } = last.data
  const rows = lines.length - 1
  if (rows !== end.events + end.kept)
    throw incompleteExport(`it has ${rows} lines of the ${end.events + end.kept} that its end names`)
  const events = lines.slice(0, end.events).map((text, index) => parseEventLine(text, index + 2))
  if ((events.at(-1)?.hash ?? '') !== end.hash)
    throw incompleteExport('its last log entry is not the one that its end names')
  const sideRows = lines
    .slice(end.events, -1)
    .map((text, index) => parseKeptRow(text, index + 2 + end.events))
  return { events, kept: sideRows }
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
  if (parsed.success) {
    const { happening: body, ...event } = parsed.data
    return { ...event, body } as unknown as ProjectEvent // the hash covers the rest
  }
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
  lines: readonly string[],
  { dryRun = false, replace = false }: { readonly dryRun?: boolean; readonly replace?: boolean } = {},
) {
  const { events, kept } = readExport(lines)
  const restored = dryRun ? null : await store.restore(events, { kept, replace, actor, at: clock.now() })
  return { events: events.length, kept: kept.length, restored }
}

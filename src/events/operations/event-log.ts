import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation, type QueryContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import { Check, verifiedFindings } from '../../project/operations/doctor.ts'
import type { SideRow, SideTable } from '../../store/ports/record-rows.ts'
import type { StoreReader } from '../../store/ports/store.ts'
import { namedSubjects } from '../domain/event-kinds.ts'
import { happenedAt, type ProjectEvent } from '../domain/project-event.ts'
import { formatEventLine, formatExportEnd, formatKeptRow, logMark } from './event-line.ts'

export const log = defineOperation({
  name: 'log',
  command: 'log',
  toolset: 'track',
  audience: 'both',
  title: 'Show what happened, in order',
  description: 'Show the last log entries, or those after a position.',
  kind: 'query',
  input: z.strictObject({
    ...pageFields(1000, 'How many; default 20'),
    since: z.int().min(0).describe('Entries after this position, oldest first').optional(),
    verify: z
      .boolean()
      .describe('Also verify the record: the file, the hash chain, and every table against the log')
      .optional(),
  }),
  output: z.object({
    events: list(
      z.object({
        seq: z.int(),
        /** The time of the event. Entries are in order of recording. */
        happened_at: z.string(),
        recorded_at: z.string(),
        kind: z.string(),
        actor: z.string(),
        /** The connection's name: the client program, or the token. Null for a person. */
        client: z.string().nullable(),
        actor_kind: z.enum(['agent', 'person']),
        /** The person behind an agent, on a team server. */
        person: z.string().nullable(),
        channel: z.string(),
        /** The public details of a log entry. */
        body: z.record(z.string(), z.unknown()),
        hash: z.string(),
      }),
    ),
    /** Titles of the tasks and missions in these entries, by id. */
    titles: z.record(z.string(), z.string()),
    head: z.int(),
    /** Leads to earlier entries or, with `since`, to later ones. */
    next_cursor: page.next_cursor,
    healthy: z.boolean().optional(),
    checks: list(Check).optional(),
  }),
}).handler(async ({ store, actor }, input) => {
  const answer = await store.view(async ({ eventLog: log, identities, tasks, missions }) => {
    const paging = new Paging('log', input, actor, 20)
    const { limit, before = input.since } = paging.request()
    const read =
      input.since === undefined ? await log.latest(paging.request()) : await log.since(before ?? 0, limit)
    const listed = read.slice(0, paging.limit)
    const events = input.since === undefined ? listed.toReversed() : listed
    const names = await peopleBehind(
      { identities },
      events.map(({ actor }) => actor),
    )
    const subjects = events.map(({ body }) => namedSubjects(body))
    const titles = [
      ...(await tasks.names(subjects.flatMap((subject) => subject.tasks))),
      ...(await missions.names(subjects.flatMap((subject) => subject.missions))),
    ]
    return {
      events: events.map((event) => logEntryOf(event, names(event.actor))),
      titles: Object.fromEntries(titles),
      head: await log.head(),
      next_cursor: paging.next(read, listed.length, ({ seq }) => seq),
    }
  })
  if (input.verify !== true) return answer
  const checks = verifiedFindings(await store.inspect(), (await store.health()).location)
  return { ...answer, healthy: checks.every(({ ok }) => ok), checks }
})

function logEntryOf(event: ProjectEvent, person: string | null) {
  const { kind: actorKind } = event.actor
  const { kind, ...body } = event.body
  return {
    seq: event.seq,
    happened_at: instant(happenedAt(event)),
    recorded_at: instant(event.recordedAt),
    kind,
    actor: displayName(event),
    client: actorKind === 'agent' ? event.actor.name : null,
    actor_kind: actorKind,
    person,
    channel: event.actor.channel,
    body,
    hash: event.hash,
  }
}

export const exportProject = defineOperation({
  name: 'export',
  command: 'export',
  toolset: 'track',
  audience: 'both',
  title: 'Export the project',
  description:
    'Print the whole record as JSON lines, with hashes, diffs and outputs: `waymark export > project.jsonl`. `waymark import` restores it elsewhere, exactly as it is.',
  kind: 'query',
  input: z.strictObject({}),
  output: z.object({ events: z.int(), diffs: z.int(), outputs: z.int(), text: z.string() }),
  print: (answer) => [String(answer['text'])],
}).handler(async ({ store, writeText }) => {
  const { events, kept } = await exportEvents({ store, writeText }, ['attempt_diff', 'command_output'])
  const diffs = kept.get('attempt_diff') ?? 0
  return { events, diffs, outputs: kept.get('command_output') ?? 0, text: '' }
})

/** Log entries that are read at once: one may be a megabyte. */
const eventsAtOnce = 200
const keptAtOnce = 20

interface ExportCounts {
  readonly events: number
  /** The rows beside the log, by table. */
  readonly kept: ReadonlyMap<SideTable, number>
}

/** Writes the whole record, with the rows of these tables. It is read in pages, up to the last entry at the beginning. */
export async function exportEvents(
  { store, writeText }: Pick<QueryContext, 'writeText'> & { readonly store: StoreReader },
  tables: readonly SideTable[],
): Promise<ExportCounts> {
  await writeText(JSON.stringify(logMark))
  const total = await store.view(({ eventLog: log }) => log.head())
  let hash = ''
  for (let seq = 0; seq < total; ) {
    const limit = Math.min(eventsAtOnce, total - seq)
    const events = await store.view(({ eventLog: log }) => log.since(seq, limit))
    if (events.length < limit) throw recordReplaced(seq, total)
    await writeText(events.map((event) => `\n${formatEventLine(event)}`).join(''))
    hash = events.at(-1)?.hash ?? hash
    seq += events.length
  }
  const kept = new Map<SideTable, number>()
  let rowCount = 0
  for (let after: SideRow | null = null; ; ) {
    const rows: readonly SideRow[] = await store.sideRows(after, keptAtOnce)
    for (const row of rows) {
      if (!tables.includes(row.table)) continue
      await writeText(`\n${formatKeptRow(row)}`)
      kept.set(row.table, (kept.get(row.table) ?? 0) + 1)
      rowCount += 1
    }
    after = rows.at(-1) ?? null
    if (rows.length < keptAtOnce) break
  }
  await writeText(`\n${formatExportEnd(total, rowCount, hash)}`)
  return { events: total, kept }
}

function recordReplaced(seq: number, total: number): Failure {
  return new Failure('CONFLICT', `Log entry ${seq + 1} of ${total} is gone: the record was replaced.`, {
    reason: 'record_replaced',
    hint: 'Export it again. What was written so far cannot be imported.',
  })
}

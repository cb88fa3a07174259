import { z } from 'zod'
import { displayName } from '../../kernel/actor.ts'
import { instant } from '../../kernel/instant.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import { Check, verifiedFindings } from '../../project/operations/doctor.ts'
import type { SideRow, SideTable } from '../../store/ports/record-rows.ts'
import type { Reads, StoreReader } from '../../store/ports/store.ts'
import { subjectsOf } from '../domain/event-kinds.ts'
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
    const subjects = events.map(({ body }) => subjectsOf(body))
    const titles = [
      ...(await tasks.named(subjects.flatMap((subject) => subject.tasks))),
      ...(await missions.named(subjects.flatMap((subject) => subject.missions))),
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
    recorded_at: instant(event.at),
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

const eventsAtOnce = 5_000

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
}).handler(async ({ store }) => {
  const { events, kept, text } = await exportEvents(store, ['attempt_diff', 'command_output'])
  const diffs = kept.filter(({ table }) => table === 'attempt_diff').length
  return { events, diffs, outputs: kept.length - diffs, text }
})

/** The whole record as text, with the rows of these tables. */
export async function exportEvents(store: StoreReader, tables: readonly SideTable[]) {
  const { lines, hash } = await store.view(allLines)
  const kept = await readKeptRows(store, tables)
  const end = formatExportEnd(lines.length, kept.length, hash)
  const text = [JSON.stringify(logMark), ...lines, ...kept.map(formatKeptRow), end].join('\n')
  return { events: lines.length, kept, text }
}

const keptAtOnce = 20

async function readKeptRows(store: StoreReader, tables: readonly SideTable[]): Promise<readonly SideRow[]> {
  const found: SideRow[] = []
  for (let after: SideRow | null = null; ; ) {
    const rows: readonly SideRow[] = await store.kept(after, keptAtOnce)
    found.push(...rows.filter(({ table }) => tables.includes(table)))
    after = rows.at(-1) ?? null
    if (rows.length < keptAtOnce) return found
  }
}

async function allLines({
  eventLog: log,
}: Reads): Promise<{ readonly lines: readonly string[]; readonly hash: string }> {
  const lines: string[] = []
  let hash = ''
  for (;;) {
    const events = await log.since(lines.length, eventsAtOnce)
    for (const event of events) lines.push(formatEventLine(event))
    hash = events.at(-1)?.hash ?? hash
    if (events.length < eventsAtOnce) return { lines, hash }
  }
}

import type { Actor } from '../../kernel/actor.ts'
import { canonicalText, sha256 } from '../../store/fingerprint.ts'
import { createYielder } from '../../store/sqlite/lock-retry.ts'
import { actorOfRow, parseColumn } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { NewProjectEvent, ProjectEvent } from '../domain/project-event.ts'
import type { ChainCheck, EventLogReads } from '../ports/log-reads.ts'
import { chainedBody, newBody } from './line-seals.ts'

export interface ProjectEventTable {
  project_id: string
  seq: number
  recorded_at: number
  kind: string
  version: number
  actor: string
  channel: string
  body: string
  hash: string
}

type ProjectEventText = Omit<ProjectEventTable, 'project_id' | 'hash'>

/** The hash before the first log entry of a project. */
export const beforeFirst = ''

/** sha256 of the previous hash and the canonical JSON of [seq, recorded_at, kind, version, actor, channel, covered body]. */
function eventHash(
  before: string,
  event: ProjectEventText,
  chained: string = chainedBody(event.kind, event.body),
): string {
  const { seq, recorded_at, kind, version, actor, channel } = event
  const head = `[${seq},${recorded_at},${JSON.stringify(kind)},${version}`
  return sha256(`${before}${head},${actor},${JSON.stringify(channel)},${chained}]`)
}

export interface AppendContext {
  readonly projectId: string
  readonly at: number
  readonly actor: Actor
}

/** Raised when old bodies can no longer be read as new ones. */
const shapeVersion = 1

/** The rows of consecutive log entries, each hashed over the previous one. */
export function eventRows(
  hookEvent: AppendContext,
  events: readonly NewProjectEvent[],
  after: { readonly seq: number; readonly head: string },
): readonly ProjectEventTable[] {
  const { channel, ...author } = hookEvent.actor
  let before = after.head
  const actor = canonicalText(author)
  return events.map((event, index) => {
    const { body, chained } = newBody(event)
    const text: ProjectEventText = {
      seq: after.seq + 1 + index,
      recorded_at: hookEvent.at,
      kind: event.kind,
      version: shapeVersion,
      actor,
      channel,
      body,
    }
    before = eventHash(before, text, chained)
    return { project_id: hookEvent.projectId, ...text, hash: before }
  })
}

export function projectEventOf(row: ProjectEventTable): ProjectEvent {
  return {
    seq: row.seq,
    recordedAt: row.recorded_at,
    version: row.version,
    actor: actorOfRow(row),
    body: { kind: row.kind, ...parseColumn<object>(row.body) } as NewProjectEvent, // as it was written
    hash: row.hash,
  }
}

export function eventLogReads(scope: ReadScope): EventLogReads {
  const { db, projectId } = scope
  const events = () => db.selectFrom('project_event').selectAll().where('project_id', '=', projectId)
  return {
    async since(after, limit) {
      const rows = await events().where('seq', '>', after).orderBy('seq').limit(limit).execute()
      return rows.map(projectEventOf)
    },
    async latest({ before, limit }) {
      const rows = await events()
        // Remote measurements at a task's start and end, which other entries show.
        .where('kind', '<>', 'lines.recorded')
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(projectEventOf)
    },
    async head() {
      const row = await db.selectFrom('project').select('seq').where('id', '=', projectId).executeTakeFirst()
      return row?.seq ?? 0
    },
    async seqBefore(time) {
      const row = await db
        .selectFrom('project_event')
        .select('seq')
        .where('project_id', '=', projectId)
        .where('recorded_at', '<', time)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row?.seq ?? 0
    },
    async timeAfter(seq) {
      const row = await db
        .selectFrom('project_event')
        .select(({ fn }) => fn.min('recorded_at').as('first'))
        .where('project_id', '=', projectId)
        .where('seq', '>', seq)
        .executeTakeFirst()
      return row?.first ?? null
    },
    verify: () => verifyChain(scope),
  }
}

const batch = 500

/** Verifies the hash of every log entry in batches; a missing entry breaks the chain, too. */
export async function verifyChain(scope: ReadScope): Promise<ChainCheck> {
  const pause = createYielder()
  let at: { readonly seq: number; readonly hash: string } = { seq: 0, hash: beforeFirst }
  for (;;) {
    const rows = await eventsAfter(scope, at.seq, batch)
    for (const row of rows) {
      if (!isNextEntry(row, at)) return { events: at.seq, brokenAt: at.seq + 1 }
      at = { seq: row.seq, hash: row.hash }
      const waits = pause()
      if (waits) await waits
    }
    if (rows.length < batch) break
  }
  const project = await scope.db
    .selectFrom('project')
    .select(['seq', 'head'])
    .where('id', '=', scope.projectId)
    .executeTakeFirst()
  const head = project ?? { seq: 0, head: beforeFirst }
  return { events: at.seq, brokenAt: head.seq !== at.seq || head.head !== at.hash ? at.seq + 1 : null }
}

/** Whether a log entry follows `last` unchanged. */
export function isNextEntry(
  row: ProjectEventTable,
  last: { readonly seq: number; readonly hash: string },
): boolean {
  return row.seq === last.seq + 1 && isDelimited(row) && row.hash === eventHash(last.hash, row)
}

const seenActors = new Set<string>()
const maxSeenActors = 1000

// Text moved between adjacent columns would not change the hashed text. It cannot move, since other parts are numbers or quoted.
function isDelimited({ recorded_at, version, actor }: ProjectEventTable): boolean {
  if (typeof recorded_at !== 'number' || typeof version !== 'number') return false
  if (seenActors.has(actor)) return true
  try {
    JSON.parse(actor)
  } catch {
    return false
  }
  if (seenActors.size < maxSeenActors) seenActors.add(actor)
  return true
}

/** The log entries after one, oldest first. */
function eventsAfter({ db, projectId }: ReadScope, seq: number, limit: number): Promise<ProjectEventTable[]> {
  return db
    .selectFrom('project_event')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

import type { Actor } from '../../kernel/actor.ts'
import { canonical, sha256 } from '../../store/fingerprint.ts'
import type { ChainCheck, JournalReads } from '../../store/ports/reads.ts'
import { breath } from '../../store/sqlite/waiting.ts'
import { actorOf, parsed } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { Fact, NewFact } from '../domain/fact.ts'
import { chainedBody, newBody } from './sealed-lines.ts'

export interface FactTable {
  project_id: string
  seq: number
  at: number
  kind: string
  version: number
  actor: string
  channel: string
  body: string
  hash: string
}

type FactText = Omit<FactTable, 'project_id' | 'hash'>

/** The hash that the first fact of a project follows. */
export const beforeFirst = ''

/** sha256 of the hash before and the canonical JSON of [seq, at, kind, version, actor, channel, what is covered of body]. */
function factHash(
  before: string,
  fact: FactText,
  chained: string = chainedBody(fact.kind, fact.body),
): string {
  const { seq, at, kind, version, actor, channel } = fact
  const head = `[${seq},${at},${JSON.stringify(kind)},${version}`
  return sha256(`${before}${head},${actor},${JSON.stringify(channel)},${chained}]`)
}

export interface Moment {
  readonly projectId: string
  readonly at: number
  readonly actor: Actor
}

/** It grows when an old body can no longer be read as a new one. */
const shapeVersion = 1

/** The rows of consecutive facts, each hashed over the one before. */
export function factRows(
  moment: Moment,
  facts: readonly NewFact[],
  after: { readonly seq: number; readonly head: string },
): readonly FactTable[] {
  const { channel, ...who } = moment.actor
  let before = after.head
  const by = canonical(who)
  return facts.map((fact, index) => {
    const { body, chained } = newBody(fact)
    const text: FactText = {
      seq: after.seq + 1 + index,
      at: moment.at,
      kind: fact.kind,
      version: shapeVersion,
      actor: by,
      channel,
      body,
    }
    before = factHash(before, text, chained)
    return { project_id: moment.projectId, ...text, hash: before }
  })
}

export function factOf(row: FactTable): Fact {
  return {
    seq: row.seq,
    at: row.at,
    version: row.version,
    actor: actorOf(row),
    body: { kind: row.kind, ...parsed<object>(row.body) } as NewFact, // as it was written
    hash: row.hash,
  }
}

export function journalReads(scope: ReadScope): JournalReads {
  const { db, projectId } = scope
  const facts = () => db.selectFrom('fact').selectAll().where('project_id', '=', projectId)
  return {
    async since(after, limit) {
      const rows = await facts().where('seq', '>', after).orderBy('seq').limit(limit).execute()
      return rows.map(factOf)
    },
    async latest({ before, limit }) {
      const rows = await facts()
        // What a machine measured beside a task's start and end, which is told there.
        .where('kind', '<>', 'lines.recorded')
        .$if(before !== undefined, (query) => query.where('seq', '<', before ?? 0))
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(factOf)
    },
    async head() {
      const row = await db.selectFrom('project').select('seq').where('id', '=', projectId).executeTakeFirst()
      return row?.seq ?? 0
    },
    async seqBefore(time) {
      const row = await db
        .selectFrom('fact')
        .select('seq')
        .where('project_id', '=', projectId)
        .where('at', '<', time)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row?.seq ?? 0
    },
    async timeAfter(seq) {
      const row = await db
        .selectFrom('fact')
        .select(({ fn }) => fn.min('at').as('at'))
        .where('project_id', '=', projectId)
        .where('seq', '>', seq)
        .executeTakeFirst()
      return row?.at ?? null
    },
    verify: () => verifyChain(scope),
  }
}

const batch = 500

/** Hashes every fact again, a batch at a time; a fact that is missing, also at the end, breaks the chain too. */
export async function verifyChain(scope: ReadScope): Promise<ChainCheck> {
  const pause = breath()
  let at: { readonly seq: number; readonly hash: string } = { seq: 0, hash: beforeFirst }
  for (;;) {
    const rows = await factsAfter(scope, at.seq, batch)
    for (const row of rows) {
      if (!follows(row, at)) return { facts: at.seq, brokenAt: at.seq + 1 }
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
  return { facts: at.seq, brokenAt: head.seq !== at.seq || head.head !== at.hash ? at.seq + 1 : null }
}

/** Whether a fact is the one after `last`, unchanged. */
export function follows(row: FactTable, last: { readonly seq: number; readonly hash: string }): boolean {
  return row.seq === last.seq + 1 && isDelimited(row) && row.hash === factHash(last.hash, row)
}

const seenActors = new Set<string>()
const mostSeenActors = 1000

// Text that moved from one column into the next would leave the hashed text as it was. It cannot have moved where the
// numbers are numbers and the actor is one JSON value: every other part is quoted, or ends with the text.
function isDelimited({ at, version, actor }: FactTable): boolean {
  if (typeof at !== 'number' || typeof version !== 'number') return false
  if (seenActors.has(actor)) return true
  try {
    JSON.parse(actor)
  } catch {
    return false
  }
  if (seenActors.size < mostSeenActors) seenActors.add(actor)
  return true
}

/** The facts after one, the oldest first. */
function factsAfter({ db, projectId }: ReadScope, seq: number, limit: number): Promise<FactTable[]> {
  return db
    .selectFrom('fact')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(limit)
    .execute()
}

import { type QueryExecutorProvider, sql } from 'kysely'
import type { Actor } from '../../domain/actor.ts'
import type { FactOf } from '../../domain/fact-kinds.ts'
import { parsed } from '../tables/query.ts'
import type { Migration } from './migration.ts'

/** Whether a person or an agent ended a hold: only a person's end is an answer that was waited for. */
export const whoAnswered: Migration = {
  version: 13,
  title: 'who answered what waited',
  destructive: false,
  statements: ({ text }) => [
    `alter table hold add column closed_kind ${text}`,
    'create index hold_closed on hold (project_id, closed_at)',
  ],
  settle: fillKinds,
}

interface Closing {
  readonly project_id: string
  readonly seq: number
  readonly actor: string
  readonly body: string
}

const atOnce = 500

async function fillKinds(db: QueryExecutorProvider): Promise<void> {
  let [project, seq] = ['', 0]
  for (;;) {
    const { rows } = await sql<Closing>`
      select project_id, seq, actor, body from fact
      where kind = 'hold.closed' and (project_id > ${project} or (project_id = ${project} and seq > ${seq}))
      order by project_id, seq limit ${atOnce}`.execute(db)
    for (const row of rows) {
      const { holdId } = parsed<FactOf<'hold.closed'>>(row.body)
      const { kind } = parsed<Actor>(row.actor)
      await sql`update hold set closed_kind = ${kind}
        where project_id = ${row.project_id} and id = ${holdId}`.execute(db)
    }
    const last = rows.at(-1)
    if (last === undefined || rows.length < atOnce) return
    ;[project, seq] = [last.project_id, last.seq]
  }
}

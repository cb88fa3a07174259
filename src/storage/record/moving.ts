import type { Kysely } from 'kysely'
import type { Actor } from '../../domain/actor.ts'
import type { Fact } from '../../domain/fact.ts'
import { Failure } from '../../domain/failure.ts'
import type { Head, RecordEnd, RecordStanding } from '../../ports/moving.ts'
import { beforeFirst, factOf, factRows, factsAfter } from '../journal/journal.ts'
import { breath } from '../sqlite/waiting.ts'
import { makeHeights } from '../tables/dependency.ts'
import { onItsWay, projectState } from '../tables/project-place.ts'
import { projectFact } from '../tables/projections.ts'
import { inBatches } from '../tables/query.ts'
import type { Tables } from '../tables/tables.ts'
import { forgetKept, keepRows, keptIn } from './kept.ts'
import { fewLinks } from './record.ts'
import { inSession } from './session.ts'

/** A database as the one who moves a project sees it. */
export interface Ground {
  /** What it is called for people. */
  readonly shown: string
  /** Null where there is no database yet. */
  read<Answer>(work: (db: Kysely<Tables>) => Promise<Answer>): Promise<Answer | null>
  /** One transaction in which nobody else writes to the project. It may run again. Makes the database. */
  write<Answer>(projectId: string, work: (db: Kysely<Tables>) => Promise<Answer>): Promise<Answer>
  /** Fails where another project stands in the way. */
  assertRoom(db: Kysely<Tables>, projectId: string): Promise<void>
  /** The folder's record is this project from now on. */
  adopt(db: Kysely<Tables>, projectId: string, at: number): Promise<void>
  remembered(): Promise<{ readonly projectId: string; readonly seq: number; readonly hash: string } | null>
  forget(): void
  /** Which project the folder's record is. */
  projectId(): Promise<string | null>
}

/** One end of a move. */
export function recordEnd(ground: Ground): RecordEnd {
  const { shown } = ground
  return {
    shown,
    projectId: () => ground.projectId(),
    standing: (projectId) => ground.read((db) => standingIn(db, projectId)),
    remembered: () => ground.remembered(),
    async factsAfter(projectId, seq, limit) {
      const rows = await ground.read((db) => factsAfter({ db, projectId }, seq, limit))
      return (rows ?? []).map(factOf)
    },
    async keptAfter(projectId, after, limit) {
      const page = await ground.read((db) => keptIn(db, { projectId, after, limit }))
      return page ?? []
    },
    async begin(projectId, { from, at, vouched }) {
      if (vouched) ground.forget()
      await ground.write(projectId, async (db) => {
        await ground.assertRoom(db, projectId)
        const standing = await standingIn(db, projectId)
        if (standing?.isArriving) return
        if (!isSame(standing, from)) throw changedMeanwhile(shown)
        await db.insertInto('project_arrival').values({ project_id: projectId, began_at: at }).execute()
        await forgetKept(db, projectId)
      })
    },
    take: (projectId, facts) =>
      ground.write(projectId, async (db) => {
        const [first] = facts
        const last = facts.at(-1)
        const standing = await standingIn(db, projectId)
        if (!first || !last || standing?.hash === last.hash) return
        if (!standing?.isArriving || standing.seq !== first.seq - 1) throw changedMeanwhile(shown)
        if (standing.seq === 0) await ground.assertRoom(db, projectId)
        await inSession(db, (session) => applyFacts(session, projectId, facts, standing))
      }),
    keep: (projectId, rows) => ground.write(projectId, (db) => keepRows(db, projectId, rows)),
    open: (projectId, opening) =>
      ground.write(projectId, async (db) => {
        const standing = await standingIn(db, projectId)
        // Its commit was lost, or another one was faster.
        if (standing && !standing.isArriving && standing.movedTo === null && standing.seq > opening.head.seq)
          return
        if (!standing?.isArriving || !isSame(standing, opening.head)) throw changedMeanwhile(shown)
        await db.deleteFrom('project_arrival').where('project_id', '=', projectId).execute()
        await appendArrival(db, { projectId, after: standing, ...opening, place: shown })
        await ground.adopt(db, projectId, opening.at)
      }),
  }
}

async function standingIn(db: Kysely<Tables>, projectId: string): Promise<RecordStanding | null> {
  const state = await projectState(db, projectId)
  if (state) return { ...state, movedTo: state.moved?.to ?? null }
  const arrival = await db
    .selectFrom('project_arrival')
    .select('began_at')
    .where('project_id', '=', projectId)
    .executeTakeFirst()
  return arrival ? { seq: 0, hash: beforeFirst, movedTo: null, isArriving: true } : null
}

function isSame(standing: Head | null, expected: Head | null): boolean {
  return standing?.seq === expected?.seq && standing?.hash === expected?.hash
}

function changedMeanwhile(shown: string): Failure {
  return new Failure('CONFLICT', `The record at ${shown} changed while the project was being moved there.`, {
    hint: 'Run the same command again.',
  })
}

/** Applies facts and appends them as they are: same times, actors and hashes. Fails where they do not follow. */
export async function applyFacts(
  db: Kysely<Tables>,
  projectId: string,
  facts: readonly Fact[],
  after: Head,
): Promise<Head> {
  const pause = breath()
  let head = { seq: after.seq, head: after.hash }
  const rows = []
  const heightsLater = facts.filter(({ body }) => body.kind === 'dependency.added').length > fewLinks
  for (const fact of facts) {
    const by = { at: fact.at, actor: fact.actor }
    const [row] = factRows({ projectId, ...by }, [fact.body], head)
    if (row === undefined || row.seq !== fact.seq || row.hash !== fact.hash) throw changed(fact.seq)
    await projectFact({ db, projectId, seq: fact.seq, ...by, heightsLater }, fact.body)
    rows.push(row)
    head = { seq: row.seq, head: row.hash }
    const waits = pause()
    if (waits) await waits
  }
  if (heightsLater) await makeHeights({ db, projectId })
  for (const batch of inBatches(rows)) {
    await db.insertInto('fact').values(batch).execute()
    const waits = pause()
    if (waits) await waits
  }
  await db.updateTable('project').set(head).where('id', '=', projectId).execute()
  return { seq: head.seq, hash: head.head }
}

function changed(seq: number): Failure {
  return new Failure(
    'INVALID_INPUT',
    `Fact ${seq} of the journal does not follow from the ones before it: it was changed, or one is missing.`,
    { hint: 'Export the journal again from the project that it comes from.' },
  )
}

interface Arrival {
  readonly projectId: string
  readonly after: Head
  readonly from: string
  readonly place: string
  readonly actor: Actor
  readonly at: number
}

/** The project is written at this place from now on. */
async function appendArrival(
  db: Kysely<Tables>,
  { projectId, after, from, place, actor, at }: Arrival,
): Promise<void> {
  const fact = { kind: 'project.arrived', from, at: place } as const
  const rows = factRows({ projectId, at, actor }, [fact], { seq: after.seq, head: after.hash })
  await projectFact({ db, projectId, seq: after.seq + 1, at, actor }, fact)
  await db.insertInto('fact').values(rows).execute()
  const [row] = rows
  if (row)
    await db
      .updateTable('project')
      .set({ seq: row.seq, head: row.hash })
      .where('id', '=', projectId)
      .execute()
}

/** Where a person says so, a project that moved is written here again: the place where it went is lost. */
export async function acceptHere(
  db: Kysely<Tables>,
  by: { readonly projectId: string; readonly place: string; readonly actor: Actor; readonly at: number },
): Promise<number> {
  const state = await projectState(db, by.projectId)
  if (!state) return 0
  if (state.isArriving) throw onItsWay()
  if (state.moved === null) return state.seq
  await appendArrival(db, { ...by, after: state, from: state.moved.to })
  return state.seq + 1
}

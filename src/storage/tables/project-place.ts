import type { Kysely } from 'kysely'
import type { FactOf } from '../../domain/fact-kinds.ts'
import { Failure } from '../../domain/failure.ts'
import { instant } from '../../domain/instant.ts'
import type { Head } from '../../ports/moving.ts'
import { makeKnown } from '../record/session.ts'
import { prepared } from './query.ts'
import type { Projecting, Tables } from './tables.ts'

/** A project that was moved, and is only read where it was. */
export interface ProjectMoveTable {
  project_id: string
  seq: number
  place: string
  moved_at: number
}

/** A project that is being brought here: until it was opened, nobody sees it. No fact makes it. */
export interface ProjectArrivalTable {
  project_id: string
  began_at: number
}

export async function applyProjectMoved(
  { db, projectId, seq, at }: Projecting,
  { to }: FactOf<'project.moved'>,
): Promise<void> {
  const row = { seq, place: to, moved_at: at }
  await db
    .insertInto('project_move')
    .values({ project_id: projectId, ...row })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(row))
    .execute()
}

export async function applyProjectArrived({ db, projectId }: Projecting): Promise<void> {
  await db.deleteFrom('project_move').where('project_id', '=', projectId).execute()
}

export interface ProjectState extends Head {
  readonly moved: { readonly to: string; readonly at: number } | null
  readonly isArriving: boolean
}

const states = prepared((db, projectId: string) =>
  db
    .selectFrom('project')
    .leftJoin('project_move', 'project_move.project_id', 'project.id')
    .leftJoin('project_arrival', 'project_arrival.project_id', 'project.id')
    .select(['project.seq', 'project.head', 'place', 'moved_at', 'began_at'])
    .where('project.id', '=', projectId),
)

/** How far a project has come, and whether this is the place where it is written. Null where there is none. */
export async function projectState(db: Kysely<Tables>, projectId: string): Promise<ProjectState | null> {
  const [row] = await states(db, projectId)
  if (!row) return null
  const { seq, head, place, moved_at, began_at } = row
  const moved = place === null || moved_at === null ? null : { to: place, at: moved_at }
  return { seq, hash: head, moved, isArriving: began_at !== null }
}

/** In a session: how far a project has come by what was written just now, so that it need not be asked. It is written here. */
export function knowHead(
  db: Kysely<Tables>,
  projectId: string,
  head: { readonly seq: number; readonly head: string },
): Promise<void> {
  const row = { ...head, place: null, moved_at: null, began_at: null }
  return makeKnown(db, states.filled(db, [projectId]), [row])
}

/** What is said first of what is read of a project that was moved. Fails where it is still on its way here. */
export function noticeOf(state: ProjectState | null): string | null {
  if (state?.isArriving) throw onItsWay()
  return state?.moved
    ? `This project moved to ${state.moved.to} on ${instant(state.moved.at)}: this is its old record, which is only read.`
    : null
}

/** Fails where a project is written elsewhere. */
export function assertWrittenHere({ isArriving, moved }: ProjectState): void {
  if (isArriving) throw onItsWay()
  if (moved) throw writtenElsewhere(moved.to, moved.at)
}

function writtenElsewhere(place: string, at: number): Failure {
  return new Failure(
    'UNAVAILABLE',
    `This project moved to ${place} on ${instant(at)}: nothing is recorded here any more.`,
    {
      hint: 'Start Waymark again in the folder of the project, which leads there. A move that was interrupted goes on with the same `waymark move --to …`.',
    },
  )
}

export function onItsWay(): Failure {
  return new Failure('UNAVAILABLE', 'This project is being moved here, and has not arrived yet.', {
    hint: 'If nobody moves it now, run the same `waymark move --to …` again in its folder: it goes on where it was.',
  })
}

import type { Kysely } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import type { LogHead } from '../../store/ports/record-rows.ts'
import { prepareQuery } from '../../store/tables/query.ts'
import type { ProjectionContext, Tables } from '../../store/tables/tables.ts'

/** A project that is read-only because writing ended. */
export interface ProjectEndTable {
  project_id: string
  seq: number
  location: string | null
  ended_at: number
}

export async function applyProjectEnded(
  { db, projectId, seq, at: endedAt }: ProjectionContext,
  { to }: ProjectEventOf<'project.ended'>,
): Promise<void> {
  const row = { seq, location: to, ended_at: endedAt }
  await db
    .insertInto('project_end')
    .values({ project_id: projectId, ...row })
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(row))
    .execute()
}

export async function applyProjectReopened({ db, projectId }: ProjectionContext): Promise<void> {
  await db.deleteFrom('project_end').where('project_id', '=', projectId).execute()
}

export interface ProjectState extends LogHead {
  /** Its new location, if known, and the time when writing ended here. */
  readonly ended: { readonly to: string | null; readonly at: number } | null
}

const states = prepareQuery((db, projectId: string) =>
  db
    .selectFrom('project')
    .leftJoin('project_end', 'project_end.project_id', 'project.id')
    .select(['project.seq', 'project.head', 'location', 'ended_at'])
    .where('project.id', '=', projectId),
)

/** The last log entry of a project, and whether it is writable. Null where there is none. */
export async function projectState(db: Kysely<Tables>, projectId: string): Promise<ProjectState | null> {
  const [row] = await states(db, projectId)
  if (!row) return null
  const { seq, head, location: to, ended_at: endedAt } = row
  return { seq, hash: head, ended: endedAt === null ? null : { to, at: endedAt } }
}

/** The first line of answers about a read-only project. */
export function readOnlyNotice(state: ProjectState | null): string | null {
  return state?.ended ? `${endOf(state.ended)} The record is read-only. ${howToGoOn}` : null
}

/** Fails if writing ended. */
export function assertProjectNotEnded({ ended }: ProjectState): void {
  if (!ended) return
  throw new Failure('REFUSED', `${endOf(ended)} Nothing was recorded.`, {
    reason: 'project_ended',
    hint: howToGoOn,
  })
}

/** Whether writing ended: another record may have replaced the open one. */
export function isProjectEnded(error: unknown): boolean {
  return error instanceof Failure && error.reason === 'project_ended'
}

const howToGoOn =
  'Import the file where the project continues, with `waymark import --replace <file>`. To write here again, run `waymark export --reopen`.'

function endOf({ to, at }: NonNullable<ProjectState['ended']>): string {
  return `Writing in this project ended on ${instant(at)}${to === null ? '.' : `; it goes on at ${to}.`}`
}

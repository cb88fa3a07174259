import { sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { AttemptMeasurement } from '../../events/domain/project-event.ts'
import type { MissionId } from '../../kernel/id.ts'
import type { ListPart } from '../../kernel/page.ts'
import type { MissionFile } from '../../reports/ports/timeline-reads.ts'
import { toStorable } from '../../store/fingerprint.ts'
import { lateralLookup, nonEmptyValues, numberOrNull, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import { type FileChange, type MissionChange, ownLines } from '../domain/changes.ts'
import type { MissionLineCounts } from '../ports/mission-reads.ts'
import type { AttemptTable } from './attempt.ts'

/** A path that a mission changed in a work tree, from the first state to the last. */
export interface MissionChangeTable {
  project_id: string
  mission_id: string
  tree_top: string
  path: string
  from_path: string | null
  change: string
  origin: string
  added_lines: number | null
  deleted_lines: number | null
  others: number
}

/** Updates a mission's changes at the end of an attempt, so that reading its totals takes one row. */
export async function addToMission(
  projecting: ProjectionContext,
  { mission_id, tree_top, counted }: MissionTreeKey & { readonly counted: PathCounts },
  { outcome, evidence }: ProjectEventOf<'attempt.closed'>,
): Promise<void> {
  if (mission_id === null) return
  const place = { missionId: mission_id, top: tree_top }
  await upsertChanges(projecting, place, filesOf({ evidence }), evidence.mission ? putRow : addRow)
  const files = newlyCounted(filesOf({ evidence }), counted)
  const [input, output] = [outcome.tokensInput ?? 0, outcome.tokensOutput ?? 0]
  if (files === 0 && input === 0 && output === 0) return
  const { db, projectId } = projecting
  await db
    .updateTable('mission')
    .set((eb) => ({
      files_changed: eb('files_changed', '+', files),
      tokens_input: eb('tokens_input', '+', input),
      tokens_output: eb('tokens_output', '+', output),
    }))
    .where('project_id', '=', projectId)
    .where('id', '=', mission_id)
    .execute()
}

/** How many more files a mission has with these changes than it had before. */
function newlyCounted(changes: readonly MissionChange[], counted: PathCounts): number {
  return changes.reduce((sum, change) => {
    const { here = false, elsewhere = false } = counted.get(toStorable(change.path)) ?? {}
    return sum + Number(elsewhere || isCountedChange(change)) - Number(elsewhere || here)
  }, 0)
}

/** Puts a mission's changes as they are after a person undid or restored work. */
export async function putMissionChanges(
  projecting: ProjectionContext,
  missionId: MissionId,
  top: string,
  changes: readonly MissionChange[],
): Promise<void> {
  const counted = await countedFiles(projecting, { mission_id: missionId, tree_top: top }, changes)
  await upsertChanges(projecting, { missionId, top }, changes, putRow)
  const { db, projectId } = projecting
  await db
    .updateTable('mission')
    .set((eb) => ({ files_changed: eb('files_changed', '+', newlyCounted(changes, counted)) }))
    .where('project_id', '=', projectId)
    .where('id', '=', missionId)
    .execute()
}

/** Takes changes that left an attempt off its mission, but for paths that another of its attempts in the work tree changed. */
export async function takeOffMission(
  projecting: ProjectionContext,
  { mission_id, tree_top }: MissionTreeKey,
  left: readonly Pick<FileChange, 'path' | 'from'>[],
): Promise<void> {
  if (mission_id === null) return
  const { db, projectId } = projecting
  const names = [...new Set(left.flatMap(({ path, from }) => (from === undefined ? [path] : [path, from])))]
  for (const batch of splitIntoBatches(names)) {
    const rows = await db
      .selectFrom('mission_change')
      .select(['path', 'from_path'])
      .where('project_id', '=', projectId)
      .where('mission_id', '=', mission_id)
      .where('tree_top', '=', tree_top)
      .where((row) => row.or([row('path', 'in', batch), row('from_path', 'in', batch)]))
      .execute()
    const named = rows.flatMap(({ path, from_path: from }) => (from === null ? [path] : [path, from]))
    const held = await db
      .selectFrom('attempt_change as change')
      .innerJoin('attempt', (join) =>
        join
          .onRef('attempt.project_id', '=', 'change.project_id')
          .onRef('attempt.id', '=', 'change.attempt_id'),
      )
      .select('change.path')
      .where('change.project_id', '=', projectId)
      .where('change.path', 'in', nonEmptyValues(named))
      .where('attempt.mission_id', '=', mission_id)
      .where('attempt.tree_top', '=', tree_top)
      .execute()
    const kept = new Set<string | null>(held.map(({ path }) => path))
    const gone = rows.filter(({ path, from_path }) => !kept.has(path) && !kept.has(from_path))
    const counted = await countedFiles(projecting, { mission_id, tree_top }, gone)
    const files = [...counted.values()].filter(({ here, elsewhere }) => here && !elsewhere).length
    await db
      .deleteFrom('mission_change')
      .where('project_id', '=', projectId)
      .where('mission_id', '=', mission_id)
      .where('tree_top', '=', tree_top)
      .where('path', 'in', nonEmptyValues(gone.map(({ path }) => path)))
      .execute()
    await db
      .updateTable('mission')
      .set((eb) => ({ files_changed: eb('files_changed', '-', files) }))
      .where('project_id', '=', projectId)
      .where('id', '=', mission_id)
      .execute()
  }
}

type MissionTreeKey = Pick<AttemptTable, 'mission_id' | 'tree_top'>

/** The mission's files from the evidence of an attempt. */
export function filesOf({
  evidence,
}: {
  readonly evidence: Pick<AttemptMeasurement, 'changes' | 'mission'>
}): readonly MissionChange[] {
  return evidence.mission ?? evidence.changes.map((change) => ({ ...change, ...ownLines(change) }))
}

interface MissionWorkTree {
  readonly missionId: string
  readonly top: string
}

function excludedColumn<Column extends keyof MissionChangeTable>(column: Column) {
  return sql<MissionChangeTable[Column]>`excluded.${sql.ref(column)}`
}

const newState = {
  from_path: excludedColumn('from_path'),
  change: excludedColumn('change'),
  origin: excludedColumn('origin'),
}

const putRow = {
  ...newState,
  added_lines: excludedColumn('added_lines'),
  deleted_lines: excludedColumn('deleted_lines'),
  others: excludedColumn('others'),
}

/** The sum of the attempts' lines, if the states could not be compared. */
const addRow = {
  ...newState,
  added_lines: sql<number | null>`mission_change.added_lines + excluded.added_lines`,
  deleted_lines: sql<number | null>`mission_change.deleted_lines + excluded.deleted_lines`,
}

/** Whether a path counts as a mission's file; changes imported by git are other people's. */
function isCountedChange({ change, origin }: Pick<MissionChange, 'change' | 'origin'>): boolean {
  return change !== 'none' && origin !== 'imported'
}

/** For each path, whether it is counted among the mission's files, by this or another work tree. */
type PathCounts = ReadonlyMap<unknown, { readonly here: boolean; readonly elsewhere: boolean }>

export async function countedFiles(
  { db, projectId }: ReadScope,
  { mission_id, tree_top }: MissionTreeKey,
  changes: readonly Pick<MissionChange, 'path'>[],
): Promise<PathCounts> {
  if (mission_id === null) return new Map()
  const rows = await Promise.all(
    splitIntoBatches(changes).map(async (batch) => {
      // One index lookup per path, however many files and work trees the mission has.
      const wanted = sql.join(batch.map(({ path }) => sql`(cast(${path} as text))`))
      const isCounted = sql`select 1 from mission_change as changed
        where changed.project_id = ${projectId} and changed.mission_id = ${mission_id}
          and changed.path = wanted.path and changed.change <> 'none' and changed.origin <> 'imported'`
      const counting = sql<{ path: string; here: number; elsewhere: number }>`
        with wanted (path) as (values ${wanted})
        select path,
          case when exists (${isCounted} and changed.tree_top = ${tree_top}) then 1 else 0 end as here,
          case when exists (${isCounted} and changed.tree_top <> ${tree_top}) then 1 else 0 end as elsewhere
        from wanted`
      return (await counting.execute(db)).rows
    }),
  )
  return new Map(
    rows.flat().map(({ path, here, elsewhere }) => [path, { here: here === 1, elsewhere: elsewhere === 1 }]),
  )
}

async function upsertChanges(
  projecting: ProjectionContext,
  place: MissionWorkTree,
  changes: readonly MissionChange[],
  onConflict: typeof putRow | typeof addRow,
): Promise<void> {
  for (const batch of splitIntoBatches(changes.map((change) => changeRow(projecting, place, change)))) {
    await projecting.db
      .insertInto('mission_change')
      .values(batch)
      .onConflict((conflict) =>
        conflict.columns(['project_id', 'mission_id', 'tree_top', 'path']).doUpdateSet(onConflict),
      )
      .execute()
  }
}

function changeRow(
  { projectId }: ProjectionContext,
  { missionId, top }: MissionWorkTree,
  change: MissionChange,
) {
  return {
    project_id: projectId,
    mission_id: missionId,
    tree_top: top,
    path: change.path,
    from_path: change.from ?? null,
    change: change.change,
    origin: change.origin,
    added_lines: change.addedLines,
    deleted_lines: change.deletedLines,
    others: Number(change.others === true),
  }
}

export async function addToPhase(
  { db, projectId, at }: ProjectionContext,
  phaseId: string | null,
): Promise<void> {
  if (phaseId === null) return
  await db
    .updateTable('phase')
    .set({ last_end: sql<number>`case when last_end > ${at} then last_end else ${at} end` })
    .where('project_id', '=', projectId)
    .where('id', '=', phaseId)
    .execute()
}

/** The final changes of a mission's paths over all work trees, with the last task of each. */
export async function missionFiles(
  { db, projectId }: ReadScope,
  missionId: MissionId,
  { limit, offset }: ListPart,
): Promise<readonly MissionFile[]> {
  const on = sql`changed.project_id = attempt.project_id and changed.attempt_id = attempt.id`
  const { rows } = await sql<
    Omit<MissionFile, 'scope' | 'others'> & { readonly judged: 0 | 1 | null; readonly others: 0 | 1 }
  >`
    select state.path,
      case when count(distinct state.change) = 1 then max(state.change) else 'modified' end as change,
      sum(state.added_lines) as "addedLines", sum(state.deleted_lines) as "deletedLines",
      max(state.others) as others,
      max(work.task_id) as "taskId", coalesce(max(work.attempts), 0) as attempts, max(work.judged) as judged
    from mission_change as state
    left join (
      select path, max(case when age = 1 then task_id end) as task_id, count(distinct id) as attempts,
        max(case when scope = 'out' then 1 when scope is not null then 0 end) as judged
      from (
        select changed.path, attempt.id, attempt.task_id, changed.scope,
          row_number() over (partition by changed.path order by attempt.seq desc) as age
        from attempt ${lateralLookup(db, { table: 'attempt_change', as: 'changed', on })}
        where attempt.project_id = ${projectId} and attempt.mission_id = ${missionId}) as changes
      group by path) as work on work.path = state.path
    where state.project_id = ${projectId} and state.mission_id = ${missionId} and state.change <> 'none'
      and state.origin <> 'imported'
    group by state.path
    order by coalesce(max(work.judged), 0) desc, state.path
    limit ${limit} offset ${offset}`.execute(db)
  return rows.map(({ judged, others, ...file }) => ({
    ...file,
    scope: judged === null ? null : judged === 1 ? 'out' : 'in',
    others: others === 1,
  }))
}

export const noMissionLines: MissionLineCounts = { files: 0, added: 0, deleted: 0 }

/** Changes imported by git are other people's. */
export async function linesOfMissions(
  { db, projectId }: ReadScope,
  missionIds: readonly MissionId[],
): Promise<ReadonlyMap<string, MissionLineCounts>> {
  const rows = await db
    .selectFrom('mission_change')
    .select(({ fn }) => [
      'mission_id',
      fn.count<number>('path').distinct().as('files'),
      fn.sum<number | null>('added_lines').as('added'),
      fn.sum<number | null>('deleted_lines').as('deleted'),
    ])
    .where('project_id', '=', projectId)
    .where('mission_id', 'in', nonEmptyValues(missionIds))
    .where('change', '<>', 'none')
    .where('origin', '<>', 'imported')
    .groupBy('mission_id')
    .execute()
  return new Map(
    rows.map(({ mission_id, files, added, deleted }) => [
      mission_id,
      { files: Number(files), added: numberOrNull(added), deleted: numberOrNull(deleted) },
    ]),
  )
}

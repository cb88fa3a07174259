import { type Insertable, type Selectable, sql } from 'kysely'
import type { FactOf } from '../../events/domain/fact-kinds.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId, HoldId, IssueId, MissionId, PhaseId, RunId, TaskId } from '../../kernel/id.ts'
import { countEveryDependency } from '../../plan/tables/dependency.ts'
import { recountDependents, taskBefore } from '../../plan/tables/task.ts'
import type { HoldFilter, HoldLine, HoldReads, Page, PageRequest } from '../../store/ports/reads.ts'
import { actorOf, anyOf, idsLike, parsed, parsedOrNull, prepared } from '../../store/tables/query.ts'
import type { Projecting, ReadScope, RowKey } from '../../store/tables/tables.ts'
import type { Hold } from '../../track/domain/records.ts'
import { issueOf, recordConditions } from '../../track/tables/records.ts'
import { holdingKinds } from '../domain/holds.ts'

export interface HoldTable {
  project_id: string
  id: string
  seq: number
  kind: string
  mission_id: string | null
  phase_id: string | null
  task_id: string | null
  attempt_id: string | null
  issue_id: string | null
  run_id: string | null
  request: string | null
  request_hash: string | null
  reason: string
  paths: string
  opened_by: string
  opened_at: number
  status: string
  answer: string | null
  said: string | null
  closed_by: string | null
  /** `person` or `agent`. */
  closed_kind: string | null
  closed_at: number | null
}

function holdRow({ projectId, seq }: RowKey, hold: Hold): Insertable<HoldTable> {
  return {
    project_id: projectId,
    id: hold.id,
    seq,
    kind: hold.kind,
    mission_id: hold.missionId,
    phase_id: hold.phaseId,
    task_id: hold.taskId,
    attempt_id: hold.attemptId,
    issue_id: hold.issueId,
    run_id: hold.runId,
    request: hold.request === null ? null : JSON.stringify(hold.request),
    request_hash: hold.request?.kind === 'command' ? hold.request.hash : null,
    reason: hold.reason,
    paths: JSON.stringify(hold.paths),
    opened_by: hold.openedBy,
    opened_at: hold.openedAt,
    status: hold.status,
    answer: hold.answer,
    said: null,
    closed_by: hold.closedBy,
    closed_kind: null,
    closed_at: hold.closedAt,
  }
}

export function holdOf(row: Selectable<HoldTable>): Hold {
  return {
    id: row.id as HoldId, // a brand
    kind: row.kind as Hold['kind'], // as it was written
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    taskId: row.task_id as TaskId | null, // a brand
    attemptId: row.attempt_id as AttemptId | null, // a brand
    issueId: row.issue_id as IssueId | null, // a brand
    runId: row.run_id as RunId | null, // a brand
    request: parsedOrNull(row.request),
    reason: row.reason,
    paths: parsed(row.paths),
    openedBy: row.opened_by,
    openedAt: row.opened_at,
    status: row.status as Hold['status'], // as it was written
    answer: row.answer,
    said: row.said as Hold['said'], // as it was written
    closedBy: row.closed_by,
    closedAt: row.closed_at,
  }
}

export async function applyHoldOpened(
  projecting: Projecting,
  { hold }: FactOf<'hold.opened'>,
): Promise<void> {
  await projecting.db.insertInto('hold').values(holdRow(projecting, hold)).execute()
  await recountHolds(projecting, hold.taskId)
}

export async function applyHoldClosed(
  projecting: Projecting,
  { holdId, status, answer, said }: FactOf<'hold.closed'>,
): Promise<void> {
  const { db, projectId, at, actor } = projecting
  const closed = await db
    .updateTable('hold')
    .set({
      status,
      answer,
      said: said ?? null,
      closed_by: displayName({ actor }),
      closed_kind: actor.kind,
      closed_at: at,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', holdId)
    .returning('task_id')
    .executeTakeFirst()
  await recountHolds(projecting, closed?.task_id ?? null)
}

/** A done task with something open that holds up is not settled: what depends on it waits. */
async function recountHolds(projecting: Projecting, taskId: string | null): Promise<void> {
  if (taskId === null) return
  const before = await taskBefore(projecting, taskId)
  const kinds = await kindsThatHold(projecting)
  const { rows } = await sql<{ open_holds: number }>`
    update task set open_holds = ${openHolds(kinds)}
      where project_id = ${projecting.projectId} and id = ${taskId} returning open_holds`.execute(
    projecting.db,
  )
  const [after] = rows
  if (after) await recountDependents(projecting, before, { ...before, ...after })
}

/** The project holds up other work than before: every task is looked at again. */
export async function holdUpAnew(projecting: Projecting): Promise<void> {
  const kinds = await kindsThatHold(projecting)
  await sql`update task set open_holds = ${openHolds(kinds)} where project_id = ${projecting.projectId}`.execute(
    projecting.db,
  )
  await countEveryDependency(projecting)
}

async function kindsThatHold({ db, projectId }: Projecting): Promise<readonly string[]> {
  const row = await db
    .selectFrom('setting')
    .select('value')
    .where('project_id', '=', projectId)
    .where('name', '=', 'holds_gate')
    .executeTakeFirst()
  return holdingKinds(row?.value)
}

function openHolds(kinds: readonly string[]) {
  if (kinds.length === 0) return sql`0`
  return sql`(select count(*) from hold
    where hold.project_id = task.project_id and hold.task_id = task.id
      and hold.status = 'open' and hold.kind in (${sql.join(kinds)}))`
}

const openOfTask = prepared((db, projectId: string, taskId: string) =>
  db
    .selectFrom('hold')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .where('status', '=', 'open')
    .orderBy('seq')
    .limit(100),
)

const openOfRun = prepared((db, projectId: string, runId: string) =>
  db
    .selectFrom('hold')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('status', '=', 'open')
    .limit(sql.lit(100)),
)

const holdsOfAttempt = prepared((db, projectId: string, attemptId: string) =>
  db
    .selectFrom('hold')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('seq')
    .limit(100),
)

export function holdReads(scope: ReadScope): HoldReads {
  const { db, projectId } = scope
  const holds = () => db.selectFrom('hold').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const row = await holds().where('id', '=', id).executeTakeFirst()
      return row ? holdOf(row) : null
    },
    list: (filter, request) => listHolds(scope, filter, request),
    async ofIssue(issueId) {
      const row = await holds()
        .where('issue_id', '=', issueId)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? holdOf(row) : null
    },
    async ofAttempt(attemptId) {
      return (await holdsOfAttempt(db, projectId, attemptId)).map(holdOf)
    },
    async opener(id) {
      const row = await db
        .selectFrom('hold')
        .innerJoin('fact', (join) =>
          join.onRef('fact.project_id', '=', 'hold.project_id').onRef('fact.seq', '=', 'hold.seq'),
        )
        .select(['fact.actor', 'fact.channel'])
        .where('hold.project_id', '=', projectId)
        .where('hold.id', '=', id)
        .executeTakeFirst()
      return row ? actorOf(row) : null
    },
    async ofTask(taskId) {
      return (await openOfTask(db, projectId, taskId)).map(holdOf)
    },
    async ofRun(runId) {
      const rows = await openOfRun(db, projectId, runId)
      return rows.toSorted((one, other) => one.seq - other.seq).map(holdOf)
    },
    async answeredOfRun(runId, limit) {
      const rows = await holds()
        .where('run_id', '=', runId)
        .where('status', '<>', 'open')
        .where('answer', 'is not', null)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(holdOf)
    },
    async openCommand(hash) {
      const row = await holds()
        .where('request_hash', '=', hash)
        .where('status', '=', 'open')
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst()
      return row ? holdOf(row) : null
    },
    async answeredCommands(hashes) {
      const rows = await holds()
        .where('request_hash', 'in', hashes)
        .where('status', '<>', 'open')
        .orderBy('seq', 'desc')
        .limit(mostQuestions)
        .execute()
      const first = rows.at(-1)
      if (first === undefined) return []
      const ended = await db
        .selectFrom('fact')
        .select(['kind', 'body'])
        .where('project_id', '=', projectId)
        .where('seq', '>', first.seq)
        .where('kind', 'in', ['hold.closed', 'command.revoked'])
        .where((where) =>
          where.or([
            where('kind', '=', 'command.revoked'),
            where(
              'at',
              'in',
              rows.map((row) => row.closed_at ?? 0),
            ),
          ]),
        )
        .orderBy('seq')
        .execute()
      const byId = new Map(rows.map((row) => [row.id, row]))
      const answers = new Map<string, Hold>()
      for (const { kind, body } of ended) {
        if (kind === 'command.revoked') {
          answers.delete(parsed<FactOf<'command.revoked'>>(body).hash)
          continue
        }
        const { holdId, decided } = parsed<FactOf<'hold.closed'>>(body)
        const row = byId.get(holdId)
        if (row && decided === true) answers.set(row.request_hash ?? '', holdOf(row))
      }
      return [...answers.values()]
    },
    idsLike: (prefix, limit) => idsLike(scope, 'hold', { prefix, limit }),
  }
}

/** How many questions about commands are looked at for their answers, the newest first. */
const mostQuestions = 500

/** Open ones oldest first, because they wait; anything else newest first. */
async function listHolds(
  { db, projectId }: ReadScope,
  filter: HoldFilter,
  { limit, before }: PageRequest,
): Promise<Page<HoldLine>> {
  const oldestFirst = filter.status === 'open'
  const matching = db
    .selectFrom('hold')
    .where(
      recordConditions(projectId, filter, {
        table: 'hold',
        agent: 'opened_by',
        time: filter.status === 'closed' ? 'closed_at' : 'opened_at',
      }),
    )
    .$if(filter.kinds !== undefined, (query) => query.where('hold.kind', 'in', anyOf(filter.kinds ?? [])))
    .$if(filter.status === 'open', (query) => query.where('hold.status', '=', 'open'))
    .$if(filter.status === 'closed', (query) => query.where('hold.status', '<>', 'open'))
  const rows = await matching
    .selectAll('hold')
    .$if(before !== undefined, (query) => query.where('hold.seq', oldestFirst ? '>' : '<', before ?? 0))
    .orderBy('hold.seq', oldestFirst ? 'asc' : 'desc')
    .limit(limit)
    .execute()
  const isWhole = before === undefined && rows.length < limit
  const { total } = isWhole
    ? { total: rows.length }
    : await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  const issueIds = rows.flatMap(({ issue_id }) => (issue_id === null ? [] : [issue_id]))
  const issues =
    issueIds.length === 0
      ? []
      : await db
          .selectFrom('issue')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('id', 'in', issueIds)
          .execute()
  const opened = await db
    .selectFrom('fact')
    .select(['seq', 'actor', 'channel'])
    .where('project_id', '=', projectId)
    .where(
      'seq',
      'in',
      rows.map(({ seq }) => seq),
    )
    .execute()
  const openers = new Map(opened.map((row) => [row.seq, actorOf(row)]))
  const issueById = new Map(issues.map((row) => [row.id, issueOf(row)]))
  return {
    items: rows.map((row) => ({
      seq: row.seq,
      item: {
        hold: holdOf(row),
        issue: issueById.get(row.issue_id ?? '') ?? null,
        opener: openers.get(row.seq) ?? null,
      },
    })),
    total,
  }
}

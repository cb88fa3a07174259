import { type Insertable, type RawBuilder, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type {
  AttemptId,
  DecisionId,
  IssueId,
  MissionId,
  PhaseId,
  ProgressId,
  TaskId,
} from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { renewClaim } from '../../plan/tables/claim.ts'
import { insertRow, parseColumn, parseColumnOrNull } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey, Tables } from '../../store/tables/tables.ts'
import type { Decision, Issue, Progress, RecordLocation } from '../domain/records.ts'
import type { RecordFilter, RecordReads } from '../ports/record-reads.ts'
import { touchAttempt } from './attempt.ts'

interface TaskRecordTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  attempt_id: string | null
  mission_id: string | null
  phase_id: string | null
  agent_name: string | null
  created_at: number
}

export interface DecisionTable extends TaskRecordTable {
  category: string
  question: string
  options_considered: string
  chosen: string
  reasoning: string
  trade_offs: string | null
}

export interface IssueTable extends TaskRecordTable {
  type: string
  description: string
  resolution: string
  requires_human_review: number
}

export interface ProgressTable extends TaskRecordTable {
  message: string
  progress: number | null
  metadata: string | null
}

type TaskRecord = RecordLocation & { readonly id: string; readonly createdAt: number }

function recordEntryRow({ projectId, seq }: RowKey, record: TaskRecord) {
  return {
    project_id: projectId,
    id: record.id,
    seq,
    task_id: record.taskId,
    attempt_id: record.attemptId,
    mission_id: record.missionId,
    phase_id: record.phaseId,
    agent_name: record.agentName,
    created_at: record.createdAt,
  }
}

function recordLocation(row: {
  readonly task_id: string
  readonly attempt_id: string | null
  readonly mission_id: string | null
  readonly phase_id: string | null
  readonly agent_name: string | null
}): RecordLocation {
  return {
    taskId: row.task_id as TaskId, // a brand
    attemptId: row.attempt_id as AttemptId | null, // a brand
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    agentName: row.agent_name,
  }
}

function decisionRow(key: RowKey, decision: Decision): Insertable<DecisionTable> {
  return {
    ...recordEntryRow(key, decision),
    category: decision.category,
    question: decision.question,
    options_considered: JSON.stringify(decision.optionsConsidered),
    chosen: decision.chosen,
    reasoning: decision.reasoning,
    trade_offs: decision.tradeOffs,
  }
}

function decisionOf(row: Selectable<DecisionTable>): Decision {
  return {
    id: row.id as DecisionId, // a brand
    ...recordLocation(row),
    category: row.category as Decision['category'], // as it was written
    question: row.question,
    optionsConsidered: parseColumn(row.options_considered),
    chosen: row.chosen,
    reasoning: row.reasoning,
    tradeOffs: row.trade_offs,
    createdAt: row.created_at,
  }
}

function issueRow(key: RowKey, issue: Issue): Insertable<IssueTable> {
  return {
    ...recordEntryRow(key, issue),
    type: issue.type,
    description: issue.description,
    resolution: issue.resolution,
    requires_human_review: issue.requiresHumanReview ? 1 : 0,
  }
}

export function issueOf(row: Selectable<IssueTable>): Issue {
  return {
    id: row.id as IssueId, // a brand
    ...recordLocation(row),
    type: row.type as Issue['type'], // as it was written
    description: row.description,
    resolution: row.resolution,
    requiresHumanReview: row.requires_human_review === 1,
    createdAt: row.created_at,
  }
}

function progressRow(key: RowKey, progress: Progress): Insertable<ProgressTable> {
  return {
    ...recordEntryRow(key, progress),
    message: progress.message,
    progress: progress.progress,
    metadata: progress.metadata === null ? null : JSON.stringify(progress.metadata),
  }
}

function progressOf(row: Selectable<ProgressTable>): Progress {
  return {
    id: row.id as ProgressId, // a brand
    ...recordLocation(row),
    message: row.message,
    progress: row.progress,
    metadata: parseColumnOrNull(row.metadata),
    createdAt: row.created_at,
  }
}

export async function applyDecision(
  projecting: ProjectionContext,
  { decision }: ProjectEventOf<'decision.logged'>,
): Promise<void> {
  await renewClaim(projecting, decision.taskId)
  await insertRow(projecting.db, 'decision', decisionRow(projecting, decision))
  await touchAttempt(projecting, decision)
}

export async function applyIssue(
  projecting: ProjectionContext,
  { issue }: ProjectEventOf<'issue.logged'>,
): Promise<void> {
  await renewClaim(projecting, issue.taskId)
  await insertRow(projecting.db, 'issue', issueRow(projecting, issue))
  await touchAttempt(projecting, issue)
}

export async function applyProgress(
  projecting: ProjectionContext,
  { progress }: ProjectEventOf<'progress.logged'>,
): Promise<void> {
  await renewClaim(projecting, progress.taskId)
  await insertRow(projecting.db, 'progress', progressRow(projecting, progress))
  await touchAttempt(projecting, progress)
}

type TaskRecordTableName = 'decision' | 'issue' | 'progress'

export function recordReads(scope: ReadScope): RecordReads {
  return {
    decisions: (filter, request) => list(scope, { table: 'decision', of: decisionOf }, { filter, request }),
    issues: (filter, request) => list(scope, { table: 'issue', of: issueOf }, { filter, request }),
    progress: (filter, request) => list(scope, { table: 'progress', of: progressOf }, { filter, request }),
    async issue(id) {
      const { db, projectId } = scope
      const row = await db
        .selectFrom('issue')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? issueOf(row) : null
    },
    async decision(id) {
      const { db, projectId } = scope
      const row = await db
        .selectFrom('decision')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? decisionOf(row) : null
    },
  }
}

async function list<Name extends TaskRecordTableName, Item>(
  { db, projectId }: ReadScope,
  { table, of }: { readonly table: Name; readonly of: (row: Selectable<Tables[Name]>) => Item },
  query: { readonly filter: RecordFilter & { readonly unblocking?: boolean }; readonly request: PageRequest },
): Promise<Page<Item>> {
  const { before, limit } = query.request
  const conditions = recordConditions(projectId, query.filter, {
    table,
    agent: 'agent_name',
    time: 'created_at',
  })
  const matching = query.filter.unblocking
    ? sql`${conditions} and not exists (select 1 from inbox_item
        where inbox_item.project_id = issue.project_id and inbox_item.issue_id = issue.id and inbox_item.status = 'open')`
    : conditions
  const older = before === undefined ? sql`` : sql`and seq < ${before}`
  const page = sql<Selectable<Tables[Name]> & { readonly seq: number }>`
    select * from ${sql.table(table)} where ${matching} ${older} order by seq desc limit ${limit}`
  const count = sql<{ total: number }>`select count(*) as total from ${sql.table(table)} where ${matching}`
  const { rows } = await page.execute(db)
  const items = rows.map((row) => ({ seq: row.seq, item: of(row) }))
  if (before === undefined && rows.length < limit) return { items, total: rows.length }
  const counted = await count.execute(db)
  return { items, total: counted.rows[0]?.total ?? 0 }
}

interface RecordColumns {
  readonly table: string
  readonly agent: string
  readonly time: string
}

/** The conditions of a filter on a table of records: mission, task, phase, agent, time. */
export function recordConditions(
  projectId: string,
  filter: RecordFilter,
  columns: RecordColumns,
): RawBuilder<boolean> {
  const column = (name: string) => sql.ref(`${columns.table}.${name}`)
  const equal = (name: string, value: string | undefined) =>
    value === undefined ? [] : [sql`${column(name)} = ${value}`]
  const conditions = [
    sql`${column('project_id')} = ${projectId}`,
    ...equal('mission_id', filter.missionId),
    ...equal('task_id', filter.taskId),
    ...equal('phase_id', filter.phaseId),
    ...equal(columns.agent, filter.agent),
    ...(filter.since === undefined ? [] : [sql`${column(columns.time)} >= ${filter.since}`]),
  ]
  return sql<boolean>`${sql.join(conditions, sql` and `)}`
}

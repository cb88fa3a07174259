import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { displayName } from '../../kernel/actor.ts'
import type { AttemptId, InboxItemId, IssueId, MissionId, PhaseId, RunId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import { countEveryDependency } from '../../plan/tables/dependency.ts'
import { recountDependents, taskBefore } from '../../plan/tables/task.ts'
import {
  actorOfRow,
  cachedQuery,
  idsByPrefix,
  nonEmptyValues,
  parseColumn,
  parseColumnOrNull,
  prepareByIds,
  prepareQuery,
} from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope, RowKey } from '../../store/tables/tables.ts'
import { issueOf, recordConditions } from '../../track/tables/records.ts'
import { gateSettingsOf, gatingItemKinds } from '../domain/inbox-gate.ts'
import { type InboxItem, urgentItemKinds } from '../domain/inbox-item.ts'
import type { InboxItemFilter, InboxItemLine, InboxItemReads } from '../ports/item-reads.ts'
import { applyCommandAnswer, everyMachine } from './command-answer.ts'

export interface InboxItemTable {
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
  action: string | null
  closed_by: string | null
  /** `person` or `agent`. */
  closed_kind: string | null
  closed_at: number | null
}

function inboxItemRow({ projectId, seq }: RowKey, item: InboxItem): Insertable<InboxItemTable> {
  return {
    project_id: projectId,
    id: item.id,
    seq,
    kind: item.kind,
    mission_id: item.missionId,
    phase_id: item.phaseId,
    task_id: item.taskId,
    attempt_id: item.attemptId,
    issue_id: item.issueId,
    run_id: item.runId,
    request: item.request === null ? null : JSON.stringify(item.request),
    request_hash: item.request?.kind === 'command' ? item.request.hash : null,
    reason: item.reason,
    paths: JSON.stringify(item.paths),
    opened_by: item.openedBy,
    opened_at: item.openedAt,
    status: item.status,
    answer: item.answer,
    action: null,
    closed_by: item.closedBy,
    closed_kind: null,
    closed_at: item.closedAt,
  }
}

export function inboxItemOf(row: Selectable<InboxItemTable>): InboxItem {
  return {
    id: row.id as InboxItemId, // a brand
    kind: row.kind as InboxItem['kind'], // as it was written
    missionId: row.mission_id as MissionId | null, // a brand
    phaseId: row.phase_id as PhaseId | null, // a brand
    taskId: row.task_id as TaskId | null, // a brand
    attemptId: row.attempt_id as AttemptId | null, // a brand
    issueId: row.issue_id as IssueId | null, // a brand
    runId: row.run_id as RunId | null, // a brand
    request: parseColumnOrNull(row.request),
    reason: row.reason,
    paths: parseColumn(row.paths),
    openedBy: row.opened_by,
    openedAt: row.opened_at,
    status: row.status as InboxItem['status'], // as it was written
    answer: row.answer,
    action: row.action as InboxItem['action'], // as it was written
    closedBy: row.closed_by,
    closedAt: row.closed_at,
  }
}

export async function applyItemOpened(
  projecting: ProjectionContext,
  { item }: ProjectEventOf<'inbox.opened'>,
): Promise<void> {
  await projecting.db.insertInto('inbox_item').values(inboxItemRow(projecting, item)).execute()
  await recountItems(projecting, item.taskId)
}

export async function applyItemClosed(
  projecting: ProjectionContext,
  { itemId, status, answer, action, decided }: ProjectEventOf<'inbox.closed'>,
): Promise<void> {
  const { db, projectId, at: closedAt, actor } = projecting
  const closed = await db
    .updateTable('inbox_item')
    .set({
      status,
      answer,
      action: action ?? null,
      closed_by: displayName({ actor }),
      closed_kind: actor.kind,
      closed_at: closedAt,
    })
    .where('project_id', '=', projectId)
    .where('id', '=', itemId)
    .returning(['task_id', 'request', 'request_hash'])
    .executeTakeFirst()
  if (decided && closed?.request_hash) {
    const request: InboxItem['request'] = parseColumnOrNull(closed.request)
    const ofMachine = request?.kind === 'command' ? (request.machine ?? '') : everyMachine
    const machine = status === 'resolved' ? ofMachine : everyMachine
    await applyCommandAnswer(projecting, closed.request_hash, { machine, itemId })
  }
  await recountItems(projecting, closed?.task_id ?? null)
}

/** A done task with a blocking open item is not settled: its dependents wait. */
async function recountItems(projecting: ProjectionContext, taskId: string | null): Promise<void> {
  if (taskId === null) return
  const before = await taskBefore(projecting, taskId)
  const kinds = await gatingKinds(projecting)
  const { rows } = await sql<{ open_items: number }>`
    update task set open_items = ${openItemCount(kinds)}
      where project_id = ${projecting.projectId} and id = ${taskId} returning open_items`.execute(
    projecting.db,
  )
  const [after] = rows
  if (after) await recountDependents(projecting, before, { ...before, ...after })
}

/** The setting for blocking items changed: recompute every task. */
export async function recountOpenItems(projecting: ProjectionContext): Promise<void> {
  const kinds = await gatingKinds(projecting)
  await sql`update task set open_items = ${openItemCount(kinds)} where project_id = ${projecting.projectId}`.execute(
    projecting.db,
  )
  await countEveryDependency(projecting)
}

async function gatingKinds({ db, projectId }: ProjectionContext): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('setting')
    .select(['name', 'value'])
    .where('project_id', '=', projectId)
    .where('name', 'in', ['inbox_gate', 'completion'])
    .execute()
  return gatingItemKinds(gateSettingsOf(new Map(rows.map(({ name, value }) => [name, value]))))
}

function openItemCount(kinds: readonly string[]) {
  if (kinds.length === 0) return sql`0`
  return sql`(select count(*) from inbox_item
    where inbox_item.project_id = task.project_id and inbox_item.task_id = task.id
      and inbox_item.status = 'open' and inbox_item.kind in (${sql.join(kinds)}))`
}

const openOfTask = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .where('status', '=', 'open')
    .orderBy('seq')
    .limit(100),
)

const openOfRun = prepareQuery((db, projectId: string, runId: string) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', '=', runId)
    .where('status', '=', 'open')
    .limit(sql.lit(100)),
)

const openOfRuns = prepareByIds((db, projectId, runIds) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('run_id', 'in', runIds)
    .where('status', '=', 'open'),
)

const itemsOfAttempt = prepareQuery((db, projectId: string, attemptId: string) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attempt_id', '=', attemptId)
    .orderBy('seq')
    .limit(100),
)

const itemsOfAttempts = prepareByIds((db, projectId, attemptIds) =>
  db
    .selectFrom('inbox_item')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('attempt_id', 'in', attemptIds)
    .orderBy('seq'),
)

export function inboxReads(scope: ReadScope): InboxItemReads {
  const { db, projectId } = scope
  const items = () => db.selectFrom('inbox_item').selectAll().where('project_id', '=', projectId)
  return {
    async find(id) {
      const row = await items().where('id', '=', id).executeTakeFirst()
      return row ? inboxItemOf(row) : null
    },
    list: (filter, request) => listInboxItems(scope, filter, request),
    async ofIssue(issueId) {
      const row = await items()
        .where('issue_id', '=', issueId)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? inboxItemOf(row) : null
    },
    async ofAttempts(attemptIds) {
      return attemptIds.length === 0 ? [] : (await itemsOfAttempts(scope, attemptIds)).map(inboxItemOf)
    },
    async ofAttempt(attemptId) {
      return (await itemsOfAttempt(db, projectId, attemptId)).map(inboxItemOf)
    },
    async opener(id) {
      const row = await db
        .selectFrom('inbox_item')
        .innerJoin('project_event', (join) =>
          join
            .onRef('project_event.project_id', '=', 'inbox_item.project_id')
            .onRef('project_event.seq', '=', 'inbox_item.seq'),
        )
        .select(['project_event.actor', 'project_event.channel'])
        .where('inbox_item.project_id', '=', projectId)
        .where('inbox_item.id', '=', id)
        .executeTakeFirst()
      return row ? actorOfRow(row) : null
    },
    ofTask: cachedQuery(async (taskId: string) => (await openOfTask(db, projectId, taskId)).map(inboxItemOf)),
    async ofRun(runId) {
      const rows = await openOfRun(db, projectId, runId)
      return rows.toSorted((one, other) => one.seq - other.seq).map(inboxItemOf)
    },
    async ofRuns(runIds) {
      const rows = runIds.length === 0 ? [] : await openOfRuns(scope, runIds)
      return rows.toSorted((one, other) => one.seq - other.seq).map(inboxItemOf)
    },
    async answeredOfRun(runId, limit) {
      const rows = await items()
        .where('run_id', '=', runId)
        .where('status', '<>', 'open')
        .where('answer', 'is not', null)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(inboxItemOf)
    },
    async openCommands(hash) {
      const rows = await items()
        .where('request_hash', '=', hash)
        .where('status', '=', 'open')
        .orderBy('seq')
        .limit(maxQuestions)
        .execute()
      return rows.map(inboxItemOf)
    },
    async answeredCommands(hashes, machine) {
      if (hashes.length === 0) return []
      const found = await db
        .selectFrom('command_answer')
        .select(['hash', 'item_id'])
        .where('project_id', '=', projectId)
        .where('hash', 'in', hashes)
        .where('machine_id', 'in', [machine ?? '', everyMachine])
        .orderBy('seq')
        .execute()
      const answers = [...new Map(found.map((one) => [one.hash, one])).values()]
      const ids = answers.flatMap(({ item_id: id }) => id ?? [])
      const rows = ids.length === 0 ? [] : await items().where('id', 'in', ids).execute()
      const byId = new Map(rows.map((row) => [row.id, inboxItemOf(row)]))
      return answers.map(({ hash, item_id: id }) => ({ hash, item: byId.get(id ?? '') ?? null }))
    },
    async withdrawnCommands(limit) {
      const rows = await db
        .selectFrom('command_answer')
        .select(['hash', 'seq'])
        .where('project_id', '=', projectId)
        .where('machine_id', '=', everyMachine)
        .orderBy('seq', 'desc')
        .limit(limit)
        .execute()
      const hashes = rows.map(({ hash }) => hash)
      const about = hashes.length === 0 ? [] : await items().where('request_hash', 'in', hashes).execute()
      const requests = new Map(about.map((row) => [row.request_hash, inboxItemOf(row).request]))
      return rows.map(({ hash, seq }) => {
        const request = requests.get(hash)
        const { run, folder } = request?.kind === 'command' ? request : { run: hash, folder: '' }
        return { hash, run, folder, seq }
      })
    },
    async lastAnsweredCommands(prefix, limit) {
      const rows = await db
        .selectFrom('command_answer')
        .innerJoin('inbox_item', (join) =>
          join
            .onRef('inbox_item.project_id', '=', 'command_answer.project_id')
            .onRef('inbox_item.id', '=', 'command_answer.item_id'),
        )
        .selectAll('inbox_item')
        .where('command_answer.project_id', '=', projectId)
        .where('command_answer.hash', '>=', prefix)
        .where('command_answer.hash', '<', `${prefix}\u{10ffff}`)
        .where((where) =>
          where.not(
            where.exists(
              where
                .selectFrom('command_answer as later')
                .select('later.seq')
                .whereRef('later.project_id', '=', 'command_answer.project_id')
                .whereRef('later.hash', '=', 'command_answer.hash')
                .where('later.machine_id', '=', everyMachine)
                .whereRef('later.seq', '>', 'command_answer.seq'),
            ),
          ),
        )
        .orderBy('command_answer.seq', 'desc')
        .limit(limit)
        .execute()
      return rows.map(inboxItemOf)
    },
    idsLike: (prefix, limit) => idsByPrefix(scope, 'inbox_item', { prefix, limit }),
  }
}

/** The maximum number of machines whose questions about a command are found. */
const maxQuestions = 100

/** 0 for an item that agents and gates wait for, else 1. */
function urgencyOf(table: string) {
  return sql<number>`case when ${sql.ref(`${table}.kind`)} in (${sql.join([...urgentItemKinds])}) then 0 else 1 end`
}

/** Open ones by urgency, then oldest first, because they wait; anything else newest first. */
async function listInboxItems(
  { db, projectId }: ReadScope,
  filter: InboxItemFilter,
  { limit, before }: PageRequest,
): Promise<Page<InboxItemLine>> {
  const oldestFirst = filter.status === 'open'
  const matching = db
    .selectFrom('inbox_item')
    .where(
      recordConditions(projectId, filter, {
        table: 'inbox_item',
        agent: 'opened_by',
        time: filter.status === 'closed' ? 'closed_at' : 'opened_at',
      }),
    )
    .$if(filter.taskIds !== undefined, (query) =>
      query.where('inbox_item.task_id', 'in', nonEmptyValues(filter.taskIds ?? [])),
    )
    .$if(filter.kinds !== undefined, (query) =>
      query.where('inbox_item.kind', 'in', nonEmptyValues(filter.kinds ?? [])),
    )
    .$if(filter.status === 'open', (query) => query.where('inbox_item.status', '=', 'open'))
    .$if(filter.status === 'closed', (query) => query.where('inbox_item.status', '<>', 'open'))
    .$if(filter.closedByPerson === true, (query) => query.where('inbox_item.closed_kind', '=', 'person'))
  const rows = await matching
    .selectAll('inbox_item')
    .$if(before !== undefined, (query) =>
      oldestFirst
        ? query.where(
            sql<boolean>`(${urgencyOf('inbox_item')}, inbox_item.seq) > (
              (select ${urgencyOf('last')} from inbox_item as last
                where last.project_id = ${projectId} and last.seq = ${before}), ${before})`,
          )
        : query.where('inbox_item.seq', '<', before ?? 0),
    )
    .$if(oldestFirst, (query) => query.orderBy(urgencyOf('inbox_item')))
    .orderBy('inbox_item.seq', oldestFirst ? 'asc' : 'desc')
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
  const opened =
    rows.length === 0
      ? []
      : await db
          .selectFrom('project_event')
          .select(['seq', 'actor', 'channel'])
          .where('project_id', '=', projectId)
          .where(
            'seq',
            'in',
            rows.map(({ seq }) => seq),
          )
          .execute()
  const openers = new Map(opened.map((row) => [row.seq, actorOfRow(row)]))
  const issueById = new Map(issues.map((row) => [row.id, issueOf(row)]))
  return {
    items: rows.map((row) => ({
      seq: row.seq,
      item: {
        item: inboxItemOf(row),
        issue: issueById.get(row.issue_id ?? '') ?? null,
        opener: openers.get(row.seq) ?? null,
      },
    })),
    total,
  }
}

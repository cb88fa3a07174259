import { sql } from 'kysely'
import type { Actor } from '../../kernel/actor.ts'
import type { AttemptId, MissionId, TaskId } from '../../kernel/id.ts'
import type { TokenUsage } from '../../sessions/domain/hook-event.ts'
import { parseColumn, parseColumnOrNull } from '../../store/tables/query.ts'
import type { ReadScope } from '../../store/tables/tables.ts'
import type { VerdictRule, VerdictValue } from '../../track/domain/verdict.ts'
import type {
  CountedAnswer,
  CountedAttempt,
  CountedEvent,
  CountedMission,
  CountedTurn,
  StatRecords,
} from '../domain/stats.ts'
import type { StatReads, StatsFilter } from '../ports/stat-reads.ts'

export function statReads(scope: ReadScope): StatReads {
  return {
    async records(query) {
      const attempts = await attemptsOf(scope, query)
      const answers = await answersOf(scope, query)
      const events = await eventsOf(scope, query)
      const missions = await missionsOf(scope, query)
      const turns = query.missionId === null ? await turnsOf(scope, query) : []
      const setBack = await tasksSentBack(scope, query)
      const isCut = [attempts, answers, events, missions, turns].some((rows) => rows.length > query.limit)
      const records: StatRecords = {
        attempts: attempts.slice(0, query.limit),
        answers: answers.slice(0, query.limit),
        events: events.slice(0, query.limit),
        missions: missions.slice(0, query.limit),
        turns: turns.slice(0, query.limit),
        setBack,
      }
      return { records, isCut }
    },
  }
}

/** The attempts of every task with an attempt that ended in the time and mission; without both, all attempts. */
async function attemptsOf(
  scope: ReadScope,
  { since, missionId, hasModels = false, limit }: StatsFilter,
): Promise<readonly CountedAttempt[]> {
  const { db, projectId } = scope
  const matching = db
    .selectFrom('attempt')
    .innerJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'attempt.project_id').onRef('task.id', '=', 'attempt.task_id'),
    )
    .leftJoin('attempt_end as end', (join) =>
      join.onRef('end.project_id', '=', 'attempt.project_id').onRef('end.attempt_id', '=', 'attempt.id'),
    )
    .leftJoin('landing', (join) =>
      join.onRef('landing.project_id', '=', 'task.project_id').onRef('landing.task_id', '=', 'task.id'),
    )
    .select(['attempt.seq', 'attempt.id', 'attempt.task_id', 'attempt.mission_id', 'attempt.number'])
    .select([
      'attempt.agent_name',
      'attempt.status',
      'attempt.opened_at',
      'attempt.closed_at',
      'attempt.scope_matches',
    ])
    .select(['end.out_of_scope', 'end.added_lines', 'end.deleted_lines', 'end.uncounted_files'])
    .select(['end.tokens_input', 'end.tokens_output', 'task.role', 'task.resolution'])
    .select(['landing.state as landed', 'landing.landed_at'])
    .select([
      sql<string | null>`case when attempt.agent_name is null then attempt.actor end`.as('actor'),
      sql<number>`case when attempt.files_added is not null and "end".measurement <> 'unknown' then 1 else 0 end`.as(
        'is_measured',
      ),
    ])
    .where('attempt.project_id', '=', projectId)
    .$if(isNarrow({ since, missionId }), (query) =>
      query.where('attempt.task_id', 'in', endedAttempts(scope, { since, missionId }).select('task_id')),
    )
    .limit(limit + 1)
  const newestFirst = matching.orderBy('attempt.seq', 'desc')
  // The database would sort the whole rows: that is only needed where older ones are left out.
  const found = await matching.execute()
  const rows =
    found.length > limit ? await newestFirst.execute() : found.toSorted((one, other) => other.seq - one.seq)
  const verdicts = await verdictsOf(scope, { since, missionId })
  const models = hasModels ? await modelsOf(scope, { since, missionId }) : new Map<string, string | null>()
  return rows.map((row) => {
    return {
      id: row.id as AttemptId, // a brand
      taskId: row.task_id as TaskId, // a brand
      missionId: row.mission_id as MissionId | null, // a brand
      agent: agentOf(row.agent_name, row.actor ?? ''),
      model: models.get(row.id) ?? null,
      number: row.number,
      status: row.status as CountedAttempt['status'], // as it was written
      openedAt: row.opened_at,
      closedAt: row.closed_at,
      measured:
        row.is_measured === 1
          ? {
              scopeMatches: row.scope_matches === null ? null : row.scope_matches === 1,
              outOfScope: row.out_of_scope ?? 0,
              addedLines: row.added_lines ?? 0,
              deletedLines: row.deleted_lines ?? 0,
              withoutLines: row.uncounted_files ?? 0,
            }
          : null,
      verdict: verdicts.get(row.id) ?? null,
      tokensInput: row.tokens_input,
      tokensOutput: row.tokens_output,
      role: row.role,
      resolution: row.resolution as CountedAttempt['resolution'], // as it was written
      landing: row.landed === null ? null : { is: row.landed, landedAt: row.landed_at },
    }
  })
}

type EndedFilter = Pick<StatsFilter, 'since' | 'missionId'>

/** Without a filter, the subquery of ended attempts is only overhead. */
function isNarrow({ since, missionId }: EndedFilter): boolean {
  return since !== null || missionId !== null
}

/** The attempts that ended in the time and mission. */
function endedAttempts({ db, projectId }: ReadScope, { since, missionId }: EndedFilter) {
  return db
    .selectFrom('attempt')
    .where('project_id', '=', projectId)
    .where('closed_at', '>=', since ?? 0)
    .$if(missionId !== null, (query) => query.where('mission_id', '=', missionId ?? ''))
}

/** The first verdict of each attempt, and the last. */
async function verdictsOf(
  scope: ReadScope,
  filter: EndedFilter,
): Promise<ReadonlyMap<string, NonNullable<CountedAttempt['verdict']>>> {
  const rows = await scope.db
    .selectFrom('attempt_verdict')
    .select(['attempt_id', 'verdict', 'rules'])
    .where('project_id', '=', scope.projectId)
    .where('verdict', 'is not', null)
    .$if(isNarrow(filter), (query) =>
      query.where('attempt_id', 'in', endedAttempts(scope, filter).select('id')),
    )
    .orderBy('attempt_id')
    .orderBy('seq')
    .limit(1_000_000)
    .execute()
  const verdicts = new Map<string, NonNullable<CountedAttempt['verdict']>>()
  for (const { attempt_id, verdict, rules } of rows) {
    const last = verdict as VerdictValue // as it was written, and not null
    const before = verdicts.get(attempt_id)
    if (before) verdicts.set(attempt_id, { ...before, last })
    else verdicts.set(attempt_id, { first: last, rules: rulesOf(rules), last })
  }
  return verdicts
}

function rulesOf(rules: string): readonly VerdictRule[] {
  return rules === '' ? [] : (rules.split(' ') as VerdictRule[]) // as they were written
}

/** The models that worked at attempts, as their clients reported them. */
async function modelsOf(scope: ReadScope, filter: EndedFilter): Promise<ReadonlyMap<string, string | null>> {
  const { db, projectId } = scope
  const rows = await db
    .selectFrom('capture_link as link')
    .innerJoin('capture_session as session', (join) =>
      join.onRef('session.project_id', '=', 'link.project_id').onRef('session.id', '=', 'link.session_id'),
    )
    .leftJoin('turn', (join) =>
      join.onRef('turn.project_id', '=', 'link.project_id').onRef('turn.id', '=', 'link.turn_id'),
    )
    .select(['link.attempt_id', 'turn.model', 'session.model as session_model'])
    .where('link.project_id', '=', projectId)
    .$if(isNarrow(filter), (query) =>
      query.where('link.attempt_id', 'in', endedAttempts(scope, filter).select('id')),
    )
    .limit(1_000_000)
    .execute()
  return new Map(rows.map((row) => [row.attempt_id, row.model ?? row.session_model]))
}

async function answersOf(
  { db, projectId }: ReadScope,
  { since, missionId, limit }: StatsFilter,
): Promise<readonly CountedAnswer[]> {
  const rows = await db
    .selectFrom('inbox_item')
    .leftJoin('attempt', (join) =>
      join
        .onRef('attempt.project_id', '=', 'inbox_item.project_id')
        .onRef('attempt.id', '=', 'inbox_item.attempt_id'),
    )
    .leftJoin('task', (join) =>
      join.onRef('task.project_id', '=', 'inbox_item.project_id').onRef('task.id', '=', 'inbox_item.task_id'),
    )
    .select([
      'inbox_item.kind',
      'inbox_item.mission_id',
      'inbox_item.opened_at',
      'inbox_item.closed_at',
      'task.role',
    ])
    .select(['attempt.agent_name', 'attempt.actor'])
    .where('inbox_item.project_id', '=', projectId)
    .where('inbox_item.closed_kind', '=', 'person')
    .where('inbox_item.closed_at', '>=', since ?? 0)
    .$if(missionId !== null, (query) => query.where('inbox_item.mission_id', '=', missionId ?? ''))
    .orderBy('inbox_item.closed_at', 'desc')
    .orderBy('inbox_item.seq', 'desc')
    .limit(limit + 1)
    .execute()
  return rows.map((row) => ({
    kind: row.kind as CountedAnswer['kind'], // as it was written
    missionId: row.mission_id as MissionId | null, // a brand
    agent: row.actor === null ? null : agentOf(row.agent_name, row.actor),
    role: row.role,
    openedAt: row.opened_at,
    closedAt: row.closed_at ?? row.opened_at,
  }))
}

/** Null for a person's own work: people are not distinguished. */
function agentOf(named: string | null, actor: string): string | null {
  if (named !== null) return named
  const { kind, name } = parseColumn<Actor>(actor)
  return kind === 'agent' ? name : null
}

async function eventsOf(
  { db, projectId }: ReadScope,
  { since, missionId, limit }: StatsFilter,
): Promise<readonly CountedEvent[]> {
  const sent = sql`
    select run_id, author, role, created_at, 0 as refused from run_event
      where project_id = ${projectId} and kind = 'event' and created_at >= ${since ?? 0}
    union all
    select run_id, author, role, created_at, 1 as refused from run_refusal
      where project_id = ${projectId} and created_at >= ${since ?? 0}`
  const ofMission = missionId === null ? sql`` : sql`and run.mission_id = ${missionId}`
  const { rows } = await sql<{
    readonly mission_id: string | null
    readonly author: string
    readonly role: string | null
    readonly created_at: number
    readonly refused: number
  }>`
    select run.mission_id, sent.author, sent.role, sent.created_at, sent.refused
    from (${sent}) as sent
    join run on run.project_id = ${projectId} and run.id = sent.run_id ${ofMission}
    order by sent.created_at desc, sent.run_id, sent.refused, sent.author limit ${limit + 1}`.execute(db)
  return rows.map((row) => ({
    missionId: row.mission_id as MissionId | null, // a brand
    author: row.author,
    role: row.role,
    at: row.created_at,
    isRefused: row.refused === 1,
  }))
}

async function missionsOf(
  { db, projectId }: ReadScope,
  { since, missionId, limit }: StatsFilter,
): Promise<readonly CountedMission[]> {
  const rows = await db
    .selectFrom('mission')
    .select(['id', 'created_at', 'completed_at'])
    .where('project_id', '=', projectId)
    .where('status', 'in', ['completed', 'partial'])
    .where('completed_at', '>=', since ?? 0)
    .$if(missionId !== null, (query) => query.where('id', '=', missionId ?? ''))
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .execute()
  return rows.map((row) => ({
    id: row.id as MissionId, // a brand
    startedAt: row.created_at,
    completedAt: row.completed_at ?? row.created_at,
  }))
}

async function turnsOf(
  { db, projectId }: ReadScope,
  { since, limit }: StatsFilter,
): Promise<readonly CountedTurn[]> {
  const rows = await db
    .selectFrom('turn')
    .innerJoin('capture_session as session', (join) =>
      join.onRef('session.project_id', '=', 'turn.project_id').onRef('session.id', '=', 'turn.session_id'),
    )
    .select(['turn.client', 'turn.closed_at', 'turn.usage', 'turn.model', 'session.model as session_model'])
    .where('turn.project_id', '=', projectId)
    .where('turn.closed_at', '>=', since ?? 0)
    .orderBy('turn.closed_at', 'desc')
    .limit(limit + 1)
    .execute()
  return rows.map(({ client, closed_at, usage, model, session_model }) => {
    const reported = parseColumnOrNull<TokenUsage>(usage)
    return {
      client,
      model: model ?? session_model,
      closedAt: closed_at ?? 0,
      tokensInput: reported?.input ?? null,
      tokensOutput: reported?.output ?? null,
    }
  })
}

/** Of the tasks with an attempt that ended in the time and mission. */
async function tasksSentBack(scope: ReadScope, filter: EndedFilter): Promise<ReadonlySet<TaskId>> {
  const { db, projectId } = scope
  const ended = endedAttempts(scope, filter).select('task_id')
  const isOf = (taskId: string) => (isNarrow(filter) ? sql`and ${sql.ref(taskId)} in ${ended}` : sql``)
  const { rows } = await sql<{ readonly task_id: TaskId }>`
    select task_id from inbox_item
      where project_id = ${projectId} and task_id is not null and status = 'dismissed'
        and kind in ('review', 'scope', 'approval') and closed_kind = 'person' and answer is not null
        ${isOf('inbox_item.task_id')}
    union
    select run.task_id from run
      join run_visit on run_visit.project_id = run.project_id and run_visit.run_id = run.id
      where run.project_id = ${projectId} and run.task_id is not null and run_visit.count > 1 ${isOf('run.task_id')}
    limit 1000000`.execute(db)
  return new Set(rows.map(({ task_id }) => task_id))
}

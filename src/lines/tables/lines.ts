import { type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { forgottenBody } from '../../events/log/line-seals.ts'
import type { CaptureSessionId, TurnId } from '../../kernel/id.ts'
import { insertRows, parseColumn, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import type { SnapshotLocation } from '../../track/domain/task.ts'
import { attemptOf } from '../../track/tables/attempt.ts'
import {
  blankHash,
  hashLength,
  isSolid,
  type LineStep,
  type RecordedStep,
  type StepPosition,
} from '../domain/line-hashes.ts'
import type { LineReads, TreeBoundary, TurnAuthor } from '../ports/line-reads.ts'

/** The time between two snapshots of a work tree in which lines changed. */
export interface LineSpanTable {
  project_id: string
  seq: number
  tree_top: string
  since: number
  until: number
  head_before: string | null
  head_after: string | null
  stash_moved: number
  ran: number
  brought_from: string
}

/** The changes of the lines of one path in it. */
export interface LineStepTable {
  project_id: string
  seq: number
  position: number
  path: string
  from_path: string | null
  before_oid: string | null
  after_oid: string | null
  body: string
}

/** Some lines of a step, to find it from another path. */
export interface LineMarkTable {
  project_id: string
  mark: string
  seq: number
  position: number
}

const maxMarks = 16

export async function applyLinesRecorded(
  { db, projectId, seq }: ProjectionContext,
  { span: { steps, ...span } }: ProjectEventOf<'lines.recorded'>,
): Promise<void> {
  await db
    .insertInto('line_span')
    .values({
      project_id: projectId,
      seq,
      tree_top: span.tree,
      since: span.since,
      until: span.until,
      head_before: span.headBefore,
      head_after: span.headAfter,
      stash_moved: Number(span.stashMoved),
      ran: Number(span.ran),
      brought_from: JSON.stringify(span.broughtFrom),
    })
    .execute()
  const rows = steps.map((step, position) => stepRow({ projectId, seq, position }, step))
  await insertRows(db, 'line_step', rows)
  const marks = steps.flatMap((step, position) =>
    marksOf(step).map((mark) => ({ project_id: projectId, mark, seq, position })),
  )
  await insertRows(db, 'line_mark', marks)
}

function stepRow(
  {
    projectId,
    seq,
    position,
  }: { readonly projectId: string; readonly seq: number; readonly position: number },
  { path, from, before, after, seal: _, ...body }: RecordedStep,
): LineStepTable {
  return {
    project_id: projectId,
    seq,
    position,
    path,
    from_path: from ?? null,
    before_oid: before,
    after_oid: after,
    body: JSON.stringify(body),
  }
}

/** Removes the hashes of some steps; the positions of their lines stay. */
export async function applyLinesForgotten(
  { db, projectId }: ProjectionContext,
  { steps }: ProjectEventOf<'lines.forgotten'>,
): Promise<void> {
  for (const [seq, positions] of groupBySeq(steps)) {
    const rows = await db
      .selectFrom('line_step')
      .select(['position', 'body'])
      .where('project_id', '=', projectId)
      .where('seq', '=', seq)
      .where('position', 'in', positions)
      .execute()
    for (const { position, body } of rows) {
      const step = parseColumn<RecordedStep>(body)
      const left = { ...step, added: '', removed: '', around: { ...step.around, hashes: '' } }
      await db
        .updateTable('line_step')
        .set({ body: JSON.stringify(left) })
        .where('project_id', '=', projectId)
        .where('seq', '=', seq)
        .where('position', '=', position)
        .execute()
    }
    await db
      .deleteFrom('line_mark')
      .where('project_id', '=', projectId)
      .where('seq', '=', seq)
      .where('position', 'in', positions)
      .execute()
  }
}

function groupBySeq(steps: readonly StepPosition[]): ReadonlyMap<number, readonly number[]> {
  const positionsBySeq = new Map<number, number[]>()
  for (const [seq, position] of steps) positionsBySeq.set(seq, [...(positionsBySeq.get(seq) ?? []), position])
  return positionsBySeq
}

/** Removes the same hashes from the log entries themselves. Their hash chain does not cover them. */
export async function forgetHashes(
  { db, projectId }: Pick<ProjectionContext, 'db' | 'projectId'>,
  steps: readonly StepPosition[],
): Promise<void> {
  for (const [seq, positions] of groupBySeq(steps)) {
    const row = await db
      .selectFrom('project_event')
      .select('body')
      .where('project_id', '=', projectId)
      .where('seq', '=', seq)
      .where('kind', '=', 'lines.recorded')
      .executeTakeFirst()
    const body = row === undefined ? null : forgottenBody(row.body, new Set(positions))
    if (body === null) continue
    await db
      .updateTable('project_event')
      .set({ body })
      .where('project_id', '=', projectId)
      .where('seq', '=', seq)
      .execute()
  }
}

/** Selects the lowest hashes, so that the same lines get the same marks anywhere. */
function marksOf({ added, brought = [], hunks }: RecordedStep): readonly string[] {
  const hashes = new Set<string>()
  let at = 0
  for (const [, , after, count] of hunks) {
    for (let line = after; line < after + count; line += 1, at += hashLength) {
      const hash = added.slice(at, at + hashLength)
      const isBrought = brought.some(([first, many]) => line >= first && line < first + many)
      if (hash !== '' && isSolid(hash) && !isBrought) hashes.add(hash)
    }
  }
  return [...hashes].sort().slice(0, maxMarks)
}

type StepRow = Selectable<LineStepTable> & Omit<Selectable<LineSpanTable>, 'project_id' | 'seq'>

function stepOf(row: StepRow): LineStep {
  return {
    seq: row.seq,
    position: row.position,
    path: row.path,
    ...(row.from_path !== null && { from: row.from_path }),
    before: row.before_oid,
    after: row.after_oid,
    ...parseColumn<Omit<RecordedStep, 'path' | 'from' | 'before' | 'after'>>(row.body),
    span: {
      tree: row.tree_top,
      since: row.since,
      until: row.until,
      headBefore: row.head_before,
      headAfter: row.head_after,
      stashMoved: row.stash_moved === 1,
      ran: row.ran === 1,
      broughtFrom: parseColumn(row.brought_from),
    },
  }
}

const maxSteps = 5_000
const lastEnds = 5
const stepsAtOnce = 1_000
const maxMakers = 2_000

export function lineReads(scope: ReadScope): LineReads {
  const { db, projectId } = scope
  const steps = () =>
    db
      .selectFrom('line_step as step')
      .innerJoin('line_span as span', (join) =>
        join.onRef('span.project_id', '=', 'step.project_id').onRef('span.seq', '=', 'step.seq'),
      )
      .selectAll('step')
      .select(['span.tree_top', 'span.since', 'span.until', 'span.head_before', 'span.head_after'])
      .select(['span.stash_moved', 'span.ran', 'span.brought_from'])
      .where('step.project_id', '=', projectId)
  /** The steps that have hashes and pass a test, oldest first. */
  const placesWith = async (
    test: (row: Pick<LineStepTable, 'path' | 'from_path' | 'body'>) => boolean,
  ): Promise<readonly StepPosition[]> => {
    const positions: StepPosition[] = []
    for (let [seq, position] = [0, -1]; ; ) {
      const rows = await db
        .selectFrom('line_step')
        .select(['seq', 'position', 'path', 'from_path', 'body'])
        .where('project_id', '=', projectId)
        .where((eb) =>
          eb.or([eb('seq', '>', seq), eb.and([eb('seq', '=', seq), eb('position', '>', position)])]),
        )
        .orderBy('seq')
        .orderBy('position')
        .limit(stepsAtOnce)
        .execute()
      for (const row of rows) {
        const { added, removed, around } = parseColumn<RecordedStep>(row.body)
        const hasHashes = added !== '' || removed !== '' || around.hashes !== ''
        if (hasHashes && test(row)) positions.push([row.seq, row.position])
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < stepsAtOnce) return positions
      seq = last.seq
      position = last.position
    }
  }
  return {
    salt: () => Promise.resolve(projectId),
    async lastBoundary(tree, until = Number.MAX_SAFE_INTEGER) {
      const inTree = db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('tree_top', '=', tree)
      const turnsThere = db
        .selectFrom('turn')
        .select(['snapshot', 'baseline', 'baseline_at', 'end_snapshot', 'closed_at'])
        .where('project_id', '=', projectId)
        .where('tree_top', '=', tree)
      // An undo that recorded the lines until then, and those that it changed.
      const undos = db
        .selectFrom('tree_write as write')
        .innerJoin('line_span as span', (join) =>
          join
            .onRef('span.project_id', '=', 'write.project_id')
            .onRef('span.tree_top', '=', 'write.tree_top')
            .onRef('span.until', '=', 'write.written_at'),
        )
        .select(['write.written_at', 'write.end_snapshot'])
        .where('write.project_id', '=', projectId)
        .where('write.tree_top', '=', tree)
        .where('write.end_snapshot', 'is not', null)
        .orderBy('write.written_at', 'desc')
        .limit(lastEnds)
      const [open, closed, turns, endedTurns, undone] = await Promise.all([
        inTree
          .where('status', '=', 'open')
          .where('opened_at', '<=', until)
          .orderBy('opened_at', 'desc')
          .limit(1)
          .execute(),
        inTree.where('closed_at', 'is not', null).orderBy('closed_at', 'desc').limit(lastEnds).execute(),
        turnsThere.where('status', '=', 'open').execute(),
        turnsThere.where('closed_at', 'is not', null).orderBy('closed_at', 'desc').limit(lastEnds).execute(),
        undos.execute(),
      ])
      const turnBounds = [...turns, ...endedTurns].flatMap((turn): TreeBoundary[] => [
        ...(turn.snapshot !== null && turn.baseline === 'at_start'
          ? [{ at: turn.baseline_at, place: parseColumn<SnapshotLocation>(turn.snapshot) }]
          : []),
        ...(turn.end_snapshot !== null && turn.closed_at !== null
          ? [{ at: turn.closed_at, place: parseColumn<SnapshotLocation>(turn.end_snapshot) }]
          : []),
      ])
      const bounds = [...open, ...closed].map(attemptOf).flatMap((attempt): TreeBoundary[] => {
        const start = { at: attempt.openedAt, place: attempt.snapshot }
        if (attempt.closedAt === null || attempt.endSnapshot === null) return [start]
        return [start, { at: attempt.closedAt, place: attempt.endSnapshot }]
      })
      const undoBounds = undone.flatMap(({ written_at: at, end_snapshot: place }): TreeBoundary[] =>
        place === null ? [] : [{ at, place: parseColumn<SnapshotLocation>(place) }],
      )
      return [...bounds, ...turnBounds, ...undoBounds]
        .filter(({ at }) => at <= until)
        .reduce<TreeBoundary | null>(
          (last, bound) => (last === null || bound.at > last.at ? bound : last),
          null,
        )
    },
    async since() {
      const row = await db
        .selectFrom('line_span')
        .select('since')
        .where('project_id', '=', projectId)
        .orderBy('seq')
        .limit(1)
        .executeTakeFirst()
      return row?.since ?? null
    },
    async paths(most) {
      const rows = await db
        .selectFrom('line_step')
        .select('path')
        .distinct()
        .where('project_id', '=', projectId)
        .orderBy('path')
        .limit(most)
        .execute()
      return rows.map(({ path }) => path)
    },
    async stepsOf(paths) {
      const byPosition = new Map<string, LineStep>()
      for (const batch of splitIntoBatches([...paths])) {
        const [named, left] = await Promise.all([
          steps().where('step.path', 'in', batch).orderBy('step.seq', 'desc').limit(maxSteps).execute(),
          steps().where('step.from_path', 'in', batch).orderBy('step.seq', 'desc').limit(maxSteps).execute(),
        ])
        for (const row of [...named, ...left]) byPosition.set(`${row.seq} ${row.position}`, stepOf(row))
      }
      return [...byPosition.values()]
    },
    async stepsMarked(marks, limit) {
      const counts = new Map<string, { readonly seq: number; readonly position: number; marks: number }>()
      for (const batch of splitIntoBatches([...marks])) {
        const rows = await db
          .selectFrom('line_mark')
          .select(['seq', 'position', sql<number>`count(*)`.as('marks')])
          .where('project_id', '=', projectId)
          .where('mark', 'in', batch)
          .groupBy(['seq', 'position'])
          .orderBy('seq', 'desc')
          .limit(maxSteps)
          .execute()
        for (const { seq, position, marks } of rows) {
          const key = `${seq} ${position}`
          const entry = counts.get(key)
          counts.set(key, { seq, position, marks: Number(marks) + (entry?.marks ?? 0) })
        }
      }
      const best = [...counts.values()].sort((a, b) => b.marks - a.marks || b.seq - a.seq).slice(0, limit)
      const bestSteps: LineStep[] = []
      for (const { seq, position } of best) {
        const row = await steps()
          .where('step.seq', '=', seq)
          .where('step.position', '=', position)
          .executeTakeFirst()
        if (row) bestSteps.push(stepOf(row))
      }
      return bestSteps
    },
    async addedBy() {
      const added = new Map<string, number>()
      // Two attempts that end at the same time measure the same interval, whose lines count once.
      const counted = new Set<string>()
      for (let [seq, position] = [Number.MAX_SAFE_INTEGER, 0]; ; ) {
        const rows = await db
          .selectFrom('line_step')
          .select(['seq', 'position', 'path', 'before_oid', 'after_oid', 'body'])
          .where('project_id', '=', projectId)
          .where((eb) =>
            eb.or([eb('seq', '<', seq), eb.and([eb('seq', '=', seq), eb('position', '<', position)])]),
          )
          .orderBy('seq', 'desc')
          .orderBy('position', 'desc')
          .limit(stepsAtOnce)
          .execute()
        for (const row of rows) countAddedHashes(added, row, counted)
        const last = rows.at(-1)
        if (last === undefined || rows.length < stepsAtOnce || added.size >= maxMakers) break
        seq = last.seq
        position = last.position
      }
      return [...added].map(([attemptId, lines]) => ({ attemptId, lines }))
    },
    async makers(ids) {
      if (ids.length === 0) return []
      const rows = await db
        .selectFrom('attempt')
        .innerJoin('task', (join) =>
          join.onRef('task.project_id', '=', 'attempt.project_id').onRef('task.id', '=', 'attempt.task_id'),
        )
        .leftJoin('mission', (join) =>
          join
            .onRef('mission.project_id', '=', 'attempt.project_id')
            .onRef('mission.id', '=', 'attempt.mission_id'),
        )
        .leftJoin('capture_link as link', (join) =>
          join
            .onRef('link.project_id', '=', 'attempt.project_id')
            .onRef('link.attempt_id', '=', 'attempt.id'),
        )
        .leftJoin('capture_session as session', (join) =>
          join
            .onRef('session.project_id', '=', 'link.project_id')
            .onRef('session.id', '=', 'link.session_id'),
        )
        .leftJoin('turn', (join) =>
          join.onRef('turn.project_id', '=', 'link.project_id').onRef('turn.id', '=', 'link.turn_id'),
        )
        .selectAll('attempt')
        .select(['task.name as task_name', 'task.goal as task_goal', 'mission.name as mission_name'])
        .select(['turn.model as turn_model', 'session.model as session_model'])
        .select(['session.client as session_client', 'session.client_session as session_name'])
        .where('attempt.project_id', '=', projectId)
        .where('attempt.id', 'in', [...ids])
        .execute()
      return rows.map((row) => ({
        attempt: attemptOf(row),
        taskName: row.task_name,
        goal: row.task_goal,
        missionName: row.mission_name,
        model: row.turn_model ?? row.session_model,
        session:
          row.session_client === null || row.session_name === null
            ? null
            : { client: row.session_client, name: row.session_name },
      }))
    },
    async turnMakers(ids) {
      const authors: TurnAuthor[] = []
      for (const batch of splitIntoBatches([...ids])) {
        const rows = await db
          .selectFrom('turn')
          .innerJoin('capture_session as session', (join) =>
            join
              .onRef('session.project_id', '=', 'turn.project_id')
              .onRef('session.id', '=', 'turn.session_id'),
          )
          .select([
            'turn.id',
            'turn.session_id',
            'turn.client',
            'turn.model',
            'session.model as session_model',
          ])
          .where('turn.project_id', '=', projectId)
          .where('turn.id', 'in', batch)
          .execute()
        authors.push(
          ...rows.map((row) => ({
            turnId: row.id as TurnId, // a brand
            sessionId: row.session_id as CaptureSessionId, // a brand
            client: row.client,
            model: row.model ?? row.session_model,
          })),
        )
      }
      return authors
    },
    async stepsOfAttempts(attempts, since, { nobodys } = { nobodys: false }) {
      const wanted = new Set(attempts)
      const found: LineStep[] = []
      for (let [seq, position] = [0, -1]; ; ) {
        const rows = await steps()
          .where('span.until', '>=', since)
          .where((eb) =>
            eb.or([
              eb('step.seq', '>', seq),
              eb.and([eb('step.seq', '=', seq), eb('step.position', '>', position)]),
            ]),
          )
          .orderBy('step.seq')
          .orderBy('step.position')
          .limit(stepsAtOnce)
          .execute()
        for (const row of rows) {
          const step = stepOf(row)
          if (step.owners.length === 0 ? nobodys : step.owners.some((owner) => wanted.has(owner)))
            found.push(step)
        }
        const last = rows.at(-1)
        if (last === undefined || rows.length < stepsAtOnce) return found
        seq = last.seq
        position = last.position
      }
    },
    async stepsMadeBy(makers) {
      const wanted = new Set<string>(makers)
      return placesWith(({ body }) => {
        const { owners, turns = [] } = parseColumn<RecordedStep>(body)
        return [...owners, ...turns].some((maker) => wanted.has(maker))
      })
    },
  }
}

type CountedStep = Pick<RecordedStep, 'owners' | 'added' | 'brought' | 'moved' | 'reformatted' | 'hunks'>

/** Counts the new lines of a step, by any author. */
function countAddedHashes(
  added: Map<string, number>,
  {
    path,
    before_oid,
    after_oid,
    body,
  }: Pick<Selectable<LineStepTable>, 'path' | 'before_oid' | 'after_oid' | 'body'>,
  counted: Set<string>,
): void {
  const {
    owners,
    added: hashes,
    hunks,
    brought = [],
    moved = [],
    reformatted = [],
  } = parseColumn<CountedStep>(body)
  const change = JSON.stringify([path, before_oid, after_oid, owners])
  if (owners.length === 0 || counted.has(change)) return
  counted.add(change)
  const kept = new Set([...moved.map(([, , line]) => line), ...reformatted.map(([, line]) => line)])
  let lines = 0
  let at = 0
  for (const [, , after, count] of hunks) {
    for (let line = after; line < after + count; line += 1, at += hashLength) {
      const isOther = kept.has(line) || brought.some(([first, many]) => line >= first && line < first + many)
      if (!isOther && hashes.slice(at, at + hashLength) !== blankHash) lines += 1
    }
  }
  for (const owner of owners) added.set(owner, (added.get(owner) ?? 0) + lines)
}

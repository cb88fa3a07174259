import { gunzipSync, gzipSync } from 'node:zlib'
import { type Insertable, type Selectable, sql } from 'kysely'
import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type {
  AttemptId,
  MissionId,
  ReviewCommentId,
  ReviewId,
  ReviewReplyId,
  TaskId,
} from '../../kernel/id.ts'
import { bytesOfColumn } from '../../remote/tables/machine.ts'
import type { ReviewSideWrite } from '../../store/ports/store.ts'
import { parseColumn, prepareByLimit, prepareQuery, splitIntoBatches } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import { attemptOf } from '../../track/tables/attempt.ts'
import {
  type CommentKind,
  type DiffSide,
  type DraftComment,
  type ReviewAction,
  type ReviewComment,
  type ReviewReply,
  reviewActions,
  subjectKey,
  tasksToSendBack,
} from '../domain/review.ts'
import type { ReviewReads, ReviewSummary, ReviewWithTasks } from '../ports/review-reads.ts'

export interface ReviewTable {
  project_id: string
  id: string
  seq: number
  /** `t-…`, `m-…`, `since` */
  subject: string
  task_id: string | null
  mission_id: string | null
  action: string
  text: string | null
  content: string
  author_id: string
  author_name: string
  tasks: string
  /** The tasks whose completions it accepts, as JSON. */
  accepted: string
  created_at: number
}

export interface ReviewCommentTable {
  project_id: string
  id: string
  seq: number
  /** The index among the comments of its review. */
  position: number
  review_id: string
  subject: string
  task_id: string | null
  mission_id: string | null
  path: string | null
  tree: string | null
  side: string
  line: number | null
  content: string | null
  quoted: string | null
  kind: string
  text: string
  author_id: string
  author_name: string
  created_at: number
}

export interface ReviewReplyTable {
  project_id: string
  id: string
  seq: number
  comment_id: string
  task_id: string | null
  mission_id: string | null
  attempt_id: string | null
  text: string
  done: number
  author: string
  is_person: number
  agent_name: string | null
  created_at: number
}

/** Not in the log: only its author sees it. */
export interface ReviewDraftTable {
  project_id: string
  id: string
  owner_id: string
  subject: string
  body: string
  created_at: number
}

/** Not in the log: the last content of a file that a person viewed. */
export interface ReviewViewedTable {
  project_id: string
  owner_id: string
  subject: string
  /** The work tree and the path, as JSON. */
  place: string
  /** Empty for a file that is gone. */
  content: string
  viewed_at: number
}

/** Not in the log: the time until which a person has reviewed everything. */
export interface ReviewInspectedTable {
  project_id: string
  owner_id: string
  inspected_at: number
}

/** Not in the log: the states of files before and after an attempt on another machine, compressed with gzip. */
export interface AttemptFilesTable {
  project_id: string
  attempt_id: string
  content: Buffer
}

/** Not in the log: contents of files on other machines, compressed with gzip. */
export interface FileContentTable {
  project_id: string
  id: string
  size: number
  content: Buffer
  kept_at: number
}

export async function applyReviewSent(
  { db, projectId, seq }: ProjectionContext,
  { review }: ProjectEventOf<'review.sent'>,
): Promise<void> {
  const { subject, author: reviewer } = review
  const about = {
    subject: subjectKey(subject),
    task_id: subject.kind === 'task' ? subject.taskId : null,
    mission_id: subject.kind === 'since' ? null : subject.missionId,
  }
  const author = { author_id: reviewer.id, author_name: reviewer.name }
  await db
    .insertInto('review')
    .values({
      project_id: projectId,
      id: review.id,
      seq,
      ...about,
      action: review.action,
      text: review.text,
      content: review.content,
      ...author,
      tasks: JSON.stringify(review.tasks),
      accepted: JSON.stringify(review.accepted ?? []),
      created_at: review.createdAt,
    })
    .execute()
  const rows = review.comments.map(
    (comment, position): Insertable<ReviewCommentTable> => ({
      project_id: projectId,
      id: comment.id,
      seq,
      position,
      review_id: review.id,
      subject: about.subject,
      task_id: comment.taskId,
      mission_id: comment.missionId,
      path: comment.path,
      tree: comment.tree,
      side: comment.side,
      line: comment.line,
      content: comment.content,
      quoted: comment.quoted,
      kind: comment.kind,
      text: comment.text,
      ...author,
      created_at: comment.createdAt,
    }),
  )
  for (const some of splitIntoBatches(rows)) {
    await db
      .insertInto('review_comment')
      .values([...some])
      .execute()
  }
}

export async function applyReviewReplied(
  { db, projectId, seq }: ProjectionContext,
  { reply }: ProjectEventOf<'review.replied'>,
): Promise<void> {
  await db
    .insertInto('review_reply')
    .values({
      project_id: projectId,
      id: reply.id,
      seq,
      comment_id: reply.commentId,
      task_id: reply.taskId,
      mission_id: reply.missionId,
      attempt_id: reply.attemptId,
      text: reply.text,
      done: reply.done ? 1 : 0,
      author: reply.author,
      is_person: reply.isPerson ? 1 : 0,
      agent_name: reply.agentName,
      created_at: reply.createdAt,
    })
    .execute()
}

/** Writes the tables that are not in the log. */
export async function writeReview({ db, projectId }: ReadScope, sideWrite: ReviewSideWrite): Promise<void> {
  const own = { project_id: projectId }
  if (sideWrite.kind === 'draft kept') {
    const { draft, ownerId, subject } = sideWrite
    const row = { body: JSON.stringify(draft) }
    await db
      .insertInto('review_draft')
      .values({ ...own, id: draft.id, owner_id: ownerId, subject, created_at: draft.createdAt, ...row })
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doUpdateSet(row))
      .execute()
    return
  }
  if (sideWrite.kind === 'drafts dropped') {
    for (const some of splitIntoBatches(sideWrite.ids)) {
      await db
        .deleteFrom('review_draft')
        .where('project_id', '=', projectId)
        .where('owner_id', '=', sideWrite.ownerId)
        .where('id', 'in', [...some])
        .execute()
    }
    return
  }
  if (sideWrite.kind === 'files viewed') {
    const { ownerId: owner_id, subject } = sideWrite
    for (const { place, content } of sideWrite.files) {
      const key = { ...own, owner_id, subject, place }
      if (content === null) {
        await db
          .deleteFrom('review_viewed')
          .where('project_id', '=', projectId)
          .where('owner_id', '=', owner_id)
          .where('place', '=', place)
          .execute()
        continue
      }
      const row = { content, viewed_at: sideWrite.at }
      await db
        .insertInto('review_viewed')
        .values({ ...key, ...row })
        .onConflict((conflict) =>
          conflict.columns(['project_id', 'owner_id', 'subject', 'place']).doUpdateSet(row),
        )
        .execute()
    }
    return
  }
  if (sideWrite.kind === 'all looked at') {
    const row = { inspected_at: sideWrite.at }
    await db
      .insertInto('review_inspected')
      .values({ ...own, owner_id: sideWrite.ownerId, ...row })
      .onConflict((conflict) => conflict.columns(['project_id', 'owner_id']).doUpdateSet(row))
      .execute()
    return
  }
  if (sideWrite.kind === 'contents removed') {
    await db
      .deleteFrom('file_content')
      .where('project_id', '=', projectId)
      .where('kept_at', '<', sideWrite.before)
      .execute()
    return
  }
  const files = { content: gzipSync(JSON.stringify(sideWrite.files)) }
  await db
    .insertInto('attempt_files')
    .values({ ...own, attempt_id: sideWrite.attemptId, ...files })
    .onConflict((conflict) => conflict.columns(['project_id', 'attempt_id']).doUpdateSet(files))
    .execute()
  for (const { id, bytes } of sideWrite.contents) {
    await db
      .insertInto('file_content')
      .values({ ...own, id, size: bytes.length, content: gzipSync(bytes), kept_at: sideWrite.at })
      .onConflict((conflict) => conflict.columns(['project_id', 'id']).doUpdateSet({ kept_at: sideWrite.at }))
      .execute()
  }
}

function commentOf(
  row: Selectable<ReviewCommentTable>,
  replies: readonly Selectable<ReviewReplyTable>[],
): ReviewComment {
  return {
    id: row.id as ReviewCommentId, // a brand, as are those below
    reviewId: row.review_id as ReviewId,
    taskId: row.task_id as TaskId | null,
    missionId: row.mission_id as MissionId | null,
    path: row.path,
    tree: row.tree,
    side: row.side as DiffSide, // as it was written
    line: row.line,
    content: row.content,
    quoted: row.quoted,
    kind: row.kind as CommentKind, // as it was written
    text: row.text,
    author: { id: row.author_id, name: row.author_name },
    replies: replies.filter(({ comment_id }) => comment_id === row.id).map(replyOf),
    createdAt: row.created_at,
  }
}

function replyOf(row: Selectable<ReviewReplyTable>): ReviewReply {
  return {
    id: row.id as ReviewReplyId, // a brand, as are those below
    commentId: row.comment_id as ReviewCommentId,
    taskId: row.task_id as TaskId | null,
    missionId: row.mission_id as MissionId | null,
    attemptId: row.attempt_id as AttemptId | null,
    text: row.text,
    done: row.done === 1,
    author: row.author,
    isPerson: row.is_person === 1,
    agentName: row.agent_name,
    createdAt: row.created_at,
  }
}

function reviewOf(row: Selectable<ReviewTable>, comments: number): ReviewSummary {
  return {
    id: row.id as ReviewId, // a brand
    action: row.action as ReviewAction, // as it was written
    taskId: row.task_id as TaskId | null, // a brand
    text: row.text,
    content: row.content,
    author: { id: row.author_id, name: row.author_name },
    comments,
    createdAt: row.created_at,
  }
}

const maxComments = 500
const maxReplies = 2000
const maxReviews = 50
const maxAttempts = 500

/** Newest first. Runs with every query of an agent about a task. */
const commentsOfTask = prepareQuery((db, projectId: string, taskId: string) =>
  db
    .selectFrom('review_comment')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('task_id', '=', taskId)
    .orderBy('seq', 'desc')
    .orderBy('position', 'desc')
    .limit(maxComments),
)

const commentsOfMission = prepareQuery((db, projectId: string, missionId: string) =>
  db
    .selectFrom('review_comment')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('mission_id', '=', missionId)
    .orderBy('seq', 'desc')
    .orderBy('position', 'desc')
    .limit(maxComments),
)

const decisions = ['approve', 'send_back'] as const satisfies readonly ReviewAction[]

/** A query for all reviews, and for those that are more than comments. */
function forReviews<Query>(build: (actions: readonly ReviewAction[]) => Query) {
  return { all: build(reviewActions), decisions: build(decisions) }
}

function reviewsWith(db: ReadScope['db'], projectId: string, actions: readonly ReviewAction[]) {
  return db
    .selectFrom('review')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('action', 'in', [...actions])
}

/** Reviews that may concern a task: of it, of its missions, and of all new work. Newest first. */
const reviewsNamingTask = forReviews((actions) =>
  prepareByLimit((limit) =>
    prepareQuery((db, projectId: string, taskId: string) =>
      reviewsWith(db, projectId, actions)
        .where((eb) =>
          eb.or([
            eb('subject', 'in', [taskId, 'since']),
            eb(
              'subject',
              'in',
              eb
                .selectFrom('attempt')
                .select(sql<string>`attempt.mission_id`.as('mission_id'))
                .where('attempt.project_id', '=', projectId)
                .where('attempt.task_id', '=', taskId)
                .where('attempt.mission_id', 'is not', null),
            ),
          ]),
        )
        // The pattern is built in SQL: with a pattern as a parameter, SQLite plans the query again at every call.
        .where('tasks', 'like', sql<string>`'%"' || cast(${taskId} as text) || '"%'`)
        .orderBy('seq', 'desc')
        .limit(limit),
    ),
  ),
)

const reviewsOfMission = forReviews((actions) =>
  prepareByLimit((limit) =>
    prepareQuery((db, projectId: string, missionId: string) =>
      reviewsWith(db, projectId, actions)
        .where((eb) =>
          eb.or([
            eb('mission_id', '=', missionId),
            eb.and([
              eb('subject', '=', 'since'),
              eb.exists(
                eb
                  .selectFrom('attempt')
                  .select('attempt.id')
                  .where('attempt.project_id', '=', projectId)
                  .where('attempt.mission_id', '=', missionId)
                  .where('review.tasks', 'like', sql<string>`'%"' || attempt.task_id || '"%'`),
              ),
            ]),
          ]),
        )
        .orderBy('seq', 'desc')
        .limit(limit),
    ),
  ),
)

export function reviewReads({ db, projectId }: ReadScope): ReviewReads {
  const comments = () => db.selectFrom('review_comment').selectAll().where('project_id', '=', projectId)
  const withReplies = async (rows: readonly Selectable<ReviewCommentTable>[]) => {
    if (rows.length === 0) return []
    const replies = await db
      .selectFrom('review_reply')
      .selectAll()
      .where('project_id', '=', projectId)
      .where(
        'comment_id',
        'in',
        rows.map(({ id }) => id),
      )
      .orderBy('seq')
      .limit(maxReplies)
      .execute()
    return rows.map((row) => commentOf(row, replies)).reverse()
  }
  /** Oldest first, with the tasks that each concerns. */
  const withTasks = async (rows: readonly Selectable<ReviewTable>[]): Promise<readonly ReviewWithTasks[]> => {
    if (rows.length === 0) return []
    const commentRows = await db
      .selectFrom('review_comment')
      .select(['review_id', 'task_id'])
      .where('project_id', '=', projectId)
      .where(
        'review_id',
        'in',
        rows.map(({ id }) => id),
      )
      .execute()
    return rows
      .map((row) => {
        const own = commentRows.filter(({ review_id }) => review_id === row.id)
        const sent = reviewOf(row, own.length)
        const about = own.map(({ task_id }) => ({ taskId: task_id as TaskId | null })) // a brand
        return {
          ...sent,
          tasks: tasksToSendBack({ ...sent, comments: about, tasks: parseColumn(row.tasks) }),
        }
      })
      .reverse()
  }
  return {
    async commentsOn(taskIds) {
      const [taskId, other] = taskIds
      if (taskId === undefined) return []
      if (other === undefined) return withReplies(await commentsOfTask(db, projectId, taskId))
      const rows = await comments()
        .where('task_id', 'in', taskIds.slice(0, 500))
        .orderBy('seq', 'desc')
        .orderBy('position', 'desc')
        .limit(maxComments)
        .execute()
      return withReplies(rows)
    },
    async commentsInMission(missionId) {
      return withReplies(await commentsOfMission(db, projectId, missionId))
    },
    async waitingTasks() {
      const rows = await db
        .selectFrom('review_comment as comment')
        .innerJoin('task', (join) =>
          join.onRef('task.project_id', '=', 'comment.project_id').onRef('task.id', '=', 'comment.task_id'),
        )
        .select(({ fn }) => ['comment.task_id', fn.max('comment.seq').as('last')])
        .where('comment.project_id', '=', projectId)
        .where('task.status', '!=', 'done')
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('review_reply as reply')
                .select('reply.id')
                .whereRef('reply.project_id', '=', 'comment.project_id')
                .whereRef('reply.comment_id', '=', 'comment.id'),
            ),
          ),
        )
        .groupBy('comment.task_id')
        .orderBy('last', 'desc')
        .limit(20)
        .execute()
      const sentBackRows = await db
        .selectFrom('review')
        .innerJoin('task', (join) =>
          join.onRef('task.project_id', '=', 'review.project_id').onRef('task.id', '=', 'review.task_id'),
        )
        .select(({ fn }) => ['review.task_id', fn.max('review.seq').as('last')])
        .where('review.project_id', '=', projectId)
        .where('review.action', '=', 'send_back')
        .where('task.status', '!=', 'done')
        .groupBy('review.task_id')
        .orderBy('last', 'desc')
        .limit(20)
        .execute()
      // A review of a mission, and an answer in the inbox, send tasks back, too.
      const againRows = await db
        .selectFrom('task')
        .innerJoin('attempt', (join) =>
          join
            .onRef('attempt.project_id', '=', 'task.project_id')
            .onRef('attempt.id', '=', 'task.last_attempt_id'),
        )
        .select(['task.id as task_id', 'attempt.seq as last'])
        .where('task.project_id', '=', projectId)
        .where('task.readiness', '=', sql.lit('ready'))
        .where('task.last_attempt_id', 'is not', null)
        .where('attempt.status', 'in', ['success', 'partial_success'])
        .orderBy('attempt.seq', 'desc')
        .limit(20)
        .execute()
      const waiting = [...sentBackRows, ...rows, ...againRows].sort((a, b) => Number(b.last) - Number(a.last))
      const ids = waiting.map(({ task_id }) => task_id as TaskId) // a brand; never null in a join
      return [...new Set(ids)].slice(0, 20)
    },
    async commentsOfReview(id) {
      const rows = await comments()
        .where('review_id', '=', id)
        .orderBy('position', 'desc')
        .limit(maxComments)
        .execute()
      return withReplies(rows)
    },
    async comment(id) {
      const rows = await comments().where('id', '=', id).execute()
      const [comment = null] = await withReplies(rows)
      return comment
    },
    async sentAbout(subjects) {
      const rows = await db
        .selectFrom('review')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('subject', 'in', subjects.length === 0 ? [''] : [...subjects])
        .orderBy('seq', 'desc')
        .limit(maxReviews)
        .execute()
      if (rows.length === 0) return []
      const counts = await db
        .selectFrom('review_comment')
        .select(({ fn }) => ['review_id', fn.countAll<number>().as('count')])
        .where('project_id', '=', projectId)
        .where(
          'review_id',
          'in',
          rows.map(({ id }) => id),
        )
        .groupBy('review_id')
        .execute()
      const countById = new Map(counts.map(({ review_id, count }) => [review_id, Number(count)]))
      return rows.map((row) => reviewOf(row, countById.get(row.id) ?? 0)).reverse()
    },
    async reviewsOfTask(taskId, most, which = 'all') {
      const rows = await reviewsNamingTask[which](most * 3)(db, projectId, taskId)
      const meant = (await withTasks(rows)).filter(({ tasks }) => tasks.includes(taskId))
      return meant.slice(-most)
    },
    async decisionsOn(taskIds, most) {
      if (taskIds.length === 0) return []
      const missions = db
        .selectFrom('attempt')
        .select(sql<string>`attempt.mission_id`.as('mission_id'))
        .where('attempt.project_id', '=', projectId)
        .where('attempt.task_id', 'in', [...taskIds])
        .where('attempt.mission_id', 'is not', null)
      const rows = await reviewsWith(db, projectId, decisions)
        .where((eb) => eb.or([eb('subject', 'in', [...taskIds, 'since']), eb('subject', 'in', missions)]))
        .where((eb) => eb.or(taskIds.map((id) => eb('tasks', 'like', `%"${id}"%`))))
        .orderBy('seq', 'desc')
        .limit(most)
        .execute()
      return withTasks(rows)
    },
    async reviewsInMission(missionId, most, which = 'all') {
      return withTasks(await reviewsOfMission[which](most)(db, projectId, missionId))
    },
    async drafts(ownerId, subject) {
      const rows = await db
        .selectFrom('review_draft')
        .select('body')
        .where('project_id', '=', projectId)
        .where('owner_id', '=', ownerId)
        .where('subject', '=', subject)
        .orderBy('created_at')
        .orderBy('id')
        .limit(maxComments)
        .execute()
      return rows.map(({ body }) => parseColumn<DraftComment>(body))
    },
    async draft(ownerId, id) {
      const row = await db
        .selectFrom('review_draft')
        .select(['body', 'subject'])
        .where('project_id', '=', projectId)
        .where('owner_id', '=', ownerId)
        .where('id', '=', id)
        .executeTakeFirst()
      return row ? { draft: parseColumn<DraftComment>(row.body), subject: row.subject } : null
    },
    async viewedAt(ownerId, places) {
      const viewedRows: Selectable<ReviewViewedTable>[] = []
      for (const some of splitIntoBatches(places)) {
        const rows = await db
          .selectFrom('review_viewed')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('owner_id', '=', ownerId)
          .where('place', 'in', [...some])
          .limit(20_000)
          .execute()
        viewedRows.push(...rows)
      }
      return viewedRows.map(({ subject, place, content, viewed_at }) => ({
        subject,
        place,
        content,
        viewedAt: viewed_at,
      }))
    },
    async inspectedAt(ownerId) {
      const row = await db
        .selectFrom('review_inspected')
        .select('inspected_at')
        .where('project_id', '=', projectId)
        .where('owner_id', '=', ownerId)
        .executeTakeFirst()
      return row?.inspected_at ?? null
    },
    async endedSince(after, ownerId) {
      // Since a time, the first attempts: the rest is shown at the next call. Without a time, the last ones.
      const order = after === null ? 'desc' : 'asc'
      const rows = await db
        .selectFrom('attempt')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('closed_at', '>', after ?? 0)
        .where('end_snapshot', 'is not', null)
        .where((eb) =>
          eb.not(
            eb.exists(
              eb
                .selectFrom('review')
                .select('review.id')
                .where('review.project_id', '=', projectId)
                .where((inner) =>
                  inner.or([
                    inner('review.subject', '=', inner.ref('attempt.task_id')),
                    inner('review.subject', '=', inner.ref('attempt.mission_id')),
                  ]),
                )
                .where('review.author_id', '=', ownerId)
                .where('review.action', 'in', ['approve', 'send_back'])
                .whereRef('review.created_at', '>=', 'attempt.closed_at'),
            ),
          ),
        )
        .orderBy('closed_at', order)
        .orderBy('seq', order)
        .limit(maxAttempts + 1)
        .execute()
      const isCut = rows.length > maxAttempts
      const attempts = rows.slice(0, maxAttempts).map(attemptOf)
      return { attempts: after === null ? attempts.reverse() : attempts, isCut }
    },
    async filesOf(attemptIds) {
      if (attemptIds.length === 0) return new Map()
      const rows = await db
        .selectFrom('attempt_files')
        .select(['attempt_id', 'content'])
        .where('project_id', '=', projectId)
        .where('attempt_id', 'in', [...attemptIds])
        .execute()
      return new Map(
        rows.map(({ attempt_id, content }) => [
          attempt_id,
          parseColumn(gunzipSync(bytesOfColumn(content)).toString('utf8')),
        ]),
      )
    },
    async contents(ids, most) {
      const contents = new Map<string, { readonly bytes: Uint8Array | null; readonly size: number }>()
      for (const some of splitIntoBatches(ids)) {
        const rows = await db
          .selectFrom('file_content')
          .select(['id', 'size', 'content'])
          .where('project_id', '=', projectId)
          .where('id', 'in', [...some])
          .execute()
        for (const { id, size, content } of rows) {
          contents.set(id, { bytes: size > most ? null : gunzipSync(bytesOfColumn(content)), size })
        }
      }
      return contents
    },
    async contentsBefore(before) {
      const row = await db
        .selectFrom('file_content')
        .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('size').as('bytes')])
        .where('project_id', '=', projectId)
        .where('kept_at', '<', before)
        .executeTakeFirstOrThrow()
      return { count: row.count, bytes: row.bytes ?? 0 }
    },
  }
}

import { z } from 'zod'
import type { RunRecord } from '../../gate/domain/run.ts'
import { Failure } from '../../kernel/failure.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instant, isDay } from '../../kernel/instant.ts'
import { oid } from '../../kernel/operations/fields.ts'
import { findMission, findTask } from '../../kernel/operations/find.ts'
import { choice, identifier, text } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { measurement } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { PageRequest } from '../../kernel/page.ts'
import { formatCount } from '../../kernel/text.ts'
import type { Reads } from '../../store/ports/store.ts'
import { ownLines } from '../../track/domain/changes.ts'
import type { Mission } from '../../track/domain/mission.ts'
import type { Attempt, Task } from '../../track/domain/task.ts'
import { isDoubted } from '../../track/domain/verdict.ts'
import { type ReportFormat, reportFormats, writeReport } from '../domain/document.ts'
import {
  type EndedAttempt,
  type ReportFile,
  type ReportRecords,
  type ReportSubject,
  type RunRecords,
  reportOf,
} from '../domain/report.ts'
import { type Figures, statsOf } from '../domain/stats.ts'
import { weeksIn } from '../domain/weeks.ts'

/** The description limit of pull requests on GitHub and GitLab, with some margin. */
const maxCharacters = 65_000

export const report = defineOperation({
  name: 'report',
  command: 'report',
  toolset: 'track',
  audience: 'both',
  title: 'Write a report for a pull request',
  description:
    'Report the work of a mission or a task: what changed as git measured it, decisions with reasons, issues and answers, gates with their evidence, and open work. The same record gives the same text.',
  kind: 'query',
  positional: ['mission'],
  input: z.strictObject({
    mission: identifier('The mission, workflow or task (m-…, w-…, t-…)').optional(),
    task: identifier('Only this task (t-…)').optional(),
    since: text('Only what happened since a commit, or an ISO date or time (UTC)').optional(),
    format: choice(reportFormats, 'Output format; default markdown').optional(),
    whole: z.boolean().describe('The whole report; default: at most 65,000 characters').optional(),
  }),
  output: z.object({
    /** Null for a task outside the missions. */
    mission_id: z.string().nullable(),
    task_id: z.string().nullable(),
    since: z.string().nullable(),
    format: z.enum(reportFormats),
    text: z.string(),
    /** Sections that were cut in the text. */
    cut: list(z.object({ section: z.string(), shown: z.int(), total: z.int() })),
  }),
  print: (answer, { asked: request }) => [
    request === 'json' && answer['format'] !== 'json' ? JSON.stringify(answer) : String(answer['text']),
  ],
})
  .measure({
    start: measurement({
      brief: z.strictObject({ commit: z.string().max(300) }),
      measured: z.strictObject({ startsAt: z.number(), commit: oid }),
      measure: async ({ witness, folder }, { commit }) => {
        const { head } = await witness.branch({ folder, base: commit, head: commit })
        return { startsAt: head.committedAt, commit: head.id }
      },
    }),
  })
  .prepare(async (_, { since }) => {
    const date = since === undefined ? null : dateOf(since)
    const isCommit = since !== undefined && date === null
    return { briefs: { start: isCommit ? { commit: since } : undefined }, found: date }
  })
  .answer(async ({ reads, found: date, measured }, input) => {
    const since = date ?? measured.start ?? null
    const records = await recordsOf(reads, { ...input, since })
    const format: ReportFormat = input.format ?? 'markdown'
    const whole = input.whole === true
    const { mission, task } = records.subject
    const { text: written, cut } = writeReport(reportOf(records, { whole }), format, {
      most: whole ? Number.POSITIVE_INFINITY : maxCharacters,
      whole: commandFor(records, format),
    })
    return {
      mission_id: mission?.id ?? null,
      task_id: task?.id ?? null,
      since: since && instant(since.startsAt),
      format,
      text: written,
      cut,
    }
  })

function commandFor({ subject, since }: ReportRecords, format: ReportFormat): string {
  const words = [
    `waymark report ${(subject.task ?? subject.mission).id}`,
    ...(since ? [`--since ${since.commit ?? instant(since.startsAt)}`] : []),
    ...(format === 'markdown' ? [] : [`--format ${format}`]),
  ]
  return `${words.join(' ')} --whole`
}

/** Null for a text that is not a date: it then names a commit. */
function dateOf(words: string): NonNullable<ReportRecords['since']> | null {
  if (!/^\d{4}-\d{2}-\d{2}(?:$|[T ])/.test(words)) return null
  const hasZone = /(?:z|[+-]\d{2}:?\d{2})$/i.test(words.slice(10))
  const at = Date.parse(words.length === 10 || hasZone ? words : `${words}Z`)
  if (isDay(words.slice(0, 10)) && !Number.isNaN(at)) return { startsAt: at, commit: null }
  throw new Failure('INVALID_INPUT', `"${words}" is not a date or time.`, {
    reason: 'time_invalid',
    hint: 'Use 2026-01-15 or 2026-01-15T09:30Z, or a commit.',
  })
}

interface ReportQuery {
  readonly mission?: string | undefined
  readonly task?: string | undefined
  readonly since: ReportRecords['since']
}

const maxAttempts = 300
const maxFiles = 10_000
const maxTasks = 500
const maxOfRun = 1_000

async function recordsOf(
  reads: Reads,
  { mission: named, task: taskId, since }: ReportQuery,
): Promise<ReportRecords> {
  const subject = await subjectOf(reads, named, taskId)
  const { mission, task } = subject
  const tasks = task === null ? await tasksOf(reads, mission) : [task]
  const from = since?.startsAt ?? 0
  const all = await reads.runs.attemptsOf(
    task === null ? { missionId: mission.id, taskId: null } : { missionId: null, taskId: task.id },
  )
  const selected = all.filter(({ status, closedAt }) => status === 'open' || (closedAt ?? 0) >= from)
  const attempts = await Promise.all(
    selected.slice(-maxAttempts).map((attempt) => endedAttempt(reads, attempt)),
  )
  const everything = task === null ? { missionId: mission.id } : { taskId: task.id }
  const about = { ...everything, since: from }
  const [decisions, issues] = await Promise.all([
    readAllPages((page) => reads.records.decisions(about, page)),
    readAllPages((page) => reads.records.issues(about, page)),
  ])
  const [open, closed] = await Promise.all([
    readAllPages((page) => reads.inboxItems.list({ ...everything, status: 'open' }, page)),
    readAllPages((page) => reads.inboxItems.list({ ...everything, status: 'closed', since: from }, page)),
  ])
  const items = [...open, ...closed].map(({ item }) => item)
  const whole = task === null && since === null ? mission : null
  const files = whole ? await filesOf(reads, whole) : filesOfAttempts(attempts)
  const omitted = selected.length - attempts.length
  return {
    subject,
    since,
    tasks,
    landings: await reads.landings.of(tasks.map(({ id }) => id)),
    acceptances: await reads.tasks.acceptances(
      attempts.flatMap(({ attempt, end }) =>
        attempt.taskId !== null && isDoubted(end?.verdict?.is) ? [attempt.taskId] : [],
      ),
    ),
    files,
    basis: whole ? 'states' : 'attempts',
    attempts,
    decisions: decisions.toReversed(),
    issues: issues.toReversed(),
    items: items.toSorted((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1)),
    ...(await reviewsOf(reads, { subject, tasks, from })),
    runs: await runsOf(reads, { subject, tasks, from }),
    figures: whole && (await figuresOf(reads, whole)),
    unread: [
      ...(omitted > 0
        ? [`Only the last ${maxAttempts} attempts are included; ${omitted} earlier ones are not.`]
        : []),
      ...(tasks.length >= maxTasks ? [`Only ${formatCount(maxTasks, 'task')} are included.`] : []),
    ],
  }
}

async function subjectOf(
  reads: Reads,
  named: string | undefined,
  taskId: string | undefined,
): Promise<ReportSubject> {
  if (taskId === undefined) {
    if (named !== undefined) return { mission: await findMission(reads, named), task: null }
    throw new Failure('INVALID_INPUT', 'A report needs a mission or a task.', {
      reason: 'subject_missing',
      hint: 'waymark mission list shows the missions, waymark task list the tasks. Then: waymark report <id>',
    })
  }
  const task = await findTask(reads, taskId)
  if (named !== undefined && named !== task.missionId) {
    const owner = task.missionId === null ? 'no mission' : `mission ${task.missionId}`
    throw new Failure('INVALID_INPUT', `Task ${task.id} belongs to ${owner}, not to ${named}.`, {
      reason: 'task_of_other_mission',
      hint: `Its own report: waymark report ${task.id}`,
    })
  }
  return { mission: task.missionId === null ? null : await findMission(reads, task.missionId), task }
}

async function tasksOf(reads: Reads, { id }: Mission): Promise<readonly Task[]> {
  const page = await reads.tasks.list({ missionId: id }, { limit: maxTasks })
  const tasks = page.items.map(({ item }) => item.task)
  return tasks.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
}

const page = 500
const maxEntries = 5_000

/** Newest first, as listed. */
async function readAllPages<Item>(
  read: (request: PageRequest) => Promise<{
    readonly items: readonly { readonly seq: number; readonly item: Item }[]
  }>,
): Promise<readonly Item[]> {
  const found: Item[] = []
  let before: number | undefined
  while (found.length < maxEntries) {
    const { items } = await read({ limit: page, ...(before !== undefined && { before }) })
    found.push(...items.map(({ item }) => item))
    before = items.at(-1)?.seq
    if (items.length < page) break
  }
  return found
}

async function endedAttempt(reads: Reads, attempt: Attempt): Promise<EndedAttempt> {
  const end = attempt.status === 'open' ? null : await reads.tasks.end(attempt.id)
  if (end === null) return { attempt, end: null }
  const { measurement, contested = [], warnings } = end.evidence
  return {
    attempt,
    end: {
      outcome: end.outcome,
      verdict: (await reads.tasks.verdicts(attempt.id)).at(-1)?.verdict ?? null,
      measurement,
      contested,
      warnings,
      changes: await reads.tasks.changes(attempt.id, { limit: maxFiles, offset: 0 }),
    },
  }
}

/** The net changes of a mission, with former names of renamed files. */
async function filesOf(reads: Reads, { id }: Mission): Promise<readonly ReportFile[]> {
  const [files, tops] = await Promise.all([
    reads.timeline.files(id, { limit: maxFiles, offset: 0 }),
    reads.missions.treesOf(id),
  ])
  const trees = await Promise.all(tops.map((top) => reads.missions.tree(id, top)))
  const names = new Map(
    trees.flatMap(({ recorded }) =>
      recorded.flatMap(({ path, from }) => (from ? [[path, from] as const] : [])),
    ),
  )
  return files.map((file) => ({ ...file, from: names.get(file.path) ?? null }))
}

function filesOfAttempts(attempts: readonly EndedAttempt[]): readonly ReportFile[] {
  const files = new Map<string, ReportFile>()
  for (const { attempt, end } of attempts) {
    for (const change of end?.changes ?? []) {
      if (change.origin === 'imported') continue
      const { from } = change
      const lines = ownLines(change)
      const before = files.get(change.path) ?? (from === undefined ? undefined : files.get(from))
      // An earlier attempt's change under the old name counts for the new name.
      if (from !== undefined) files.delete(from)
      const isNew = before?.change === 'added' && change.change !== 'deleted'
      files.set(change.path, {
        path: change.path,
        from: isNew ? null : (before?.from ?? from ?? null),
        change: isNew ? 'added' : change.change,
        addedLines: sum(before?.addedLines, lines.addedLines),
        deletedLines: sum(before?.deletedLines, lines.deletedLines),
        scope:
          change.scope === null
            ? (before?.scope ?? null)
            : change.scope === 'out'
              ? 'out'
              : (before?.scope ?? 'in'),
        others: before?.others === true || (change.with?.length ?? 0) > 0,
        taskId: attempt.taskId,
      })
    }
  }
  return [...files.values()].toSorted(
    (a, b) => Number(b.scope === 'out') - Number(a.scope === 'out') || (a.path < b.path ? -1 : 1),
  )
}

function sum(before: number | null | undefined, more: number | null): number | null {
  return before === null || more === null ? null : (before ?? 0) + more
}

async function reviewsOf(
  { reviews }: Reads,
  { subject: { mission, task }, tasks, from }: Parameters<typeof runsOf>[1],
): Promise<Pick<ReportRecords, 'reviews' | 'comments'>> {
  const subjects = [...(task === null ? [mission.id] : []), ...tasks.map(({ id }) => id)]
  const [sent, comments] = await Promise.all([
    reviews.sentAbout(subjects),
    task === null ? reviews.commentsInMission(mission.id) : reviews.commentsOn([task.id]),
  ])
  return {
    reviews: sent.filter(({ createdAt }) => createdAt >= from),
    comments: comments.filter(
      ({ createdAt, replies }) => createdAt >= from || replies.some((reply) => reply.createdAt >= from),
    ),
  }
}

async function runsOf(
  reads: Reads,
  about: {
    readonly subject: ReportSubject
    readonly tasks: readonly Task[]
    readonly from: number
  },
): Promise<readonly RunRecords[]> {
  const { subject, tasks, from } = about
  const { mission, task } = subject
  const runQueries = [
    ...(task === null ? [{ missionId: mission.id }] : []),
    ...tasks.map(({ id: taskId }: { readonly id: TaskId }) => ({ taskId })),
  ]
  const pages = await Promise.all(runQueries.map((filter) => reads.runs.list(filter, { limit: 100 })))
  const runs = new Map<string, RunRecord>(
    pages.flatMap(({ items }) => items.map(({ item }) => [item.id, item])),
  )
  const selected = [...runs.values()].filter(
    ({ updatedAt, status }) => status === 'active' || updatedAt >= from,
  )
  const sorted = selected.toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
  return Promise.all(sorted.map((run) => runStory(reads, run, from)))
}

async function runStory({ runs }: Reads, run: RunRecord, from: number): Promise<RunRecords> {
  const [history, refusals, approvals, commands] = await Promise.all([
    runs.history(run.id, { limit: maxOfRun }),
    runs.refusals(run.id, { limit: maxOfRun }),
    runs.approvals(run.id),
    runs.commandsOf(run.id, maxOfRun),
  ])
  return {
    run,
    events: history.items
      .map(({ item }) => item)
      .filter(({ createdAt }) => createdAt >= from)
      .toReversed(),
    refusals: refusals.items
      .map(({ item }) => item)
      .filter(({ createdAt }) => createdAt >= from)
      .toReversed(),
    approvals: approvals.filter(({ createdAt }) => createdAt >= from),
    commands: commands.filter(({ endedAt }) => (endedAt ?? 0) >= from),
  }
}

async function figuresOf(reads: Reads, { id, createdAt: now }: Mission): Promise<Figures> {
  const { records } = await reads.stats.records({ since: null, missionId: id, limit: 100_000 })
  return statsOf(records, { since: null, missionId: id, groupBy: null, weekOf: weeksIn('UTC'), now }).all
}

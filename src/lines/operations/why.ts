import { z } from 'zod'
import { itemKinds, itemOutcome } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import { answerBudget, excerptFields, fitLists } from '../../kernel/budget.ts'
import { Failure } from '../../kernel/failure.ts'
import type { AttemptId } from '../../kernel/id.ts'
import { instant, instantOrNull } from '../../kernel/instant.ts'
import { text } from '../../kernel/operations/input/fields.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { prepareSteps, requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import { shellCommand } from '../../kernel/shell-word.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import { uniqueLineIndex } from '../../review/domain/lines.ts'
import { commentKinds, commentStatus, type ReviewComment, reviewActions } from '../../review/domain/review.ts'
import { returnOf, returnsOf, runDecisionsOn } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { type Attempt, atWorkUntil, outcomeAuthorOf } from '../../track/domain/task.ts'
import { verdictValues } from '../../track/domain/verdict.ts'
import { DecisionEntry, decisionEntry } from '../../track/operations/record-answer.ts'
import type { LineOrigin } from '../domain/record.ts'
import type { BlamedCommit, LineHistoryFile } from '../ports/line-history.ts'
import type { LineAuthor, TurnAuthor } from '../ports/line-reads.ts'
import { agentsOf, LineRange, lineAuthorsOf, rangesOf, turnsOf } from './blame.ts'
import { findLineOrigins, lineMeasurements } from './line-origins.ts'

const Maker = z.object({
  attempt_id: z.string(),
  task_id: z.string(),
  task: z.string(),
  goal: z.string().nullable(),
  mission_id: z.string().nullable(),
  mission: z.string().nullable(),
  agent: z.string(),
  /** As its client's hooks report it. */
  model: z.string().nullable(),
  status: z.string(),
  started_at: z.string(),
  ended_at: z.string().nullable(),
  /** The summary at its end: a claim, and its author. */
  summary: z.string().nullable(),
  claimed_by: z.string().nullable(),
  measurement: z.string().nullable(),
  tests: z.string().nullable(),
  /** What the measurement says about that claim; null for a failed attempt. */
  verdict: z.enum(verdictValues).nullable(),
  /** The checks that passed on exactly the content of its end. */
  passed: strings,
  /** The person that sent it back. */
  sent_back_by: z.string().nullable(),
  /** The later attempts at the task, and how the last one ended; null without one. */
  redone: z
    .object({ attempts: z.int(), status: z.string(), verdict: z.enum(verdictValues).nullable() })
    .nullable(),
  commands: strings,
  /** The person's prompt, if prompts are kept. */
  prompt: z.string().nullable(),
  /** Commits during the attempt. */
  commits: list(z.object({ id: z.string(), subject: z.string() })),
})

const Held = z.object({
  id: z.string(),
  kind: z.enum(itemKinds),
  status: z.string(),
  reason: z.string(),
  answer: z.string().nullable(),
  author: z.string().nullable(),
})

/** A person's review, or decision about the changes in a run of the task or its mission. */
const Reviewed = z.object({
  id: z.string(),
  /** Of a decision in a run. */
  run_id: z.string().optional(),
  action: z.enum(reviewActions),
  author: z.string(),
  created_at: z.string(),
  text: z.string().nullable(),
})

/** A person's comment on the file to the tasks' agents, with replies: comments on the line first. */
const Commented = z.object({
  comment_id: z.string(),
  task_id: z.string(),
  kind: z.enum(commentKinds),
  /** In the current file; null for the whole file, or if the line changed since. */
  line: z.int().nullable(),
  quoted: z.string().nullable(),
  text: z.string(),
  author: z.string(),
  status: z.enum(['open', 'answered', 'done']),
  replies: list(z.object({ author: z.string(), text: z.string(), done: z.boolean() })),
})

/** Others that were at work in the work tree when the line was added. */
const Perhaps = z.object({ attempt_id: z.string(), task_id: z.string(), task: z.string(), agent: z.string() })

const Commit = z.object({ id: z.string(), summary: z.string(), author: z.string(), authored_at: z.string() })

const Why = z.object({
  path: z.string(),
  line: z.int(),
  text: z.string().optional(),
  /** Who made it, in a sentence. */
  says: z.string(),
  range: LineRange,
  authors: list(Maker),
  /** The turn of an agent that made it without a task. */
  turn: z
    .object({
      turn_id: z.string(),
      session_id: z.string(),
      agent: z.string(),
      model: z.string().nullable(),
      prompt: z.string().nullable(),
    })
    .optional(),
  /** Others that may have made it, if its author is only probable. */
  candidates: list(Perhaps).optional(),
  comments: list(Commented),
  decisions: list(DecisionEntry),
  items: list(Held),
  reviews: list(Reviewed),
  /** Later changes of the line, and their authors. */
  later: list(
    z.object({
      what: z.enum(['reformatted', 'moved']),
      attempt_id: z.string().nullable(),
      task: z.string().nullable(),
    }),
  ),
  commit: Commit.nullable(),
  notes: strings,
})

export const why = defineOperation({
  name: 'why',
  command: 'why',
  toolset: 'track',
  audience: 'both',
  title: 'Show why a line was written',
  description:
    'Show the task and goal behind a line, its decisions and rejected options, who approved it, and its commit.',
  kind: 'query',
  positional: ['location'],
  paths: { location: [] },
  input: z.strictObject({
    location: text('The file, from the folder you are in, and the line: src/auth.ts:12'),
    rev: text('The file as it was in this commit').optional(),
    copies: z.boolean().describe('Also find lines copied from any other file; much slower').optional(),
    brief: z.boolean().describe('Cut the lists to what fits an agent’s context').optional(),
  }),
  output: Why,
})
  .measure(lineMeasurements)
  .prepare((reads, { location, rev, copies }, { machine }, measured) =>
    prepareSteps(measured, async (measure) => {
      const request = { files: [{ path: lineOf(location).path, rev }], copies, text: machine === undefined }
      return (await findLineOrigins(reads, measure, request))[0]
    }),
  )
  .answer(async ({ reads, ...deciding }, input) => {
    const { line } = lineOf(input.location)
    const origins = requireMeasured(deciding.found)
    if (line > origins.lines.length) {
      const what =
        origins.file.withoutLines ?? `${origins.file.path} has ${formatCount(origins.lines.length, 'line')}.`
      throw new Failure('INVALID_INPUT', `There is no line ${line}: ${what}`, {
        reason: 'lines_out_of_range',
      })
    }
    const makers = await lineAuthorsOf(reads, { lines: origins.lines.slice(line - 1, line) })
    const turns = await turnsOf(reads, { lines: origins.lines.slice(line - 1, line) })
    const all = rangesOf({ ...origins, lines: origins.lines.slice(line - 1, line) }, makers, turns)
    const one = all[0]
    if (one === undefined)
      throw new Failure('NOT_FOUND', `Nothing is recorded about line ${line} of ${origins.file.path}.`, {
        reason: 'line_history_unknown',
      })
    const range: LineRange = { ...one, start: line, end: line }
    const turn = turns.get(range.turn ?? '')
    const origin = origins.lines[line - 1]?.origin ?? null
    const details = {
      ...(turn && { turn: await turnEntry(reads, turn) }),
      authors: await Promise.all([...makers.values()].map((maker) => makerEntry(reads, maker))),
      ...(origin?.certainty === 'probable' && { candidates: await possibleMakers(reads, origin) }),
      comments: await commentsOf(reads, [...makers.values()], { file: origins.file, line }),
      decisions: await decisionsOf(reads, [...makers.values()]),
      items: await inboxItemsOfMakers(reads, [...makers.values()]),
      reviews: await reviewsOf(reads, [...makers.values()]),
      later: await laterChanges(reads, range),
    }
    const commit = range.commit === null ? undefined : origins.commits.get(range.commit)
    const own = origins.file.text?.[line - 1]
    const answer: z.output<typeof Why> = {
      path: origins.file.path,
      line,
      ...(own !== undefined && { text: excerpt(own.trim(), 200) }),
      says: [
        (await writtenBy(reads, origins.file, { range, origin })) ?? sentence(range, details),
        ...broughtSentence(range),
      ].join(' '),
      range,
      ...details,
      commit: commit === undefined ? null : commitEntry(commit),
      notes: origins.notes,
    }
    return input.brief ? fitLists(excerptFields(answer), answerBudget) : answer
  })

/** Parses `src/auth.ts:12`; a path may contain a colon. */
function lineOf(location: string): { readonly path: string; readonly line: number } {
  const parts = /^(.+):(\d{1,9})$/s.exec(location)
  const line = Number(parts?.[2] ?? 0)
  if (parts?.[1] !== undefined && line > 0) return { path: parts[1], line }
  const [, file, first, last] = /^(.+):(\d{1,9})[-,](\d{1,9})$/s.exec(location) ?? []
  if (file !== undefined && first !== undefined) {
    throw new Failure('INVALID_INPUT', `"${location}" has several lines, and why takes one.`, {
      reason: 'single_line_needed',
      hint: `${shellCommand`waymark blame ${file} -L ${first},${last}`} shows their authors. Then: ${shellCommand`waymark why ${`${file}:${first}`}`}`,
    })
  }
  throw new Failure('INVALID_INPUT', `"${location}" is not a line of a file.`, {
    reason: 'lines_invalid',
    hint: 'Use file:line, such as src/auth.ts:12.',
  })
}

async function makerEntry(reads: Reads, maker: LineAuthor) {
  const { tasks, capture } = reads
  const { attempt, taskName, goal, missionName, model } = maker
  const prompts = await promptsOf(capture, attempt.id)
  const end = attempt.status === 'open' ? null : await tasks.end(attempt.id)
  return {
    attempt_id: attempt.id,
    task_id: attempt.taskId,
    task: taskName,
    goal,
    mission_id: attempt.missionId,
    mission: missionName,
    agent: displayName(attempt),
    model,
    prompt: prompts === null ? null : excerpt(prompts, 400),
    status: attempt.status,
    started_at: instant(attempt.openedAt),
    ended_at: instantOrNull(attempt.closedAt),
    summary: end?.outcome.summary ?? null,
    claimed_by: end === null ? null : outcomeAuthorOf(attempt),
    measurement: end?.evidence.measurement ?? null,
    tests: end?.outcome.testsStatus ?? null,
    ...(await sequelOf(reads, attempt)),
    commands: end?.outcome.commandsExecuted.slice(0, 8) ?? [],
    commits: (end?.evidence.commits ?? []).slice(0, 8).map(({ id, subject }) => ({ id, subject })),
  }
}

/** The verdict on an attempt, and what came of its task afterwards. */
async function sequelOf(reads: Reads, attempt: Attempt) {
  const { tasks } = reads
  const verdictOf = async (id: AttemptId) => (await tasks.verdicts(id)).at(-1)?.verdict ?? null
  const verdict = await verdictOf(attempt.id)
  const later = (await tasks.attempts(attempt.taskId)).filter(({ number }) => number > attempt.number)
  const [next, last] = [later[0], later.at(-1)]
  const sentBack = returnOf(attempt, next, await returnsOf(reads, attempt.taskId))
  return {
    verdict: verdict?.is ?? null,
    passed: (verdict?.checks ?? [])
      .filter(({ exitCode, sameContent }) => exitCode === 0 && sameContent)
      .map(({ command }) => command),
    sent_back_by: sentBack?.author ?? null,
    redone:
      last === undefined
        ? null
        : { attempts: later.length, status: last.status, verdict: (await verdictOf(last.id))?.is ?? null },
  }
}

async function turnEntry({ capture }: Reads, { turnId, sessionId, client, model }: TurnAuthor) {
  const prompt = (await capture.prompts([turnId])).get(turnId)
  return {
    turn_id: turnId,
    session_id: sessionId,
    agent: client,
    model,
    prompt: prompt === undefined ? null : excerpt(prompt, 400),
  }
}

async function promptsOf(capture: Reads['capture'], id: AttemptId): Promise<string | null> {
  const turns = (await capture.linksOf([id])).flatMap(({ turnId }) => turnId ?? [])
  const [prompt] = turns.length === 0 ? [] : (await capture.prompts(turns)).values()
  return prompt ?? null
}

const maxEntries = 10

async function decisionsOf(
  { records }: Reads,
  makers: readonly LineAuthor[],
): Promise<readonly DecisionEntry[]> {
  const tasks = [...new Set(makers.map(({ attempt }) => attempt.taskId))]
  const pages = await Promise.all(tasks.map((taskId) => records.decisions({ taskId }, { limit: maxEntries })))
  return pages.flatMap(({ items }) => items.map(({ item }) => decisionEntry(item)))
}

/** The items about an attempt and the later ones at its task, in order: work that was sent back may be accepted by now. */
async function inboxItemsOfMakers({ inboxItems, tasks }: Reads, makers: readonly LineAuthor[]) {
  const attempts = await Promise.all(
    makers.map(async ({ attempt }) =>
      (await tasks.attempts(attempt.taskId)).filter(({ number }) => number >= attempt.number),
    ),
  )
  const items = await inboxItems.ofAttempts([...new Set(attempts.flat().map(({ id }) => id))])
  return items
    .toSorted((a, b) => a.openedAt - b.openedAt)
    .slice(0, maxEntries)
    .map((item) => ({
      id: item.id,
      kind: item.kind,
      status: itemOutcome(item),
      reason: excerpt(item.reason),
      answer: item.answer,
      author: item.closedBy,
    }))
}

/** Others that were at work in the work tree when the line was added. */
async function possibleMakers({ tasks, lines }: Reads, { owners, span }: LineOrigin) {
  const attempts = await tasks.attemptsInTree(span.tree, span.since)
  const ids = attempts
    .filter((attempt) => attempt.openedAt <= span.since && atWorkUntil(attempt) > span.since)
    .flatMap(({ id }) => (owners.includes(id) ? [] : [id]))
  const makers = await lines.makers(ids.slice(0, maxEntries))
  return makers.map((maker) => ({
    attempt_id: maker.attempt.id,
    task_id: maker.attempt.taskId,
    task: maker.taskName,
    agent: agentsOf([maker]),
  }))
}

interface FileLine {
  readonly file: LineHistoryFile
  readonly line: number
}

async function commentsOf({ reviews }: Reads, makers: readonly LineAuthor[], { file, line }: FileLine) {
  const tasks = [...new Set(makers.map(({ attempt }) => attempt.taskId))]
  if (tasks.length === 0) return []
  const sent = await reviews.commentsOn(tasks)
  return sent
    .filter(({ path }) => path === file.path)
    .map((comment) => ({ comment, now: lineNowOf(comment, file) }))
    .toSorted(
      (a, b) => Number(b.now === line) - Number(a.now === line) || b.comment.createdAt - a.comment.createdAt,
    )
    .slice(0, maxEntries)
    .map(({ comment, now }) => ({
      comment_id: comment.id,
      task_id: comment.taskId ?? '',
      kind: comment.kind,
      line: now,
      quoted: comment.quoted === null ? null : excerpt(comment.quoted.trim(), 120),
      text: excerpt(comment.text),
      author: comment.author.name,
      status: commentStatus(comment),
      replies: comment.replies.map(({ author, agentName, text: reply, done }) => ({
        author: agentName ?? author,
        text: excerpt(reply),
        done,
      })),
    }))
}

/** Finds the line by the file's content, or else by the quoted text. */
function lineNowOf(
  { line, side, content, quoted }: ReviewComment,
  { oid, text }: LineHistoryFile,
): number | null {
  if (line === null || side === 'old') return null
  if (content === oid) return line
  return quoted === null || quoted.trim() === '' ? null : uniqueLineIndex(quoted, text ?? [])
}

/**
 * The last reviews of the tasks, and decisions in runs about them. A review that sent back another task of their mission
 * says nothing about them.
 */
async function reviewsOf(reads: Reads, makers: readonly LineAuthor[]) {
  const tasks = [...new Set(makers.map(({ attempt }) => attempt.taskId))]
  const missions = [...new Set(makers.flatMap(({ attempt }) => attempt.missionId ?? []))]
  const [ofTasks, ofMissions, decisions] = await Promise.all([
    Promise.all(tasks.map((taskId) => reads.reviews.reviewsOfTask(taskId, maxEntries))),
    reads.reviews.sentAbout(missions),
    Promise.all(makers.map(({ attempt }) => runDecisionsOn(reads, attempt))),
  ])
  const meant = [...new Map(ofTasks.flat().map((review) => [review.id, review])).values()]
  const sent = meant.map(({ author, ...review }) => ({ ...review, author: author.name }))
  const known = [...meant, ...ofMissions]
  // A review of a mission decides its runs, too. Two attempts at a line may be of one mission.
  const inRuns = new Map(
    decisions
      .flat()
      .filter(({ at, author }) => !known.some((one) => one.createdAt === at && one.author.name === author))
      .map(({ at, ...one }) => [
        `${one.runId} ${one.action} ${at}`,
        { ...one, id: one.runId, createdAt: at },
      ]),
  )
  return [...sent.map((review) => ({ ...review, runId: undefined })), ...inRuns.values()]
    .toSorted((a, b) => a.createdAt - b.createdAt)
    .slice(-maxEntries)
    .map(({ id, runId, action, author, createdAt, text: remarks }) => ({
      id,
      ...(runId !== undefined && { run_id: runId }),
      action,
      author,
      created_at: instant(createdAt),
      text: remarks === null ? null : excerpt(remarks),
    }))
}

async function laterChanges({ lines }: Reads, { reformatted_by, moved_by }: LineRange) {
  const makers = await lines.makers([...(reformatted_by ?? []), ...(moved_by ?? [])])
  const names = new Map<string, string>(makers.map(({ attempt, taskName }) => [attempt.id, taskName]))
  const changesOf = (what: 'reformatted' | 'moved', ids: readonly string[] | undefined) => {
    if (ids === undefined) return []
    // No attempt: a person or an unrecorded tool.
    if (ids.length === 0) return [{ what, attempt_id: null, task: null }]
    return ids.map((id) => ({ what, attempt_id: id, task: names.get(id) ?? null }))
  }
  return [...changesOf('reformatted', reformatted_by), ...changesOf('moved', moved_by)]
}

/** Its content was not recorded at its place. */
const matchedText = ' (by the same text in the same order)'

function turnSentence({ agent, model, session, certainty, attribution }: LineRange): string {
  const how = certainty === 'exact' ? '' : matchedText
  const probably = attribution === 'certain' ? '' : 'probably '
  const made = `${probably}made by ${agent ?? 'an agent'}${model === null ? '' : ` with ${model}`}`
  return `${made[0]?.toUpperCase()}${made.slice(1)} in session ${session}, without a task${how}.`
}

function commitEntry({ id, summary, author, authoredAt }: BlamedCommit): z.output<typeof Commit> {
  return { id, summary: excerpt(summary, 120), author, authored_at: instant(authoredAt) }
}

type WhyAuthors = Pick<z.output<typeof Why>, 'authors' | 'candidates'>

function broughtSentence({ brought_by, kind }: LineRange): readonly string[] {
  if (brought_by === undefined) return []
  const { command, commit } = brought_by
  // Of a line that a commit is known to have written, another commit that has it tells nothing.
  const isCommitted = kind === 'before' || kind === 'author'
  if (command === undefined && commit !== undefined)
    return isCommitted ? [] : [`Git already had it, in ${commit.slice(0, 8)}.`]
  const how = command === undefined ? '' : ` by ${command}`
  return [`Git brought it into this file${how}${commit === undefined ? '' : ` from ${commit.slice(0, 8)}`}.`]
}

/** The restore or undo of a person that put a line there which nobody else is known to have made. */
async function writtenBy(
  { lines, tasks, treeWrites }: Reads,
  { path, oid }: LineHistoryFile,
  { range, origin }: { readonly range: LineRange; readonly origin: LineOrigin | null },
): Promise<string | null> {
  if (range.kind !== 'outside' && range.kind !== 'uncommitted') return null
  const span = origin?.span ?? (await lines.stepsOf([path])).findLast(({ after }) => after === oid)?.span
  if (span === undefined) return null
  const writes = await treeWrites.since(span.until, span.tree)
  const write = writes.find(({ writtenAt, files }) => writtenAt === span.until && files.includes(path))
  if (write === undefined) return null
  const [task] = write.taskId === null ? [] : await tasks.cards([write.taskId])
  const what = task === undefined ? write.subject : `task ${task.task.id} "${excerpt(task.task.name, 80)}"`
  return `${write.cause === 'undo' ? 'Put back by the undo' : 'Brought back by the restore'} of ${what}.`
}

function sentence(range: LineRange, { authors, candidates = [] }: WhyAuthors): string {
  const [maker] = authors
  if (range.kind === 'agent' && maker !== undefined) {
    const how = range.how === 'exact' ? '' : matchedText
    if (authors.length > 1) {
      const names = authors.map(({ agent, task_id }) => `${agent} (${task_id})`).join(' or ')
      return `Made by one of ${names}: several worked in the file at the same time.`
    }
    const model = maker.model === null ? '' : ` with ${maker.model}`
    const what = `${maker.agent}${model} for task ${maker.task_id} "${excerpt(maker.task, 80)}"${how}`
    if (range.attribution !== 'probable') return `Made by ${what}.`
    const others = candidates.map(({ agent, task_id }) => `${agent} (${task_id})`).join(', ')
    const doubt =
      others === '' ? 'others may have written there too' : `${others} worked there at the same time`
    return `Probably made by ${what}; ${doubt}.`
  }
  if (range.kind === 'agent' && range.session !== undefined) return turnSentence(range)
  if (range.kind === 'outside') return 'Changed while no attempt was open: by a person or an unrecorded tool.'
  if (range.kind === 'uncommitted') return 'Not committed and not recorded.'
  const who =
    range.author === null
      ? 'Author unknown'
      : `${range.author} committed it${range.committed_with === undefined ? '' : ` with ${range.committed_with}`}`
  return range.kind === 'before' ? `${who}, before Waymark.` : `${who}; its author is not recorded.`
}

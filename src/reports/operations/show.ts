import { z } from 'zod'
import type { AttemptMeasurement, Outcome } from '../../events/domain/project-event.ts'
import {
  prepareRunDetail,
  RunDetail,
  runDetail,
  runDetailMeasurements,
} from '../../gate/operations/run/run-detail.ts'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import {
  InboxItemEntry,
  inboxItemEntry,
  PermittedItemEntry,
  permittedItemEntry,
} from '../../inbox/operations/item-answer.ts'
import { displayName } from '../../kernel/actor.ts'
import { answerBudget, excerptFields, fitLists } from '../../kernel/budget.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import { type IdKind, idPrefixes, type TaskId } from '../../kernel/id.ts'
import { instant, instantOrNull, secondsBetween } from '../../kernel/instant.ts'
import { names, path, place, time } from '../../kernel/operations/fields.ts'
import { refuseRecordedId } from '../../kernel/operations/find.ts'
import { choice, identifier } from '../../kernel/operations/input/fields.ts'
import { list, Named, strings } from '../../kernel/operations/list-answer.ts'
import {
  type BriefOf,
  measurement as declareMeasurement,
  type PreparationStep,
  type PreparedOperation,
  requireMeasured,
} from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { excerpt } from '../../kernel/text.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import { lostAccess } from '../../people/operations/lost-access.ts'
import { isHeld } from '../../plan/domain/claims.ts'
import { marks } from '../../plan/domain/readiness.ts'
import { DoneWhenEntry, doneWhenEntry, promisesOf } from '../../plan/operations/done-when.ts'
import { NoteEntry, noteEntry } from '../../plan/operations/plan-answer.ts'
import type { PlanLink } from '../../plan/ports/plan-reads.ts'
import { commentStatus } from '../../review/domain/review.ts'
import { returnOf, returnsOf } from '../../review/operations/sent-back.ts'
import type { Reads } from '../../store/ports/store.ts'
import { deniedFiles } from '../../track/domain/claimed-paths.ts'
import { type Mission, phaseProgress, shownStatus } from '../../track/domain/mission.ts'
import {
  type Attempt,
  attemptStatuses,
  callerTypes,
  outcomeAuthorOf,
  resolutions,
  type Task,
} from '../../track/domain/task.ts'
import { treeWriteCauses } from '../../track/domain/tree-write.ts'
import { isDoubted } from '../../track/domain/verdict.ts'
import {
  ChangeCounts,
  ChangeEntry,
  CorrectionEntry,
  changeEntry,
  correctionEntry,
  measurementLevel,
  sharedTree,
  sharedTreeFields,
  UndoneEntry,
  undoneEntry,
  VerdictEntry,
  verdictEntry,
} from '../../track/operations/attempt-answer.ts'
import { LandedEntry, landedEntry } from '../../track/operations/landed.ts'
import {
  leftWork,
  leftWorkFields,
  missionKind,
  missionRunsFields,
  missionStatus,
  PhaseSummary,
  profileWords,
  TaskEntry,
  taskEntry,
  taskWord,
  taskWordOf,
} from '../../track/operations/mission-answer.ts'
import {
  DecisionEntry,
  decisionEntry,
  IssueDetail,
  issueDetail,
  ProgressEntry,
  progressEntry,
} from '../../track/operations/record-answer.ts'
import { missionRuns, phaseSummary } from '../../track/operations/summary.ts'
import { undoneTasks } from '../../track/operations/tree-write.ts'
import { MeasuredShort, measuredSummary } from './board.ts'

/** The claims of an agent about a completed attempt. */
const Claimed = z.object({
  summary: z.string(),
  achievements: strings,
  limitations: strings,
  unexpected: list(z.object({ path: z.string(), why: z.string() })).optional(),
  next_steps: strings,
  packages_added: strings,
  packages_removed: strings,
  commands_executed: strings,
  tests_status: z.enum(['passed', 'failed', 'not_run']).nullable(),
  tokens_input: z.int().nullable(),
  tokens_output: z.int().nullable(),
  no_change_reason: z.string().optional(),
  weakened: strings.optional(),
  criteria: list(
    z.object({ criterion: z.string(), met: z.boolean(), how: z.string().nullable() }),
  ).optional(),
})

/** The stored measurement of an attempt, with the fields that every answer has. */
const MeasuredDetail = z.object({
  measurement: measurementLevel,
  changes: list(ChangeEntry),
  counts: ChangeCounts,
  ignored: z.object({ added: strings, modified: strings, deleted: strings }),
  /** `accepted`: of the unexpected files, how many a person approved. */
  scope: z.object({ matches: z.boolean().nullable(), unexpected: strings, accepted: z.int().optional() }),
  elsewhere: z.object({ commits: z.int(), paths: strings }).optional(),
  warnings: strings,
  ...sharedTreeFields,
})

const AttemptDetail = z.object({
  attempt_id: z.string(),
  number: z.int(),
  status: z.enum(attemptStatuses),
  /** The first person who sent its work back. */
  sent_back: z.object({ author: z.string(), created_at: z.string() }).optional(),
  agent_name: z.string(),
  caller_type: z.enum(callerTypes).nullable(),
  actor: z.string(),
  areas: strings,
  work_tree: z.string(),
  /** The machine that measured it, if it is not the record's own, and its token. */
  measured_by: z
    .object({ machine_id: z.string(), machine: z.string().nullable(), token: z.string().nullable() })
    .optional(),
  snapshot_id: z.string(),
  snapshot_type: z.enum(['git', 'checksum']),
  started_at: z.string(),
  completed_at: z.string().nullable(),
  duration_seconds: z.int().nullable(),
  measured: MeasuredDetail.nullable(),
  /** What the measurement says about the claim; null for an open or failed attempt. */
  verdict: VerdictEntry.nullable(),
  /** Who accepted it although it is not proven. */
  accepted_by: z.string().optional(),
  /** The files that its agent says are not its own work, at most 50. */
  not_mine: strings,
  /** The verdicts before it, oldest first, with the claims that were judged. */
  former_verdicts: list(
    z.object({
      verdict: VerdictEntry.nullable(),
      summary: z.string(),
      author: z.string(),
      created_at: z.string(),
    }),
  ),
  /** The files whose content is another since the last completion. */
  changed_since: strings.optional(),
  claimed: Claimed.nullable(),
  /** The actor who completed it, and the person behind that agent on a team server. */
  claimed_by: z.string().nullable(),
  claimed_by_person: z.string().nullable(),
  /** The person behind the agent that started it. */
  person: z.string().nullable(),
  /** Why its agent can make no more calls, while it is open: `Dan is disabled`. */
  lost_access: z.string().optional(),
  /** Corrections after the end, beside the claim. */
  corrections: list(CorrectionEntry),
})

/** A related task. */
const NearTask = Named.extend({ status: taskWord })

/** A related task with its state in the plan. */
const LinkedTask = z.object({
  id: z.string(),
  title: z.string(),
  mark: z.enum(marks),
  failed: z.literal(true).optional(),
})

const TaskLinks = z.object({
  depends_on: list(LinkedTask),
  blocks: list(LinkedTask),
  subtasks: list(LinkedTask),
  parent: LinkedTask.nullable(),
})

const TaskDetail = z.object({
  kind: z.literal('task'),
  id: z.string(),
  name: z.string(),
  goal: z.string().nullable(),
  role: z.string().nullable(),
  assignee: z.string().nullable(),
  /** The scope that is planned; an attempt may have its own. */
  areas: strings,
  step: z.string().nullable(),
  mission_id: z.string().nullable(),
  mission_name: z.string().nullable(),
  phase_id: z.string().nullable(),
  parent_task_id: z.string().nullable(),
  /** Its promises with those of mission and project, and its own. */
  done_when: DoneWhenEntry.nullable(),
  own_done_when: DoneWhenEntry.nullable(),
  /** Its state in the plan. */
  phase: Named.nullable(),
  parent: NearTask.nullable(),
  depends_on: list(NearTask),
  subtasks: list(NearTask),
  subtasks_total: z.int(),
  links: TaskLinks.optional(),
  status: taskWord,
  resolution: z.enum(resolutions).nullable(),
  /** Who holds it without an attempt, and until when. */
  claim: z.object({ agent: z.string(), expires_at: z.string().nullable() }).nullable(),
  created_by: z.string().nullable(),
  created_at: z.string(),
  /** Its own work tree on this machine. */
  own_work_tree: z.string().nullable(),
  /** Where its lines were when they were last measured; null if they were not. */
  landed: LandedEntry.nullable(),
  /** A person took its changes back, and it was not started again. */
  undone: UndoneEntry.nullable(),
  /** The newest undos and restores of it. */
  tree_writes: list(
    z.object({
      snapshot_id: z.string(),
      cause: z.enum(treeWriteCauses),
      author: z.string(),
      files: z.int(),
      created_at: z.string(),
    }),
  ),
  /** Of its last attempt, with the files and lines of all; null while that one has not ended. */
  measured: MeasuredShort.nullable(),
  attempts: list(AttemptDetail),
  attempts_total: z.int(),
  decisions: list(DecisionEntry),
  issues: list(IssueDetail),
  progress: list(ProgressEntry),
  /** The newest of its notes. */
  notes: list(NoteEntry),
  items: list(PermittedItemEntry),
  answered_items: list(InboxItemEntry),
  /** Comments of people in reviews, and those without an answer. */
  review_comments: z.object({ total: z.int(), open: z.int() }),
})

const MissionDetail = z.object({
  kind: missionKind,
  id: z.string(),
  name: z.string(),
  objective: z.string().nullable(),
  description: z.string().nullable(),
  profile: z.enum(profileWords).nullable(),
  scope: z.string().nullable(),
  constraints: z.string().nullable(),
  done_when: DoneWhenEntry.nullable(),
  status: missionStatus,
  ...leftWorkFields,
  current_phase: z.int(),
  total_phases: z.int(),
  files_changed: z.int(),
  phase_summary: list(PhaseSummary),
  tasks: list(TaskEntry),
  tasks_total: z.int(),
  decisions: list(DecisionEntry),
  decisions_total: z.int(),
  items: list(PermittedItemEntry),
  items_total: z.int(),
  ...missionRunsFields,
  summary: z.string().nullable(),
  achievements: strings,
  limitations: strings,
  created_at: z.string(),
  completed_at: z.string().nullable(),
  completed_by: z.string().nullable(),
})

/** git's own folder records the task of a work tree, so that a removed one is forgotten. */
const ownTree = declareMeasurement({
  brief: z.strictObject({ task: z.string().max(100) }),
  measured: z.strictObject({ path: path.nullable() }),
  measure: async ({ linkedTrees, folder }, { task }) => {
    const own = (await linkedTrees.bound(folder)).find(({ taskId }) => taskId === task)
    return { path: own?.path ?? null }
  },
})

/** Whether the files of the last completion are still as they were judged. */
const changedSince = declareMeasurement({
  brief: z.strictObject({ end: place, since: time, paths: names }),
  measured: z.strictObject({ paths: names }),
  measure: async ({ witness, snapshotName }, { end, since, paths }) => {
    const changed = await witness.changedSince(end, since, { paths, name: snapshotName() }).catch(() => [])
    return { paths: [...changed] }
  },
})

const landingsFirst: PreparationStep = {
  name: 'landings',
  take: async ({ refreshLandings }) => refreshLandings?.(),
}

const showMeasurements = { ...runDetailMeasurements, ownTree, changedSince }

export const show = defineOperation({
  name: 'show',
  command: 'show',
  toolset: 'track',
  audience: 'both',
  title: 'Show a mission, task or run',
  description: 'Show everything recorded about a mission, workflow, task or run: measurements and claims.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier(
      'A mission, workflow, task or run (m-…, w-…, t-…, run-…); an attempt, inbox item, issue or decision shows its task',
    ),
    brief: z.boolean().describe('Cut the lists to what fits an agent’s context').optional(),
    include: z
      .array(choice(['links']))
      .max(1)
      .describe('links: the tasks that it depends on and blocks, with their status')
      .optional(),
  }),
  output: z.discriminatedUnion('kind', [MissionDetail, TaskDetail, RunDetail]),
})
  .measure(showMeasurements)
  .prepare(async (reads, input, context, measured, taken): Promise<Prepared> => {
    const subject = await subjectOf(reads, input.id)
    const mayLand = subject.kind === 'mission' || (subject.kind === 'task' && subject.task.status === 'done')
    if (mayLand && !taken.has(landingsFirst.name)) return { briefs: {}, found: null, first: landingsFirst }
    if (subject.kind === 'task') {
      const since = await judgedFiles(reads, context, subject.task)
      const briefs = { ownTree: { task: subject.task.id }, ...(since && { changedSince: since }) }
      const { ownTree: tree, changedSince: changed } = measured
      if (tree === undefined || (since !== null && changed === undefined)) return { briefs, found: null }
      return { briefs, found: { ...subject, tree: tree.path, changedSince: changed?.paths ?? [] } }
    }
    if (subject.kind === 'mission') return { briefs: {}, found: subject }
    const questions = new MeasurementQuestions<typeof runDetailMeasurements>(measured)
    const run = await prepareRunDetail(reads, questions, { context, runId: subject.id })
    return { briefs: questions.briefs, found: run && { kind: 'run', run } }
  })
  .answer(async ({ reads, found, setting, context: { permissions } }, input) => {
    const subject = requireMeasured(found ?? undefined)
    const asking = { at: setting.at, permissions }
    const whole =
      subject.kind === 'run'
        ? await runDetail(reads, subject.run)
        : subject.kind === 'mission'
          ? await missionDetail(reads, subject.mission, asking)
          : {
              ...(await taskDetail(reads, subject, asking)),
              own_work_tree: subject.tree,
              ...(input.include && { links: await taskLinks(reads, subject.task, setting.at) }),
            }
    return input.brief ? fitLists(excerptFields(whole), answerBudget) : whole
  })

/** The task, else the mission of an attempt, an inbox item, an issue or a decision: its page shows them. */
async function workNamed({ tasks, inboxItems, records }: Reads, id: string): Promise<string> {
  const isOf = (kind: IdKind) => id.startsWith(`${idPrefixes[kind]}-`)
  const found = isOf('attempt')
    ? await tasks.attempt(id)
    : isOf('item')
      ? await inboxItems.find(id)
      : isOf('issue')
        ? await records.issue(id)
        : isOf('decision')
          ? await records.decision(id)
          : null
  return found?.taskId ?? found?.missionId ?? id
}

type Prepared = PreparedOperation<typeof showMeasurements, PreparedSubject | null>
type PreparedSubject =
  | Extract<ShownSubject, { kind: 'mission' }>
  | (Extract<ShownSubject, { kind: 'task' }> & {
      readonly tree: string | null
      readonly changedSince: readonly string[]
    })
  | { readonly kind: 'run'; readonly run: NonNullable<Awaited<ReturnType<typeof prepareRunDetail>>> }

type ShownSubject =
  | { readonly kind: 'mission'; readonly mission: Mission }
  | { readonly kind: 'task'; readonly task: Task }
  | { readonly kind: 'run'; readonly id: string }

const maxJudged = 200

/** The files of the last attempt at a done task, where they are on this machine. */
async function judgedFiles(
  { tasks }: Reads,
  { machine }: Pick<RecordContext, 'machine'>,
  task: Task,
): Promise<BriefOf<typeof changedSince> | null> {
  const last = task.status === 'done' ? await tasks.lastAttempt(task.id) : null
  const { endSnapshot: end = null, closedAt = null } = last ?? {}
  if (last === null || end === null || closedAt === null || end.machineId !== machine?.id) return null
  const changes = await tasks.changes(last.id, { limit: maxJudged, offset: 0 })
  const paths = changes.map(({ path }) => path)
  return paths.length === 0 ? null : { end, since: closedAt, paths }
}

async function subjectOf(reads: Reads, id: string): Promise<ShownSubject> {
  const named = await workNamed(reads, id)
  const mission = await reads.missions.find(named)
  if (mission) return { kind: 'mission', mission }
  const task = await reads.tasks.find(named)
  if (task) return { kind: 'task', task }
  if (await reads.runs.find(id)) return { kind: 'run', id }
  refuseRecordedId(id)
  if (id.startsWith(`${idPrefixes.review}-`)) {
    throw new Failure('NOT_FOUND', `${id} is a review, not a mission, task or run.`, {
      reason: 'review_id',
      hint: hintOf`${callTo('review_comments')} lists the comments of reviews.`,
    })
  }
  const phase = await reads.plan.phase(id)
  if (phase) {
    throw new Failure('NOT_FOUND', `${id} is the phase "${phase.name}", not a mission, task or run.`, {
      reason: 'phase_id',
      hint: hintOf`List its tasks with ${callTo('taskman_task_list', { phase: id })}.`,
    })
  }
  throw new Failure('NOT_FOUND', `mission or task not found: ${id}`, {
    missing: 'mission or task',
    hint: hintOf`List missions with ${callTo('list_missions')}, the tasks of one with ${callTo('get_context', { include: ['tasks'] })}, runs with ${callTo('state_gate_list_runs')}.`,
  })
}

/** When it is asked, and what the caller may do. */
interface Asking {
  readonly at: number
  readonly permissions: RecordContext['permissions']
}

/** One mission: its objective, status, last tasks and decisions, and blockers. */
async function missionDetail(
  reads: Reads,
  mission: Mission,
  { at, permissions }: Asking,
): Promise<z.output<typeof MissionDetail>> {
  const { missions, tasks, records, inboxItems } = reads
  const filter = { missionId: mission.id }
  const phases = await missions.phases(mission.id)
  const now = await missions.now(mission.id)
  const totals = await missions.totals(mission.id)
  const lastTasks = await tasks.list(filter, { limit: 20 })
  const ids = lastTasks.items.map(({ item }) => item.task.id)
  const histories = await tasks.histories(ids, at)
  const attempts = new Map(lastTasks.items.map(({ item }) => [item.task.id, item.attempt]))
  const undone = await undoneTasks(reads, attempts)
  const decisions = await records.decisions(filter, { limit: 10 })
  const open = await inboxItems.list({ ...filter, status: 'open' }, { limit: 10 })
  const personOf = await peopleBehind(
    reads,
    open.items.map(({ item }) => item.opener),
  )
  return {
    kind: mission.kind,
    id: mission.id,
    name: mission.name,
    objective: mission.objective,
    description: mission.description,
    profile: mission.profile === null ? null : profileWords[mission.profile],
    scope: mission.scope,
    constraints: mission.constraints,
    done_when: doneWhenEntry(mission.doneWhen),
    status: shownStatus(mission, now),
    ...leftWork(mission, now),
    ...phaseProgress(mission, phases),
    files_changed: totals.distinctFilesChanged,
    phase_summary: await phaseSummary(reads, mission, phases),
    tasks: lastTasks.items.map(({ item }) => {
      const { verdict = null, acceptedBy = null } = histories.get(item.task.id) ?? {}
      const undo = undone.get(item.task.id)
      return {
        ...taskEntry(item),
        ...(verdict && { verdict }),
        ...(acceptedBy !== null && { accepted_by: acceptedBy }),
        ...(undo && { undone: undoneEntry(undo) }),
      }
    }),
    tasks_total: lastTasks.total,
    decisions: decisions.items.map(({ item }) => decisionEntry(item)),
    decisions_total: decisions.total,
    items: open.items.map(({ item }) => permittedItemEntry(item, personOf, permissions)),
    items_total: open.total,
    ...(await missionRuns(reads, mission)),
    summary: mission.summary,
    achievements: mission.achievements,
    limitations: mission.limitations,
    created_at: instant(mission.createdAt),
    completed_at: instantOrNull(mission.completedAt),
    completed_by: await missions.endedBy(mission),
  }
}

/** One task: its attempts with measurements and claims, and its records. */
async function taskDetail(
  reads: Reads,
  { task, changedSince: changed }: { readonly task: Task; readonly changedSince: readonly string[] },
  { at: now, permissions }: Asking,
): Promise<z.output<typeof TaskDetail>> {
  const { tasks, records, inboxItems, missions } = reads
  const filter = { taskId: task.id }
  const mission = task.missionId === null ? null : await missions.find(task.missionId)
  const attempts = await tasks.attempts(task.id)
  const [card] = await tasks.cards([task.id])
  const landed = (await reads.landings.of([task.id])).get(task.id)
  const undone = (await undoneTasks(reads, new Map([[task.id, attempts.at(-1) ?? null]]))).get(task.id)
  const writes = await reads.treeWrites.ofTask(task.id)
  const acceptedBy = (await tasks.acceptances([task.id])).get(task.id)
  const decisions = await records.decisions(filter, { limit: 20 })
  const issues = await records.issues(filter, { limit: 20 })
  const progress = await records.progress(filter, { limit: 20 })
  const notes = await reads.plan.notes(task.id, { limit: 20 })
  const open = await inboxItems.list({ ...filter, status: 'open' }, { limit: 20 })
  const closed = await inboxItems.list({ ...filter, status: 'closed' }, { limit: 20 })
  const returns = await returnsOf(reads, task.id)
  const comments = await reads.reviews.commentsOn([task.id])
  const details = await Promise.all(
    attempts.slice(-5).map(async (attempt) => {
      const next = attempts.find(({ number }) => number > attempt.number)
      const sentBack = returnOf(attempt, next, returns)
      const detail = await attemptDetail(reads, attempt)
      const lost = attempt.status === 'open' ? await lostAccess(reads, attempt.actor, now) : null
      const isAccepted = next === undefined && isDoubted(detail.verdict?.is)
      return {
        ...detail,
        ...(lost !== null && { lost_access: lost }),
        ...(isAccepted && acceptedBy !== undefined && { accepted_by: acceptedBy }),
        ...(next === undefined && changed.length > 0 && { changed_since: changed }),
        ...(sentBack && { sent_back: { author: sentBack.author, created_at: instant(sentBack.at) } }),
      }
    }),
  )
  const personOf = await peopleBehind(
    reads,
    [...open.items, ...closed.items].map(({ item }) => item.opener),
  )
  return {
    kind: 'task',
    id: task.id,
    name: task.name,
    goal: task.goal,
    role: task.role,
    assignee: task.assignee ?? null,
    areas: task.areas,
    step: task.step,
    mission_id: task.missionId,
    mission_name: mission && excerpt(mission.name, 120),
    phase_id: task.phaseId,
    parent_task_id: task.parentTaskId,
    done_when: doneWhenEntry(await promisesOf(reads, task)),
    own_done_when: doneWhenEntry(task.doneWhen),
    ...(await placeInPlan(reads, task, now)),
    status: taskWordOf(task, attempts.at(-1) ?? null),
    resolution: task.resolution,
    created_by: task.creator,
    created_at: instant(task.createdAt),
    own_work_tree: null,
    landed: landed ? landedEntry(landed) : null,
    undone: undone ? undoneEntry(undone) : null,
    tree_writes: writes.map(({ id, cause, author, files, writtenAt }) => ({
      snapshot_id: id,
      cause,
      author,
      files,
      created_at: instant(writtenAt),
    })),
    measured: card?.measured ? measuredSummary(card.measured) : null,
    attempts: details,
    attempts_total: attempts.length,
    decisions: decisions.items.map(({ item }) => decisionEntry(item)),
    issues: issues.items.map(({ item }) => issueDetail(item)),
    progress: progress.items.map(({ item }) => progressEntry(item)),
    notes: notes.items.map(({ item }) => noteEntry(item)),
    items: open.items.map(({ item }) => permittedItemEntry(item, personOf, permissions)),
    answered_items: closed.items.map(({ item }) => inboxItemEntry(item, personOf)),
    review_comments: {
      total: comments.length,
      open: comments.filter((comment) => commentStatus(comment) === 'open').length,
    },
  }
}

const maxNear = 50

/** Its phase, parent, dependencies, first subtasks and claim. */
async function placeInPlan({ plan, tasks }: Reads, task: Task, now: number) {
  const { dependsOn = [], claim = null } = (await plan.task(task.id)) ?? {}
  const subtasks = await tasks.subtasks(task.id)
  const near = [task.parentTaskId ?? [], dependsOn, subtasks.slice(0, maxNear)].flat()
  const cards = await tasks.cards([...new Set(near)])
  const nearTask = (id: TaskId) =>
    cards.flatMap(({ task: found, attempt }) =>
      found.id === id ? [{ id, name: excerpt(found.name, 160), status: taskWordOf(found, attempt) }] : [],
    )
  const phase = task.phaseId === null ? null : await plan.phase(task.phaseId)
  return {
    phase: phase && { id: phase.id, name: phase.name },
    parent: (task.parentTaskId && nearTask(task.parentTaskId)[0]) ?? null,
    depends_on: dependsOn.flatMap(nearTask),
    subtasks: subtasks.slice(0, maxNear).flatMap(nearTask),
    subtasks_total: subtasks.length,
    claim:
      claim !== null && isHeld(claim, now)
        ? { agent: claim.agent, expires_at: instantOrNull(claim.expiresAt) }
        : null,
  }
}

/** The related tasks of one task, with their state in the plan. */
async function taskLinks({ plan }: Reads, task: Task, now: number): Promise<z.output<typeof TaskLinks>> {
  const links = Map.groupBy(await plan.links(task.id, now), ({ link }) => link)
  const linksOf = (kind: PlanLink['link']) =>
    (links.get(kind) ?? []).map(({ id, name, mark, hasFailed }) => ({
      id,
      title: excerpt(name, 160),
      mark,
      ...(hasFailed && { failed: true as const }),
    }))
  return {
    depends_on: linksOf('depends_on'),
    blocks: linksOf('blocks'),
    subtasks: linksOf('subtask'),
    parent: linksOf('parent')[0] ?? null,
  }
}

async function attemptDetail(reads: Reads, attempt: Attempt): Promise<z.output<typeof AttemptDetail>> {
  const { tasks } = reads
  const end = await tasks.end(attempt.id)
  const corrections = end === null ? [] : await tasks.corrections(attempt.id)
  const verdicts = end === null ? [] : await tasks.verdicts(attempt.id)
  const current = verdicts.at(-1)?.verdict ?? null
  const personOf = await peopleBehind(reads, [
    attempt.actor,
    attempt.completedBy,
    ...corrections.map(({ actor }) => actor),
  ])
  const changes = end === null ? [] : await tasks.changes(attempt.id, { limit: 20, offset: 0 })
  const totals = end?.evidence.scope.unexpected.length ? await tasks.measurementTotals([attempt.id]) : null
  const accepted = totals?.get(attempt.id)?.outOfScopeAccepted ?? 0
  return {
    attempt_id: attempt.id,
    number: attempt.number,
    status: attempt.status,
    agent_name: displayName(attempt),
    caller_type: attempt.callerType,
    actor: attempt.actor.name,
    areas: attempt.areas,
    work_tree: attempt.snapshot.top,
    ...measuringMachine(attempt),
    snapshot_id: attempt.snapshot.id,
    snapshot_type: attempt.snapshot.engine,
    started_at: instant(attempt.openedAt),
    completed_at: instantOrNull(attempt.closedAt),
    duration_seconds: attempt.closedAt === null ? null : secondsBetween(attempt.openedAt, attempt.closedAt),
    measured:
      end === null
        ? null
        : {
            ...measuredFields(end.evidence, accepted),
            ...sharedTree(end.evidence),
            counts: end.counts,
            changes: changes.map(changeEntry),
          },
    verdict: current && verdictEntry(current, attempt.taskId),
    not_mine: end === null ? [] : deniedFiles(end.outcome, end.evidence).slice(0, 50),
    former_verdicts: verdicts.slice(0, -1).map(({ verdict, summary, author, createdAt }) => ({
      verdict: verdict && verdictEntry(verdict, attempt.taskId),
      summary: excerpt(summary, 600),
      author,
      created_at: instant(createdAt),
    })),
    claimed: end === null ? null : claims(end.outcome),
    claimed_by: end === null ? null : outcomeAuthorOf(attempt),
    claimed_by_person: end === null ? null : personOf(attempt.completedBy),
    person: personOf(attempt.actor),
    /** Corrections after the end, beside the claim. */
    corrections: corrections.map((correction) => correctionEntry(correction, personOf)),
  }
}

function measuringMachine({ snapshot, actor }: Attempt): Pick<z.output<typeof AttemptDetail>, 'measured_by'> {
  const { machineId, machineName = null } = snapshot
  return machineId === undefined
    ? {}
    : { measured_by: { machine_id: machineId, machine: machineName, token: actor.token ?? null } }
}

function measuredFields(
  { measurement: completeness, ignored, scope, elsewhere, warnings }: Omit<AttemptMeasurement, 'changes'>,
  accepted: number,
) {
  return {
    measurement: completeness,
    ignored,
    scope: { ...scope, ...(accepted > 0 && { accepted }) },
    ...(elsewhere && { elsewhere }),
    warnings,
  }
}

function claims(outcome: Outcome): z.output<typeof Claimed> {
  return {
    summary: outcome.summary,
    achievements: outcome.achievements,
    limitations: outcome.limitations,
    ...(outcome.unexpected && { unexpected: outcome.unexpected }),
    next_steps: outcome.nextSteps,
    packages_added: outcome.packagesAdded,
    packages_removed: outcome.packagesRemoved,
    commands_executed: outcome.commandsExecuted,
    tests_status: outcome.testsStatus,
    tokens_input: outcome.tokensInput,
    tokens_output: outcome.tokensOutput,
    ...(outcome.noChangeReason !== undefined && { no_change_reason: outcome.noChangeReason }),
    ...(outcome.weakened && { weakened: outcome.weakened }),
    ...(outcome.criteria && { criteria: outcome.criteria }),
  }
}

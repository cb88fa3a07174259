import type { AttemptMeasurement, NewProjectEvent, Outcome } from '../../events/domain/project-event.ts'
import type { GateSettings } from '../../inbox/domain/inbox-gate.ts'
import { type InboxItem, openInboxItem } from '../../inbox/domain/inbox-item.ts'
import type { Actor } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { excerpt, formatCount } from '../../kernel/text.ts'
import type { Mission, Phase } from './mission.ts'
import { closeStaleItems } from './take-over.ts'
import {
  type Attempt,
  type Correction,
  outcomeAuthorOf,
  speakerOf,
  type Task,
  type TaskOutcome,
} from './task.ts'
import type { FilesTakenBack } from './task-work.ts'
import {
  asksNothingNew,
  asksTheSame,
  type CompletionMode,
  fixText,
  isContradiction,
  isOfNoChange,
  reasonText,
  type Verdict,
} from './verdict.ts'

export interface CompletionRequest {
  /** The author of the completion and its outcome. */
  readonly actor: Actor
  readonly status: TaskOutcome
  readonly outcome: Outcome
  readonly phaseComplete: boolean
  readonly evidence: AttemptMeasurement
  readonly restored: readonly FilesTakenBack[]
  readonly verdict: Verdict | null
}

/** The rows that the decision depends on, read under the lock. */
export interface CompletionSituation {
  readonly task: Task
  readonly attempt: Attempt
  readonly mission: Mission | null
  readonly phase: Phase | null
  readonly openSubtasks: readonly Task[]
  /** How many tasks of the phase are not done, including this one. */
  readonly undoneInPhase: number
  /** The other open tasks, at most 40; only read if the phase should be completed with this task. */
  readonly openInPhase: readonly OpenTask[]
  /** The first open inbox items of the phase; read as the open tasks are. */
  readonly openItemsOfPhase: readonly Pick<InboxItem, 'id' | 'kind'>[]
  /** Whether the task stood in the plan before its first attempt. */
  readonly wasPlanned: boolean
  /** Whether no run prevents completing the phase. */
  readonly isPhaseFree: boolean
  /** Whether another attempt is open in the mission; this and the next two are only read for a workflow. */
  readonly isOtherOpen: boolean
  /** Planned tasks of the mission that are still to do, besides this one. */
  readonly stepsToDo: number
  /** Whether an open run gates the mission. */
  readonly isGated: boolean
  /** Who sent the work back last, and with which words; null if nobody did, or it was approved since. */
  readonly sentBack: { readonly author: string; readonly text: string | null } | null
  /** Open items on the attempt. */
  readonly items: readonly InboxItem[]
  /** Open items about earlier verdicts on the task. */
  readonly verdictItems: readonly InboxItem[]
  /** Open reviews of its earlier attempts. */
  readonly reviewItems: readonly InboxItem[]
  /** Open items about files of the task. */
  readonly scopeItems: readonly InboxItem[]
  /** The project's settings for open items, and the number of those in the mission. */
  readonly waiting: GateSettings & { readonly openItemsOfMission: number }
  /** Whether all who worked beside it have ended; only read if a check failed meanwhile. */
  readonly isLastAtWork?: boolean
}

export interface OpenTask extends Pick<Task, 'id' | 'name'> {
  /** Its last attempt failed: it may be retried, but keeps no phase open. */
  readonly hasFailed: boolean
}

export interface CompletedTask {
  /** The events that follow, in order: inbox items, phase, mission. */
  readonly consequences: readonly NewProjectEvent[]
  readonly phase: Phase | null
  readonly notes: readonly string[]
}

const maxNamed = 5

/** Decides the events of closing an attempt. Refused while subtasks are open, unless it failed. */
export function endAttempt(
  request: CompletionRequest,
  situation: CompletionSituation,
  setting: TransactionContext,
): CompletedTask {
  refuseOpenSubtasks(request.status, situation.task, situation.openSubtasks)
  refuseContradicted(request.verdict, situation)
  const phase = phaseAfter(request, situation, setting)
  const opened = itemsOpenedBy(request, situation, setting)
  const items = opened.map((item): NewProjectEvent => ({ kind: 'inbox.opened', item }))
  const end = workflowEnd(request, situation)
  // With `inbox_gate: all` a workflow does not end by itself while an item is open.
  const { gate, openItemsOfMission: ofMission } = situation.waiting
  const asked = opened.filter(({ kind }) => kind !== 'verdict').length
  const answered = restoredItems(request.restored, situation.scopeItems)
  const replaced = replacedReviews(opened, situation)
  const left = ofMission + asked - answered.length - replaced.length
  const isBlocked = end.length > 0 && gate === 'all' && left > 0
  return {
    consequences: [
      ...closeStaleItems(situation.items, 'The attempt was completed.'),
      ...closeItems([...situation.verdictItems, ...replaced], 'The task was completed again.'),
      ...closeItems(answered, 'The task no longer changes these files.'),
      ...items,
      ...phase.events,
      ...(isBlocked ? [] : end),
    ],
    phase: phase.phase,
    notes: [
      ...subtaskNotes(situation),
      ...phase.notes,
      ...(isBlocked ? ['The workflow stays open until a person answers its inbox items.'] : []),
    ],
  }
}

export function refuseOpenSubtasks(status: TaskOutcome, task: Task, openSubtasks: readonly Task[]): void {
  if (openSubtasks.length === 0 || status === 'failed') return
  const names = openSubtasks.slice(0, maxNamed).map((subtask) => `${subtask.id} "${subtask.name}"`)
  const [first] = openSubtasks
  const next =
    first?.status === 'in_progress'
      ? callTo('complete_task', { task_id: first.id })
      : callTo('start_task', { planned_task_id: first?.id })
  throw new Failure(
    'REFUSED',
    `Cannot complete task ${task.id}: ${openSubtasks.length} of its subtasks are open: ${names.join(', ')}.`,
    {
      reason: 'subtasks_open',
      hint: hintOf`Complete them first with ${next}, or complete this one as failed. A person can drop those that are not needed: waymark task drop ${first?.id ?? '<task>'} "<reason>".`,
    },
  )
}

function subtaskNotes({ openSubtasks }: CompletionSituation): readonly string[] {
  if (openSubtasks.length === 0) return []
  return [
    `Subtasks are still open: ${openSubtasks
      .slice(0, maxNamed)
      .map(({ id }) => id)
      .join(', ')}.`,
  ]
}

/** The inbox items that a completion opens. */
export function itemsOpenedBy(
  { actor, status, outcome, evidence, restored, verdict }: Omit<CompletionRequest, 'phaseComplete'>,
  situation: Pick<CompletionSituation, 'attempt' | 'waiting' | 'sentBack' | 'isLastAtWork'>,
  setting: TransactionContext,
): readonly InboxItem[] {
  const attempt = { ...situation.attempt, completedBy: actor }
  const location = { ...attempt, attemptId: attempt.id }
  const sentBack = status === 'failed' ? null : situation.sentBack
  const items = [...reviewItem(outcome, { attempt, status, sentBack, verdict }, setting)]
  const { unexpected } = evidence.scope
  if (unexpected.length > 0) {
    const scopeReason = outsideScope(unexpected, evidence, attempt)
    const explanations = (outcome.unexpected ?? []).map(({ path, why }) => `${path}: ${why}`)
    const reason =
      explanations.length === 0 ? scopeReason : `${scopeReason}\nThe agent says: ${explanations.join('; ')}`
    const item = openInboxItem({ kind: 'scope', reason, openedBy: 'waymark' }, location, setting)
    items.push({ ...item, paths: unexpected })
  }
  const asBefore = new Set(restored.flatMap(({ paths }) => paths))
  const denied = (evidence.deniedByAll ?? []).filter((path) => !asBefore.has(path))
  if (denied.length > 0) items.push({ ...deniedItem(denied, location, setting), paths: denied })
  const asksOfShared = situation.isLastAtWork === true && status === 'success'
  const mode = situation.waiting.completion
  return [...items, ...verdictItem(verdict, { attempt, mode, asksOfShared }, setting)]
}

/** The reviews of earlier attempts that a new review of the task replaces. */
export function replacedReviews(
  opened: readonly InboxItem[],
  { reviewItems }: Pick<CompletionSituation, 'reviewItems'>,
): readonly InboxItem[] {
  return opened.some(({ kind }) => kind === 'review') ? reviewItems : []
}

/** The items about files that the task no longer changes. */
export function restoredItems(
  restored: readonly FilesTakenBack[],
  items: readonly InboxItem[],
): readonly InboxItem[] {
  return items.filter((item) => restored.some((files) => concernsOnly(item, files)))
}

/** Whether an open item about files concerns nothing but these files of the attempt. */
export function concernsOnly({ status, attemptId, paths }: InboxItem, files: FilesTakenBack): boolean {
  return (
    status === 'open' &&
    attemptId === files.attemptId &&
    paths.length > 0 &&
    paths.every((path) => files.paths.includes(path))
  )
}

/** Everyone who may have changed these files denies it: a person decides. */
export function deniedItem(
  paths: readonly string[],
  location: Parameters<typeof openInboxItem>[1],
  setting: TransactionContext,
): InboxItem {
  const [first] = paths
  const files = paths.length === 1 ? first : `${first} and ${formatCount(paths.length - 1, 'more file')}`
  const reason = `${files} changed, and every agent that worked here denies it.`
  return { ...openInboxItem({ kind: 'scope', reason, openedBy: 'waymark' }, location, setting), paths }
}

function reviewItem(
  outcome: Outcome,
  {
    attempt,
    sentBack,
    ...completed
  }: Pick<CompletionSituation, 'attempt' | 'sentBack'> & Pick<CompletionRequest, 'status' | 'verdict'>,
  setting: TransactionContext,
): readonly InboxItem[] {
  const { manualReviewNeeded, manualReviewReason } = outcome
  if (!manualReviewNeeded && sentBack === null) return []
  const requested = manualReviewReason ?? 'The agent asks for a review and gave no reason.'
  const returned = sentBack === null ? '' : doneAgainText(sentBack, outcome, completed)
  const reason = [returned, manualReviewNeeded ? requested : ''].filter(Boolean).join(' ')
  const about = {
    kind: 'review' as const,
    reason,
    openedBy: manualReviewNeeded ? outcomeAuthorOf(attempt) : 'waymark',
  }
  return [openInboxItem(about, { ...attempt, attemptId: attempt.id }, setting)]
}

function doneAgainText(
  { author, text }: NonNullable<CompletionSituation['sentBack']>,
  { noChangeReason, summary }: Outcome,
  { status, verdict }: Pick<CompletionRequest, 'status' | 'verdict'>,
): string {
  const answer = isOfNoChange(verdict)
    ? `It was completed again without a change${quoteSentence(noChangeReason || summary)}`
    : `It ${status === 'success' ? 'was done again' : 'is now partly done'}.`
  return `${author} sent it back${quoteSentence(text)} ${answer}`
}

/** `: “Words.”`, or the full stop alone. */
function quoteSentence(words: string | null | undefined): string {
  const said = excerpt(words?.trim() ?? '', 300)
  return said === '' ? '.' : `: “${said}”${/[.!?…]$/.test(said) ? '' : '.'}`
}

/** The item that a verdict opens, by the project's setting; none for most. */
function verdictItem(
  verdict: Verdict | null,
  {
    attempt,
    ...asking
  }: {
    readonly attempt: Attempt
    readonly mode: CompletionMode
    /** Whether a check that failed beside others is asked about: once, when the last of them ends. */
    readonly asksOfShared: boolean
  },
  setting: TransactionContext,
): readonly InboxItem[] {
  return verdict === null || !needsPerson(verdict, asking) ? [] : [verdictQuestion(verdict, attempt, setting)]
}

/** The item that asks a person to accept a completion or to send it back. */
export function verdictQuestion(verdict: Verdict, attempt: Attempt, setting: TransactionContext): InboxItem {
  const reason = reasonsText(verdict)
  const location = { ...attempt, attemptId: attempt.id }
  const item = openInboxItem({ kind: 'verdict', reason, openedBy: 'waymark' }, location, setting)
  return { ...item, paths: [...new Set(verdict.reasons.flatMap(({ paths = [] }) => paths))] }
}

function needsPerson(
  { is, reasons }: Verdict,
  { mode, asksOfShared }: { readonly mode: CompletionMode; readonly asksOfShared: boolean },
): boolean {
  if (is !== 'unproven') return is === 'contradicted'
  return mode === 'refuse' || (asksOfShared && reasons.some(({ rule }) => rule === 'check_failed_shared'))
}

/** Why a completion is contradicted, or what is missing for it to be proven. */
export function reasonsText({ is, reasons }: Verdict): string {
  const texts = reasons.filter(({ rule }) => is !== 'contradicted' || isContradiction(rule))
  return texts.map((reason) => reasonText(reason).replace(/[^.]$/, '$&.')).join(' ')
}

/** With `completion: refuse`, a contradicted completion closes nothing. */
export function refuseContradicted(
  verdict: Verdict | null,
  { task, waiting }: Pick<CompletionSituation, 'task' | 'waiting'>,
): void {
  if (verdict?.is !== 'contradicted' || waiting.completion !== 'refuse') return
  const fixes = verdict.reasons.flatMap(({ rule, fix }) =>
    isContradiction(rule) && fix ? [fixText(fix, task.id)] : [],
  )
  throw new Failure('REFUSED', `Cannot complete task ${task.id} "${task.name}": ${reasonsText(verdict)}`, {
    reason: 'completion_contradicted',
    hint: hintOf`${[...new Set(fixes)].join(' ')} Then call ${callTo('complete_task', { task_id: task.id, status: undefined, outcome: undefined })} again.`,
    details: { rules: verdict.reasons.map(({ rule }) => rule) },
  })
}

function closeItems(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return items.map(({ id, missionId, taskId }) => ({
    kind: 'inbox.closed',
    itemId: id,
    missionId,
    taskId,
    status: 'resolved',
    answer,
  }))
}

/** Names the files first: a person decides about them, not about the scope. */
function outsideScope(
  [first, ...others]: readonly string[],
  { widened = [] }: AttemptMeasurement,
  { areas }: Attempt,
): string {
  const files = others.length === 0 ? first : `${first} and ${formatCount(others.length, 'more file')}`
  return `${files} changed outside the scope, which is ${[...areas, ...widened].join(', ')}.`
}

function phaseAfter(
  { status, phaseComplete }: CompletionRequest,
  { task, phase, undoneInPhase, openInPhase, openItemsOfPhase, wasPlanned, isPhaseFree }: CompletionSituation,
  setting: TransactionContext,
): {
  readonly phase: Phase | null
  readonly events: readonly NewProjectEvent[]
  readonly notes: readonly string[]
} {
  if (!phase) {
    const notes = phaseComplete ? ['This task has no phase: phase_complete changed nothing.'] : []
    return { phase, events: [], notes }
  }
  if (phase.status === 'completed') return { phase, events: [], notes: [] }
  if (phaseComplete) refuseOpenPhase(phase, openInPhase)
  // The last planned task of a phase ends it; after an unplanned task another may follow.
  const others = undoneInPhase - (task.phaseId === phase.id && task.status !== 'done' ? 1 : 0)
  const isLast = status !== 'failed' && wasPlanned && isPhaseFree && others === 0
  if (!phaseComplete && !(isLast && task.phaseId === phase.id)) return { phase, events: [], notes: [] }
  return {
    phase: { ...phase, status: 'completed', completedAt: setting.at },
    events: [{ kind: 'phase.completed', phaseId: phase.id, missionId: phase.missionId }],
    notes: phaseComplete ? openInPhaseNotes(openInPhase, openItemsOfPhase) : [],
  }
}

/** Failed tasks and open inbox items keep no phase open. The answer names them. */
function openInPhaseNotes(
  openInPhase: readonly OpenTask[],
  items: CompletionSituation['openItemsOfPhase'],
): readonly string[] {
  const failed = openInPhase.filter(({ hasFailed }) => hasFailed).slice(0, maxNamed)
  return [
    ...(failed.length === 0
      ? []
      : [
          `The phase was completed with failed tasks: ${failed.map(({ id, name }) => `${id} "${name}"`).join(', ')}.`,
        ]),
    ...(items.length === 0
      ? []
      : [
          `The phase was completed with open inbox items: ${items.map(({ id, kind }) => `${id} (${kind})`).join(', ')}.`,
        ]),
  ]
}

function refuseOpenPhase(phase: Phase, openInPhase: readonly OpenTask[]): void {
  const open = openInPhase.filter(({ hasFailed }) => !hasFailed)
  if (open.length === 0) return
  const names = open.slice(0, maxNamed).map(({ id, name }) => `${id} "${name}"`)
  const more = open.length > maxNamed ? ' and more' : ''
  throw new Failure(
    'REFUSED',
    `Cannot complete phase ${phase.number ?? phase.id} "${phase.name}": it has open tasks: ${names.join(', ')}${more}.`,
    {
      reason: 'tasks_open',
      hint: 'Complete this task without phase_complete; the last task of the phase completes it.',
    },
  )
}

/** A workflow ends by itself with its last task, if nothing else is open. */
function workflowEnd(request: CompletionRequest, situation: CompletionSituation): readonly NewProjectEvent[] {
  const { mission, isOtherOpen, stepsToDo } = situation
  if (mission?.kind !== 'workflow' || mission.status !== 'in_progress' || situation.isGated) return []
  if (request.status === 'failed' || isOtherOpen || stepsToDo > 0) return []
  return [
    {
      kind: 'mission.ended',
      missionId: mission.id,
      status: 'completed',
      summary: null,
      achievements: [],
      limitations: [],
    },
  ]
}

export type AmendmentSituation = Pick<
  CompletionSituation,
  'task' | 'attempt' | 'verdictItems' | 'waiting' | 'isLastAtWork'
> & {
  /** The outcome that is replaced. */
  readonly before: Outcome
  /** Whether a person is already asked for a review. */
  readonly isReviewOpen: boolean
}

/** The inbox items of a completion whose words its agent changed, after they were judged again. */
export function amendCompletion(
  { actor, status, outcome, verdict }: Pick<CompletionRequest, 'actor' | 'status' | 'outcome' | 'verdict'>,
  { before, isReviewOpen, verdictItems, ...situation }: AmendmentSituation,
  setting: TransactionContext,
): { readonly events: readonly NewProjectEvent[]; readonly opened: readonly InboxItem[] } {
  refuseContradicted(verdict, situation)
  const attempt = { ...situation.attempt, completedBy: actor }
  const asksOfShared = status === 'success' && situation.isLastAtWork === true && verdictItems.length > 0
  const mode = situation.waiting.completion
  const opened = [
    ...(before.manualReviewNeeded || isReviewOpen
      ? []
      : reviewItem(outcome, { attempt, status, sentBack: null, verdict }, setting)),
    ...verdictItem(verdict, { attempt, mode, asksOfShared }, setting),
  ]
  return {
    events: [
      ...closeItems(verdictItems, 'The outcome was changed.'),
      ...opened.map((item): NewProjectEvent => ({ kind: 'inbox.opened', item })),
    ],
    opened,
  }
}

/** The events of a verdict that changed: by a later result of a check, files that left the task, or a person. */
export function changeVerdict(
  verdict: Verdict,
  {
    attempt,
    before,
    isDone,
    verdictItems,
    completion,
    released,
    cause = 'A check ran on the same content.',
  }: {
    readonly attempt: Attempt
    readonly before: Verdict
    /** Of work that was sent back or undone, nobody decides. */
    readonly isDone: boolean
    readonly verdictItems: readonly InboxItem[]
    readonly completion: CompletionMode
    readonly released?: readonly string[]
    /** Why it changed, where no files left the task. */
    readonly cause?: string
  },
  setting: TransactionContext,
): readonly NewProjectEvent[] {
  const { id: attemptId, taskId, missionId } = attempt
  const changed: NewProjectEvent = {
    kind: 'verdict.changed',
    attemptId,
    taskId,
    missionId,
    verdict,
    ...(released && { released }),
  }
  // The item stays as it is: open, or answered by a person.
  if (asksTheSame(before, verdict)) return [changed]
  const isAnswered = verdictItems.every(({ status }) => status !== 'open')
  if (isAnswered && asksNothingNew(before, verdict)) return [changed]
  const asking = { attempt, mode: completion, asksOfShared: !isAnswered }
  const opened = isDone ? verdictItem(verdict, asking, setting) : []
  return [
    changed,
    ...closeItems(
      verdictItems,
      released
        ? `It is known by now whose these files are: ${released.slice(0, maxNamed).join(', ')}.`
        : cause,
    ),
    ...opened.map((item): NewProjectEvent => ({ kind: 'inbox.opened', item })),
  ]
}

/** Adds a correction to a completed attempt. The same text again adds nothing. */
export function correctAttempt(
  {
    task,
    attempt,
    before,
  }: {
    readonly task: Task
    readonly attempt: Attempt | null
    readonly before: readonly Correction[]
  },
  { text, actor }: { readonly text: string; readonly actor: Actor },
  setting: TransactionContext,
): {
  readonly attempt: Attempt
  readonly agentName: string
  readonly events: readonly NewProjectEvent[]
  readonly at: number
} {
  const ended = assertCompleted(task, attempt)
  const agentName = speakerOf(ended, actor)
  const existing = before.find((correction) => correction.text === text)
  if (existing) return { attempt: ended, agentName, events: [], at: existing.createdAt }
  const event: NewProjectEvent = {
    kind: 'attempt.corrected',
    attemptId: ended.id,
    taskId: task.id,
    missionId: ended.missionId,
    text,
    agentName,
  }
  return { attempt: ended, agentName, events: [event], at: setting.at }
}

function assertCompleted(task: Task, attempt: Attempt | null): Attempt {
  if (attempt === null) {
    throw new Failure(
      'CONFLICT',
      `Task ${task.id} "${task.name}" was never started: there is nothing to correct.`,
      {
        reason: 'task_not_started',
        hint: hintOf`Add a note with ${callTo('taskman_task_note_add', { id: task.id })}, or start with ${callTo('start_task', { planned_task_id: task.id })}.`,
      },
    )
  }
  if (attempt.taskId !== task.id) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} is an attempt at task ${attempt.taskId}, not at ${task.id}.`,
      { reason: 'attempt_of_other_task', hint: 'Omit attempt_id to correct the last attempt.' },
    )
  }
  if (attempt.status === 'open') {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} at task ${task.id} is open: there is nothing to correct yet.`,
      {
        reason: 'attempt_open',
        hint: hintOf`Put it into the outcome of ${callTo('complete_task')}, or name a closed attempt with attempt_id.`,
      },
    )
  }
  if (attempt.status === 'abandoned') {
    throw new Failure(
      'CONFLICT',
      `Attempt ${attempt.id} at task ${task.id} was abandoned: it has no report to correct.`,
      {
        reason: 'attempt_abandoned',
        hint: hintOf`Start again with ${callTo('start_task', { planned_task_id: task.id })}, or add a note with ${callTo('taskman_task_note_add')}.`,
      },
    )
  }
  return attempt
}

import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { type ContentDifference, differenceWords } from '../../gate/domain/approved-content.ts'
import { awaitedDecision, decisionItem, endDecisions, eventFor } from '../../gate/domain/decisions.ts'
import { missingApprovals } from '../../gate/domain/missing-approvals.ts'
import {
  type ApprovalInput,
  giveApprovals,
  priorApprovalsNote,
  withdrawApprovals,
  withdrawForTasks,
} from '../../gate/operations/run/approvals.ts'
import {
  askPerson,
  type CommandOwner,
  openQuestion,
  questionsAbout,
  runOwner,
} from '../../gate/operations/run/commands.ts'
import {
  type PreparedEvent,
  prepareEvent,
  type SendEventRequest,
} from '../../gate/operations/run/decide-event.ts'
import { engineRun, observeRun, requestAuthor } from '../../gate/operations/run/evidence.ts'
import {
  assertFilesAreHere,
  type ExternalState,
  prepareCommands,
  prepareState,
} from '../../gate/operations/run/external-state.ts'
import { loadRun } from '../../gate/operations/run/find-run.ts'
import { commandEvents, MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { instant } from '../../kernel/instant.ts'
import { measuredList, pinned, pinnedFile, sha, words } from '../../kernel/operations/fields.ts'
import { identifier, text } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import {
  type MeasurementValues,
  measurement,
  type PreparationStep,
  type PreparedOperation,
  requireMeasured,
  type WritableWorkTree,
} from '../../kernel/operations/measurement-protocol.ts'
import {
  type CommandContext,
  defineOperation,
  type RecordContext,
  type TransactionInput,
} from '../../kernel/operations/operation.ts'
import type { ChangeSet, Reads, RefusedChangeSet } from '../../store/ports/store.ts'
import { isCompleted } from '../../track/domain/task.ts'
import { revokeCommand } from '../../track/domain/verdict.ts'
import { judgeDismissedLoss, judgeRejectedCheck } from '../../track/operations/change-verdict.ts'
import { reopenMissions } from '../../track/operations/reopen-missions.ts'
import { askAfterAbandoned } from '../../track/operations/task-checks.ts'
import { answerDenial, decideCommand, endItem, endingOf, type InboxVerb } from '../domain/answers.ts'
import {
  type InboxItem,
  type InboxItemAnswer,
  type InboxItemKind,
  type InboxItemRequest,
  isToReview,
  itemAnswers,
  itemKinds,
} from '../domain/inbox-item.ts'
import {
  type ApprovalContent,
  prepareSeen,
  prepareShownItem,
  prepareShownRun,
  shownMeasurements,
} from './approval-content.ts'
import { decisionMeasurements, RunDecided, recordDecision, requestFor } from './decide.ts'
import { recordDue } from './record-due.ts'
import { redoneReviews } from './redone-reviews.ts'
import { otherMachineOf, remoteCommandRefusal } from './remote-command.ts'
import {
  contentField,
  decidedField,
  deciderRoleField,
  findDecisionSubject,
  findInboxItem,
  reasonField,
  requireAnswerText,
} from './subject.ts'

/** An item that a person closed. */
const ItemEnded = z.object({
  item_id: z.string(),
  kind: z.enum(itemKinds),
  status: z.enum(['resolved', 'dismissed']),
  action: z.enum(itemAnswers),
  answer: z.string().nullable(),
  closed_by: z.string(),
  closed_at: z.string(),
  decided: z.literal(true),
  /** The finished task whose check waited for the command: `verify` runs it. */
  verify_task: z.string().optional(),
  notes: strings.optional(),
})

/** The run stays in its state; a new item asks again and quotes the reason. */
const ApprovalWithheld = z.object({
  run_id: z.string(),
  decided: z.literal(true),
  event: z.null(),
  current_state: z.string(),
  reason: z.string(),
  item_id: z.string().nullable(),
})

const Answered = z.union([ApprovalWithheld, RunDecided, ItemEnded])
type Answered = z.output<typeof Answered>

/** Stores a person's answer about a command on the machine that has the files. */
const keptAnswer = measurement({
  brief: pinned.extend({
    hash: sha,
    files: measuredList(pinnedFile, 20_000),
    author: words,
    /** The reason of a refusal; null for an approval. */
    refused: words.nullable(),
  }),
  measured: z.null(),
  writes: true,
  measure: async (workTree, { files, author, refused, ...command }) => {
    const { commandApprovals, now } = workTree as WritableWorkTree // it writes
    const answer = { ...command, author, createdAt: now() }
    if (refused !== null) await commandApprovals.refuse({ ...answer, files, reason: refused })
    else await commandApprovals.approve({ ...answer, files: await commandApprovals.filesOf(command) })
    return null
  },
})

const answerMeasurements = { ...decisionMeasurements, kept: keptAnswer }
type AnswerMeasurements = typeof answerMeasurements
export type AnswerQuestions = Pick<MeasurementQuestions<typeof decisionMeasurements>, 'ask'>

/** A person's answer to an item or a run. */
export interface AnswerRequest {
  readonly verb: InboxVerb
  readonly id: string
  readonly words: string | null
  readonly role?: string | undefined
  readonly content: string | undefined
  /** For a run: the event to send. */
  readonly event?: string | undefined
}

/** An answer with everything that is needed to record it. */
export type PreparedAnswer =
  | { readonly kind: 'event'; readonly sending: SendEventRequest; readonly prepared: PreparedEvent }
  | {
      readonly kind: 'approvals'
      readonly loaded: LoadedRun
      readonly external: ExternalState
      readonly approvals: readonly ApprovalInput[]
    }
  | { readonly kind: 'withheld'; readonly loaded: LoadedRun; readonly words: string }
  | { readonly kind: 'item'; readonly item: InboxItem }

interface AnswerContext {
  readonly answer: AnswerRequest
  readonly context: RecordContext
  readonly measured: MeasurementValues<AnswerMeasurements>
  readonly taken: ReadonlySet<string>
}

/** `found` is null until everything was measured. */
type AnswerPreparation = Omit<PreparedOperation<AnswerMeasurements, PreparedAnswer | null>, 'briefs'> & {
  readonly kept?: PreparedOperation<AnswerMeasurements, null>['briefs']['kept']
}

const due = 'due'

async function prepareAnswer(
  reads: Reads,
  { answer, context, measured, taken }: AnswerContext,
): Promise<PreparedOperation<AnswerMeasurements, PreparedAnswer | null>> {
  // Queries show items that are due but not recorded; record them first, so that their ids exist.
  if (context.isContinued !== true && !taken.has(due)) {
    const first = { name: due, take: async (handling: CommandContext) => void (await recordDue(handling)) }
    return { briefs: {}, found: null, first }
  }
  const questions = new MeasurementQuestions<typeof decisionMeasurements>(measured)
  const { kept, ...rest } = await prepareSubject(reads, questions, { answer, context })
  return { ...rest, briefs: { ...questions.briefs, ...(kept && { kept }) } }
}

async function prepareSubject(
  reads: Reads,
  questions: AnswerQuestions,
  { answer, context }: { readonly answer: AnswerRequest; readonly context: RecordContext },
): Promise<AnswerPreparation> {
  const { verb, id, content } = answer
  const isDecision = verb === 'approve' || verb === 'reject'
  const subject = isDecision
    ? await findDecisionSubject(reads, id)
    : { kind: 'item' as const, item: await findInboxItem(reads, id) }
  if (subject.kind === 'run') {
    if (verb === 'reject')
      requireAnswerText(answer.words ?? undefined, {
        what: `To reject ${id}`,
        command: `waymark reject ${id} "<reason>"`,
      })
    const seen = await prepareSeen(questions, { id, seen: content }, () =>
      prepareShownRun(reads, questions, { context, loaded: subject.loaded }),
    )
    if (seen === undefined) return { found: null }
    return prepareRunAnswer(reads, questions, { answer, context, loaded: subject.loaded, seen })
  }
  const { item } = subject
  if (!isDecision) await assertMayAnswer(reads, context, { item, verb })
  endingOf(item, verb, answer.words)
  const seen = await prepareSeen(questions, { id, seen: content }, () =>
    prepareShownItem(reads, questions, { context, item }),
  )
  if (seen === undefined) return { found: null }
  const { request } = item
  if (request?.kind === 'changes' && verb === 'approve' && request.machine === context.machine?.id) {
    if ((await prepareChangesAsked(reads, questions, { context, item })) === null) return { found: null }
  }
  if (request?.kind !== 'command') return { found: { kind: 'item', item } }
  return prepareCommandAnswer(reads, questions, { answer, context, item, request })
}

/** Contributors answer what their own agents ask; the rest is for maintainers. */
async function assertMayAnswer(
  { inboxItems }: Reads,
  { permissions }: RecordContext,
  { item, verb }: { readonly item: InboxItem; readonly verb: InboxVerb },
): Promise<void> {
  const opener = verb === 'answer' && item.kind === 'blocker' ? await inboxItems.opener(item.id) : null
  const denial = answerDenial(opener, permissions)
  if (denial === null) return
  throw new Failure('FORBIDDEN', `You cannot answer inbox item ${item.id}. ${denial}`, {
    reason: 'access_too_low',
    hint: 'Ask a maintainer of the project: waymark member list',
  })
}

/** Fails if the changes differ from those in the item. Null until measured. */
async function prepareChangesAsked(
  reads: Reads,
  questions: AnswerQuestions,
  { context, item }: { readonly context: RecordContext; readonly item: InboxItem },
): Promise<ExternalState | null> {
  const { request, runId, id } = item
  if (request?.kind !== 'changes') return null
  const { event, guards } = request
  const loaded = await loadRun(reads, runId ?? undefined)
  const state = await prepareState(reads, questions, { context, loaded, event })
  const isSame = guards.every(({ guard, content }) =>
    state?.acceptable.some((one) => one.guard === guard && one.content === content),
  )
  if (state === null || isSame) return state
  throw new Failure('CONFLICT', `Inbox item ${id} is outdated: its changes are different now.`, {
    reason: 'content_changed',
    hint: `Send the event again to open a new item: ${decideCommand(loaded.record.id, event)}`,
  })
}

interface RunAnswer {
  readonly answer: AnswerRequest
  readonly context: RecordContext
  readonly loaded: LoadedRun
  /** The reviewed content, which is the current one; null if none was given. */
  readonly seen: ApprovalContent | null
}

/** Prepares an approval or rejection of a run. */
export function prepareRunAnswer(
  reads: Reads,
  questions: AnswerQuestions,
  about: RunAnswer,
): Promise<AnswerPreparation> {
  const prepare = about.answer.verb === 'approve' ? prepareApproval : prepareRejection
  return prepare(reads, questions, about)
}

async function prepareApproval(
  reads: Reads,
  questions: AnswerQuestions,
  { answer, context, loaded, seen }: RunAnswer,
): Promise<AnswerPreparation> {
  const { record, definition } = loaded
  const { words: reason, role } = answer
  const awaited = awaitedDecision(definition, record.state)
  const acting = context.actor.role ?? role
  const approvals = (awaited?.approvals ?? [])
    .filter((one) => acting === undefined || one.role === acting)
    .map((one) => ({ ...one, reason, ...(seen && { reviewed: seen.approvals.get(one.artifact) ?? null }) }))
  const event = answer.event ?? eventFor('approve', awaited?.events ?? [])
  const command = `waymark approve ${record.id}`
  await assertFilesAreHere(reads, context, { loaded, event: event ?? undefined, approvals, command })
  if (event !== null)
    return prepareRunEvent(reads, questions, { answer, context, loaded, seen, event, approvals })
  if (approvals.length === 0) throw noApprovalFailure(loaded, awaited?.events ?? [])
  const external = await prepareState(reads, questions, { context, loaded, approvals })
  return { found: external && { kind: 'approvals', loaded, external, approvals } }
}

async function prepareRejection(
  reads: Reads,
  questions: AnswerQuestions,
  about: RunAnswer,
): Promise<AnswerPreparation> {
  const { answer, loaded } = about
  const { record, definition } = loaded
  const awaited = awaitedDecision(definition, record.state)
  const events = awaited?.events ?? []
  const event = answer.event ?? eventFor('reject', events)
  if (event !== null) return prepareRunEvent(reads, questions, { ...about, event, approvals: [] })
  if ((awaited?.approvals ?? []).length > 0) {
    return { found: { kind: 'withheld', loaded, words: answer.words ?? '' } }
  }
  throw new Failure(
    'REFUSED',
    `Cannot reject run ${record.id}: its state "${record.state}" has no transition for a rejection${events.length === 0 ? '' : `; people can send ${events.join(', ')}`}.`,
    {
      reason: 'no_rejecting_event',
      hint: `Send an event with waymark decide ${record.id} <event> "<reason>", or end the run with waymark run cancel ${record.id} "<reason>".`,
    },
  )
}

async function prepareRunEvent(
  reads: Reads,
  questions: AnswerQuestions,
  {
    answer: { words: reason, role },
    context,
    loaded,
    seen,
    event,
    approvals,
  }: RunAnswer & { readonly event: string; readonly approvals: readonly ApprovalInput[] },
): Promise<AnswerPreparation> {
  const sending = requestFor(loaded, { event, reason, payload: null, role, approvals, seen: seen !== null })
  const { found, first } = await prepareEvent(reads, questions, { context, sending })
  return { first, found: found && { kind: 'event', sending, prepared: found } }
}

function noApprovalFailure({ record }: LoadedRun, events: readonly string[]): Failure {
  const message = `Cannot approve run ${record.id}: its state "${record.state}" does not wait for an approval${events.length === 0 ? '' : `, but for ${events.join(' or ')}`}.`
  const hint =
    events.length === 0
      ? `waymark run events ${record.id} shows its events.`
      : `Send one of them: ${decideCommand(record.id, events[0] ?? '')}.`
  return new Failure('REFUSED', message, { reason: 'no_approving_event', hint })
}

interface CommandAnswer {
  readonly answer: AnswerRequest
  readonly context: RecordContext
  readonly item: InboxItem
  readonly request: Extract<InboxItemRequest, { kind: 'command' }>
}

/**
 * An answer counts only for the unchanged command; a changed one gets a new question. For files on another machine the
 * record keeps the answer, and that machine checks the hash before it runs the command.
 */
async function prepareCommandAnswer(
  reads: Reads,
  questions: AnswerQuestions,
  { answer, context, item, request }: CommandAnswer,
): Promise<AnswerPreparation> {
  const found = { kind: 'item' as const, item }
  const { run, folder, pinned: files, hash, files: hashedFiles = [] } = request
  if (request.machine !== context.machine?.id) {
    const refusal = answer.verb === 'approve' ? await remoteCommandRefusal(reads, item, context) : null
    if (refusal) throw refusal
    return { found }
  }
  const command = { run, folder, pinned: [...files] }
  const kept = { ...command, hash, files: [...hashedFiles], author: context.actor.name }
  if (answer.verb === 'reject') return { found, kept: { ...kept, refused: answer.words ?? '' } }
  const [now] =
    (await prepareCommands(reads, questions, {
      context: { ...context, folder },
      guards: [{ type: 'command', run, pinned: files, timeout: 0 }],
      tree: null,
      runs: true,
    })) ?? []
  if (now === undefined) return { found: null }
  if (now.hash === hash) {
    const parts = { artifacts: [], changed: [], known: [], command, events: commandEvents(command) }
    const isStored = questions.ask('shown', { ...parts, content: hash, seen: null }) !== undefined
    return isStored ? { found, kept: { ...kept, refused: null } } : { found: null }
  }
  const parts = { artifacts: [], changed: [], known: [], command, events: commandEvents(command) }
  const compared = questions.ask('shown', { ...parts, content: now.hash, seen: hash })
  if (compared === undefined) return { found: null }
  const record = item.runId === null ? null : await reads.runs.find(item.runId)
  const first: PreparationStep = {
    name: 'ask again',
    take: async (handling) => {
      await askPerson(handling, record ? runOwner(record) : itemOwner(item), questionsAbout([now], folder))
      const newer = await handling.store.view((all) => openQuestion(all, now.hash, context.machine))
      throw commandChangedFailure(item, { run, content: now.hash, newer, difference: compared.difference })
    },
  }
  return { found: null, first }
}

/** The owner of a command that a task needs. */
function itemOwner({ missionId, taskId }: InboxItem): CommandOwner {
  return { runId: null, missionId, taskId, name: taskId === null ? 'The project' : 'The task' }
}

function commandChangedFailure(
  { id }: InboxItem,
  {
    run,
    content,
    newer,
    difference,
  }: {
    readonly run: string
    readonly content: string
    readonly newer: InboxItem | null
    readonly difference: ContentDifference | null
  },
): Failure {
  const what = difference === null ? 'its pinned files changed' : differenceWords(difference)
  return new Failure('CONFLICT', `Inbox item ${id} is about an earlier version of "${run}": ${what}.`, {
    reason: 'run_changed',
    hint: newer
      ? `Answer ${newer.id}, which is about the current version: waymark inbox`
      : 'waymark inbox lists the open items.',
    details: { item_id: newer?.id ?? null, content, difference },
  })
}

type Deciding = Pick<
  TransactionInput<AnswerMeasurements, PreparedAnswer | null>,
  'reads' | 'context' | 'setting' | 'found'
>

export function recordAnswer(
  deciding: Deciding,
  answer: AnswerRequest,
): Promise<ChangeSet<Answered> | RefusedChangeSet> {
  const prepared = requireMeasured(deciding.found ?? undefined)
  switch (prepared.kind) {
    case 'event':
      return recordDecision(deciding, prepared.sending, prepared.prepared)
    case 'approvals':
      return recordApprovals(deciding, prepared)
    case 'withheld':
      return withholdApproval(deciding, prepared.loaded, prepared.words)
    case 'item':
      return recordItemAnswer(deciding, answer, prepared.item)
  }
}

function answeredWithText(items: readonly InboxItem[]): string {
  return `Answered with it: ${items.map(({ kind, id }) => `${kind} ${id}`).join(', ')}.`
}

/** An approval of a run's changes also answers the reviews of tasks that were done again in them. */
async function withRedoneReviews(
  { reads, found }: Deciding,
  { words: answerText }: AnswerRequest,
  change: ChangeSet<Answered> | RefusedChangeSet,
): Promise<ChangeSet<Answered> | RefusedChangeSet> {
  if ('refused' in change || !found || !('run_id' in change.answer)) return change
  const approved =
    found.kind === 'approvals'
      ? found
      : found.kind === 'event' && found.prepared.kind === 'sent'
        ? { ...found.prepared, approvals: found.sending.approvals ?? [] }
        : null
  const items = approved === null ? [] : await redoneReviews(reads, approved)
  if (items.length === 0) return change
  const closed = items.flatMap((item) => {
    const ending = endingOf(item, 'approve', answerText)
    return endItem(item, { ...ending, answer: answerText ?? ending.action }, { attempt: null, task: null })
  })
  const before = 'note' in change.answer ? change.answer.note : undefined
  const note = [before, answeredWithText(items)].filter(Boolean).join(' ')
  return { ...change, events: [...change.events, ...closed], answer: { ...change.answer, note } }
}

/** Closes an item with a person's answer. */
async function recordItemAnswer(
  { reads, context, setting }: Deciding,
  { verb, words: answerText }: AnswerRequest,
  item: InboxItem,
): Promise<ChangeSet<Answered>> {
  const ending = endingOf(item, verb, answerText)
  // Accepted changes are found by an answer.
  const answer = answerText ?? (verb === 'approve' ? ending.action : null)
  const attempt = item.attemptId === null ? null : await reads.tasks.attempt(item.attemptId)
  const task = item.taskId === null ? null : await reads.tasks.find(item.taskId)
  const { id, kind, runId } = item
  const beside = await itemsAnsweredWith(reads, item, ending.action)
  const isCheck = kind === 'command' && runId === null && ending.action === 'approved'
  const checked = isCheck && task?.status === 'done' ? task.id : null
  const elsewhere = isCheck ? await otherMachineOf(reads, item, context) : ''
  const given = { action: ending.action, answer, author: context.actor.name }
  const returned = ending.action === 'sent back' && task !== null ? [task] : []
  const missions = await reopenMissions(reads, returned, context.actor.name, setting)
  const judged: NewProjectEvent[] = []
  for (const one of [item, ...beside])
    judged.push(...(await judgedAfter(reads, { item: one, ...given }, setting)))
  const notes = [
    ...judged.flatMap((event) =>
      kind === 'loss' && event.kind === 'verdict.changed'
        ? [`Task ${event.taskId} is ${event.verdict.is} now.`]
        : [],
    ),
    ...(beside.length === 0 ? [] : [answeredWithText(beside)]),
    ...(ending.action === 'sent back' && task !== null && isCompleted(task)
      ? [`Task ${task.id} is to do again.`]
      : []),
    ...(ending.action === 'sent back' && task !== null && task.status === 'in_progress'
      ? [`Task ${task.id} is in progress: its agent reads the text at its next call.`]
      : []),
    ...missions.notes,
    ...(kind === 'command' && ending.action === 'rejected' && item.request?.kind === 'command'
      ? [`To take the rejection back: ${revokeCommand(item.request.hash)}`]
      : []),
    ...(checked === null
      ? []
      : [
          `To check the finished task ${checked}${elsewhere && `, on ${elsewhere}`}: waymark verify ${checked}`,
        ]),
  ]
  const withdrawn =
    returned.length === 0
      ? []
      : await withdrawForTasks(reads, returned, { actor: context.actor, setting, decided: new Set() })
  const ended = endItem(item, { ...ending, answer }, { attempt, task })
  return {
    events: [
      ...ended,
      ...(await askAfterAbandoned(reads, ended, setting)),
      ...beside.flatMap((one) =>
        endItem(one, { ...endingOf(one, verb, answerText), answer }, { attempt: null, task: null }),
      ),
      ...judged,
      ...missions.events,
      ...withdrawn,
    ],
    answer: {
      item_id: id,
      kind,
      ...ending,
      answer,
      closed_by: context.actor.name,
      closed_at: instant(setting.at),
      decided: true,
      ...(checked !== null && elsewhere === '' && { verify_task: checked }),
      ...(notes.length > 0 && { notes }),
    },
  }
}

/** The verdicts that an answer changes: files that were meant to go, and a check that will not run. */
async function judgedAfter(
  reads: Reads,
  {
    item: { id, kind, taskId, request },
    action,
    answer,
    author,
  }: {
    readonly item: InboxItem
    readonly action: InboxItemAnswer
    readonly answer: string | null
    readonly author: string
  },
  setting: Deciding['setting'],
): Promise<readonly NewProjectEvent[]> {
  if (kind === 'loss' && action === 'dismissed') return judgeDismissedLoss(reads, id, setting)
  if (action !== 'rejected' || taskId === null || request?.kind !== 'command') return []
  const { run, hash } = request
  return judgeRejectedCheck(reads, taskId, { run, hash, author, reason: answer ?? '' }, setting)
}

/** The other open items that the answer decides: approved and sent back are decisions about the attempt. */
async function itemsAnsweredWith(
  { inboxItems }: Reads,
  { id, kind, attemptId, request, openedAt }: InboxItem,
  action: InboxItemAnswer,
): Promise<readonly InboxItem[]> {
  // A rejection counts on all machines, an approval only on the one that asked: another may show something else.
  if (request?.kind === 'command')
    return action === 'rejected'
      ? (await inboxItems.openCommands(request.hash)).filter((one) => one.id !== id)
      : []
  if (attemptId === null || !isToReview(kind)) return []
  // Accepting files does not accept the work, nor the other way round.
  const kinds: readonly InboxItemKind[] =
    action === 'sent back'
      ? ['review', 'verdict', 'scope']
      : action === 'approved' && kind !== 'scope'
        ? ['review', 'verdict']
        : []
  // A later one is about claims that the person may not have seen.
  const isDecided = (one: InboxItem) => action === 'sent back' || one.openedAt <= openedAt
  return (await inboxItems.ofAttempt(attemptId)).filter(
    (one) => one.id !== id && one.status === 'open' && kinds.includes(one.kind) && isDecided(one),
  )
}

/** Records approvals that an agent's event needs; the run moves when the agent emits that event. */
async function recordApprovals(
  { reads, context, setting }: Deciding,
  { loaded, external, approvals }: Extract<PreparedAnswer, { kind: 'approvals' }>,
): Promise<ChangeSet<Answered>> {
  const { clock, fingerprint, commandRunner, actor } = context
  const { record } = loaded
  const run = engineRun(loaded, external.fileFreshness)
  const isAlive = (runner: string) => commandRunner.isAlive(runner)
  const sources = { reads, external, fingerprint, now: clock.now(), actor, isAlive }
  const observed = await observeRun(sources, loaded)
  const requester = await requestAuthor(reads, loaded)
  const priorApprovals = await reads.runs.approvals(record.id)
  const giving = { reads, loaded, run, external, handling: context, requester, priorApprovals }
  const given = await giveApprovals(giving, approvals, setting)
  const missing = missingApprovals(loaded.definition, run, {
    ...observed,
    approvals: [...observed.approvals, ...given.observed],
  })
  const items = await reads.inboxItems.ofRun(record.id)
  const done = missing.length === 0 ? endDecisions(items, `approved by ${actor.name}`) : []
  return {
    events: [...given.recorded, ...done],
    answer: {
      run_id: record.id,
      decided: missing.length === 0,
      approvals: approvals.map(({ role, artifact }) => ({ role, artifact })),
      still_missing: [...missing],
      ...priorApprovalsNote(given.already),
    },
  }
}

/** Rejects an approval where no event means a rejection: the run stays, and a new item asks again. */
async function withholdApproval(
  { reads, context, setting }: Deciding,
  { record, definition }: LoadedRun,
  answer: string,
): Promise<ChangeSet<Answered>> {
  const open = (await reads.inboxItems.ofRun(record.id)).filter(
    ({ kind, status }) => kind === 'approval' && status === 'open',
  )
  const newItem = decisionItem(definition, record, setting)
  // A rejection closes the open items; without one, it opens and closes one, so that the log shows both.
  const refused = open.length > 0 ? open : newItem ? [newItem] : []
  const nextItem = decisionItem(definition, record, setting)
  const reason = `${nextItem?.reason} ${context.actor.name} did not approve it: ${answer}`
  const withdrawn = await withdrawApprovals(reads, record, { actor: context.actor, setting })
  const projectEvents: readonly NewProjectEvent[] = [
    ...withdrawn,
    ...(open.length === 0 && newItem ? [{ kind: 'inbox.opened' as const, item: newItem }] : []),
    ...refused.flatMap((item) =>
      endItem(item, { ...endingOf(item, 'reject', answer), answer }, { attempt: null, task: null }),
    ),
    ...(nextItem ? [{ kind: 'inbox.opened' as const, item: { ...nextItem, reason } }] : []),
  ]
  return {
    events: projectEvents,
    answer: {
      run_id: record.id,
      decided: true,
      event: null,
      current_state: record.state,
      reason: answer,
      item_id: nextItem?.id ?? null,
    },
  }
}

const decisionFields = z.strictObject({
  id: decidedField,
  reason: reasonField,
  role: deciderRoleField,
  content: contentField,
  event: identifier('For a run: the event to send, if its process has no usual one').optional(),
})

function decisionIn(
  verb: 'approve' | 'reject',
  { id, reason, role, content, event }: z.output<typeof decisionFields>,
): AnswerRequest {
  return { verb, id, words: reason ?? null, role, content, event }
}

export const approve = defineOperation({
  name: 'approve',
  command: 'approve',
  toolset: 'gate',
  audience: 'person',
  title: 'Approve an inbox item',
  description:
    'Approve a run, a command, a review or files out of scope; abandon a stale attempt. A command of a connected machine is approved there, in a terminal.',
  kind: 'command',
  positional: ['id', 'reason'],
  input: decisionFields,
  output: Answered,
})
  .measure(answerMeasurements)
  .prepare((reads, input, context, measured, taken) =>
    prepareAnswer(reads, { answer: decisionIn('approve', input), context, measured, taken }),
  )
  .record(async (deciding, input) => {
    const answer = decisionIn('approve', input)
    return withRedoneReviews(deciding, answer, await recordAnswer(deciding, answer))
  })

export const reject = defineOperation({
  name: 'reject',
  command: 'reject',
  toolset: 'gate',
  audience: 'person',
  title: 'Reject an inbox item',
  description:
    'Reject an item, with a reason. A reviewed task, or one with files out of scope, is to do again. A run takes its transition for a rejection. A command stays forbidden. A stale attempt goes on.',
  kind: 'command',
  positional: ['id', 'reason'],
  input: decisionFields,
  output: Answered,
})
  .measure(answerMeasurements)
  .prepare((reads, input, context, measured, taken) =>
    prepareAnswer(reads, { answer: decisionIn('reject', input), context, measured, taken }),
  )
  .record((deciding, input) => recordAnswer(deciding, decisionIn('reject', input)))

const wordsFields = z.strictObject({
  id: identifier('The inbox item, or its issue (h-… or i-…)'),
  answer: text("Answer to the waiting agent (e.g., 'Use cookies.')").optional(),
  content: contentField,
  dismiss: z.boolean().describe('Close it without acting on it').optional(),
})

function wordsIn({ id, answer, content, dismiss }: z.output<typeof wordsFields>): AnswerRequest {
  return { verb: dismiss ? 'dismiss' : 'answer', id, words: answer ?? null, content }
}

export const resolve = defineOperation({
  name: 'resolve',
  command: 'resolve',
  toolset: 'track',
  audience: 'person',
  // Contributors answer their own agents.
  access: 'contributor',
  title: 'Answer or dismiss an inbox item',
  description:
    'Answer a blocker or a review in words. Or dismiss an item to close it without acting on it. A dismissed loss no longer counts against a verdict.',
  kind: 'command',
  positional: ['id', 'answer'],
  input: wordsFields,
  output: Answered,
})
  .measure(shownMeasurements)
  .prepare((reads, input, context, measured, taken) =>
    prepareAnswer(reads, { answer: wordsIn(input), context, measured, taken }),
  )
  .record((deciding, input) => recordAnswer(deciding, wordsIn(input)))

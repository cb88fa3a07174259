import { z } from 'zod'
import { decisionChoices } from '../../gate/domain/decisions.ts'
import { eventNamed } from '../../gate/domain/definition.ts'
import type { RunRecord } from '../../gate/domain/run.ts'
import { awaitedApprovalRefusal } from '../../gate/operations/run/approvals.ts'
import { isAlone, waysOut } from '../../gate/operations/run/own-work.ts'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import type { Failure } from '../../kernel/failure.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { choice, identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { excerpt } from '../../kernel/text.ts'
import { hasGateRole } from '../../people/domain/access.ts'
import { type NameBehind, peopleBehind } from '../../people/operations/agent-owners.ts'
import type { Reads } from '../../store/ports/store.ts'
import { decideCommand } from '../domain/answers.ts'
import { type InboxItem, itemKinds } from '../domain/inbox-item.ts'
import type { InboxItemLine } from '../ports/item-reads.ts'
import { prepareShownItems, type ShownMeasurements, shownMeasurements } from './approval-content.ts'
import { dueItems } from './due-items.ts'
import { InboxEvidence, inboxEvidence } from './evidence.ts'
import { content, InboxItemEntry, permittedItemEntry } from './item-answer.ts'
import { remoteCommandRefusal } from './remote-command.ts'

export const inbox = defineOperation({
  name: 'inbox',
  command: 'inbox',
  toolset: 'track',
  audience: 'both',
  title: 'List what needs you',
  description:
    'List the open inbox items: blockers, approvals and commands first, then reviews, files out of scope, stale attempts.',
  kind: 'query',
  input: z.strictObject({
    kind: choice(itemKinds, 'Only this kind').optional(),
    mission_id: identifier('Only of this mission').optional(),
    closed: z.boolean().describe('Closed items instead, newest first').optional(),
    ...pageFields(200, 'How many; default 20'),
    include: z
      .array(choice(['evidence']))
      .max(1)
      .describe('evidence: measurements and claims')
      .optional(),
  }),
  output: z.object({
    items: list(
      InboxItemEntry.extend({
        task_name: z.string().nullable(),
        mission_name: z.string().nullable(),
        content,
        /** Why the caller cannot approve it, such as their own work; null if nothing is known against it. */
        cannot_approve: z.string().nullable(),
        evidence: InboxEvidence.optional(),
      }),
    ),
    ...page,
  }),
})
  .measure(shownMeasurements)
  .prepare(async (reads, input, context, measured) => {
    const paging = new Paging('inbox', input, context.actor, 20)
    const mission = input.mission_id === undefined ? null : await findMission(reads, input.mission_id)
    const listed = await reads.inboxItems.list(
      {
        status: input.closed ? 'closed' : 'open',
        ...(input.kind && { kinds: [input.kind] }),
        ...(mission && { missionId: mission.id }),
      },
      paging.request(),
    )
    const recorded = listed.items.slice(0, paging.limit)
    const isLast = listed.items.length <= paging.limit
    const asksForDue = !input.closed && (input.kind ?? 'stale_attempt') === 'stale_attempt'
    const due = (asksForDue ? await dueItems(reads, context.clock.now()) : []).filter(
      ({ missionId }) => mission === null || missionId === mission.id,
    )
    // They are the newest, at the end of the last page.
    const dueLines = isLast ? due.map((item) => ({ item, issue: null, opener: null })) : []
    const lines = [...recorded.map(({ item }) => item), ...dueLines]
    const questions = new MeasurementQuestions<ShownMeasurements>(measured)
    const items = lines.map(({ item }) => item)
    const contents = await prepareShownItems(reads, questions, { context, items })
    const found = contents && {
      shown: lines,
      contents,
      total: listed.total + due.length,
      next_cursor: paging.next(listed.items, recorded.length, ({ seq }) => seq),
    }
    return { briefs: questions.briefs, found: found ?? null }
  })
  .answer(async ({ reads, found, context }, input) => {
    const { shown: lines, contents, ...rest } = requireMeasured(found ?? undefined)
    const tasks = await reads.tasks.names(lines.flatMap(({ item }) => item.taskId ?? []))
    const missions = await reads.missions.names(lines.flatMap(({ item }) => item.missionId ?? []))
    const evidence = input.include
      ? await Promise.all(lines.map(({ item }) => inboxEvidence(reads, item)))
      : []
    const personOf = await peopleBehind(
      reads,
      lines.map(({ opener }) => opener),
    )
    const decisions = await Promise.all(lines.map(({ item }) => decisionOf(reads, item)))
    const refusals = await Promise.all(
      lines.map(({ item }, index) =>
        approvalRefusalOf(reads, { item, loaded: decisions[index] ?? null, context }),
      ),
    )
    return {
      items: lines.map((line, index) => ({
        ...withoutApproval(
          withAnswers(line, { personOf, loaded: decisions[index] ?? null, context }),
          refusals[index] ?? null,
          context,
        ),
        task_name: nameOf(line.item.taskId, tasks),
        mission_name: nameOf(line.item.missionId, missions),
        content: contents.get(line.item.id) ?? null,
        ...(evidence[index] && { evidence: withOwnChoices(evidence[index], decisions[index], context) }),
      })),
      ...rest,
    }
  })

type PermittedItem = ReturnType<typeof permittedItemEntry>
type ApprovalRefusal = { readonly failure: Failure; readonly run: RunRecord | null }

/** Why the caller cannot approve what a run waits for, or a command of another machine; null if they may. */
async function approvalRefusalOf(
  reads: Reads,
  {
    item,
    loaded,
    context,
  }: { readonly item: InboxItem; readonly loaded: LoadedRun | null; readonly context: RecordContext },
): Promise<ApprovalRefusal | null> {
  const { request, status } = item
  if (status === 'open' && request?.kind === 'command') {
    const failure = await remoteCommandRefusal(reads, item, context)
    return failure && { failure, run: null }
  }
  const failure = loaded && (await awaitedApprovalRefusal(reads, loaded, context))
  return failure ? { failure, run: loaded.record } : null
}

/** The run that an open item asks a person to decide about. */
async function decisionOf({ runs }: Reads, { request, runId, status }: InboxItem): Promise<LoadedRun | null> {
  return status !== 'open' || request?.kind !== 'decision' || runId === null ? null : runs.load(runId)
}

/** An item with the answers that the caller may give. */
function withAnswers(
  line: InboxItemLine,
  {
    personOf,
    loaded,
    context: { permissions },
  }: { readonly personOf: NameBehind; readonly loaded: LoadedRun | null; readonly context: RecordContext },
): PermittedItem {
  return withChoices(permittedItemEntry(line, personOf, permissions), loaded, permissions)
}

/**
 * Of a decision, the answers that its process has: it may know no approval or no rejection, and other events. On a server,
 * those of the caller's gate roles.
 */
function withChoices(
  entry: PermittedItem,
  loaded: LoadedRun | null,
  permissions: RecordContext['permissions'],
): PermittedItem {
  const { request, answers } = entry
  if (loaded === null || request?.kind !== 'decision') return entry
  const choices = decisionChoices(loaded.definition, request.state, request.events).filter(({ event }) =>
    maySend(event, loaded, permissions),
  )
  const has = (answer: 'yes' | 'no') => choices.some((choice) => choice.answer === answer)
  const isApproved = has('yes') || request.approvals.length > 0
  return {
    ...entry,
    answers: [
      ...answers.filter(({ verb }) => (verb === 'Approve' ? isApproved : verb !== 'Reject' || has('no'))),
      ...choices
        .filter(({ answer }) => answer === 'other')
        .map(({ event, description, asksFor }) => ({
          verb: description === null ? event : excerpt(description, 160),
          command: decideCommand(loaded.record.id, event, asksFor),
        })),
    ],
  }
}

/** The events that a dashboard offers as buttons, without those of others' gate roles. */
function withOwnChoices(
  evidence: z.output<typeof InboxEvidence>,
  loaded: LoadedRun | null | undefined,
  { permissions }: RecordContext,
): z.output<typeof InboxEvidence> {
  if (!loaded) return evidence
  return { ...evidence, choices: evidence.choices.filter(({ event }) => maySend(event, loaded, permissions)) }
}

/** Whether a person may send an event of a run: on a server, in one of their gate roles. */
function maySend(
  event: string,
  { definition }: LoadedRun,
  permissions: RecordContext['permissions'],
): boolean {
  const roles = eventNamed(definition, event)?.allowedRoles ?? []
  return !permissions || roles.some((role) => role === '*' || hasGateRole(permissions, role))
}

/** An item offers no approval that would be refused; one person alone gets the ways out. */
function withoutApproval(
  entry: PermittedItem,
  refusal: ApprovalRefusal | null,
  { permissions }: RecordContext,
): PermittedItem {
  if (refusal === null || entry.cannot_approve !== null) return entry
  const others = entry.answers.filter(({ verb }) => verb !== 'Approve')
  const out = refusal.run !== null && isAlone(permissions) ? waysOut(refusal.run) : []
  return { ...entry, answers: [...others, ...out], cannot_approve: refusal.failure.message }
}

function nameOf(id: string | null, names: ReadonlyMap<string, string>): string | null {
  const name = id === null ? undefined : names.get(id)
  return name === undefined ? null : excerpt(name, 160)
}

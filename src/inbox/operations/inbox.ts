import { z } from 'zod'
import { MeasurementQuestions } from '../../gate/operations/run/run-measurements.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { findMission } from '../../kernel/operations/find.ts'
import { choice, identifier } from '../../kernel/operations/input/fields.ts'
import { list } from '../../kernel/operations/list-answer.ts'
import { requireMeasured } from '../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../kernel/operations/paging.ts'
import { excerpt } from '../../kernel/text.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import { itemKinds } from '../domain/inbox-item.ts'
import { prepareShownItems, type ShownMeasurements, shownMeasurements } from './approval-content.ts'
import { dueItems } from './due-items.ts'
import { InboxEvidence, inboxEvidence } from './evidence.ts'
import { content, InboxItemEntry } from './item-answer.ts'
import { decisionOf, maySend, permittedItem } from './permitted-answers.ts'

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
    const items = lines.map(async (line, index) => ({
      ...(await permittedItem(reads, line, { personOf, loaded: decisions[index] ?? null, context })),
      task_name: nameOf(line.item.taskId, tasks),
      mission_name: nameOf(line.item.missionId, missions),
      content: contents.get(line.item.id) ?? null,
      ...(evidence[index] && { evidence: withOwnChoices(evidence[index], decisions[index], context) }),
    }))
    return {
      items: await Promise.all(items),
      ...rest,
    }
  })

/** The events that a dashboard offers as buttons, without those of others' gate roles. */
function withOwnChoices(
  evidence: z.output<typeof InboxEvidence>,
  loaded: LoadedRun | null | undefined,
  { permissions }: RecordContext,
): z.output<typeof InboxEvidence> {
  if (!loaded) return evidence
  return { ...evidence, choices: evidence.choices.filter(({ event }) => maySend(event, loaded, permissions)) }
}

function nameOf(id: string | null, names: ReadonlyMap<string, string>): string | null {
  const name = id === null ? undefined : names.get(id)
  return name === undefined ? null : excerpt(name, 160)
}

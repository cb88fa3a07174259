import { z } from 'zod'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { awaitedDecision, decisionItem, eventFor } from '../../gate/domain/decisions.ts'
import type { LoadedRun } from '../../gate/ports/run-reads.ts'
import { Failure } from '../../kernel/failure.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import { strings } from '../../kernel/operations/list-answer.ts'
import type { CommandContext } from '../../kernel/operations/operation.ts'
import { defineOperation } from '../../kernel/operations/operation.ts'
import type { InboxItem } from '../../track/domain/records.ts'
import { resolveItem } from '../domain/items.ts'
import { decideRun, RunDecided } from './decide.ts'
import { recordDue } from './due-items.ts'
import { closeItem, HoldClosed } from './resolve.ts'
import { assertContentSeen, shownContentOfItem, shownContentOfRun } from './shown-content.ts'
import {
  contentField,
  decidedField,
  findDecisionSubject,
  reasonField,
  requireAnswerText,
  roleField,
} from './subject.ts'

/** The run is where it was, and asks again in a hold that carries the words. */
const ApprovalWithheld = z.object({
  run_id: z.string(),
  decided: z.literal(true),
  event: z.null(),
  current_state: z.string(),
  reason: z.string(),
  hold_id: z.string().nullable(),
})

/** A no where a run waits for an approval and no event means no: the agent reads the words, and the run stays and asks on. */
function withholdApproval(handling: CommandContext, { record, definition }: LoadedRun, reason: string) {
  return handling.record(async (reads, setting) => {
    const now = await reads.runs.find(record.id)
    if (now?.status !== 'active' || now.revision !== record.revision) {
      throw new Failure('CONFLICT', `Run ${record.id} moved on meanwhile: nothing was decided.`, {
        reason: 'run_changed',
        hint: `waymark get-state ${record.id} shows where it is.`,
      })
    }
    const open = (await reads.holds.ofRun(record.id)).filter(
      ({ kind, status }) => kind === 'approval' && status === 'open',
    )
    const asked = decisionItem(definition, record, setting)
    // A no is about what was asked; where nothing was asked yet, about what is asked now.
    const refused = open.length > 0 ? open : asked ? [asked] : []
    const again = decisionItem(definition, record, setting)
    const facts: readonly NewProjectEvent[] = [
      ...(open.length === 0 && asked ? [{ kind: 'hold.opened' as const, hold: asked }] : []),
      ...refused.flatMap((hold) =>
        resolveItem(hold, { status: 'dismissed', answer: reason, said: 'rejected' }, null),
      ),
      ...(again
        ? [
            {
              kind: 'hold.opened' as const,
              hold: {
                ...again,
                reason: `${again.reason} ${handling.actor.name} did not approve it: ${reason}`,
              },
            },
          ]
        : []),
    ]
    return {
      facts,
      answer: {
        run_id: record.id,
        decided: true as const,
        event: null,
        current_state: record.state,
        reason,
        hold_id: again?.id ?? null,
      },
    }
  })
}

/** What a person said no to is not asked about again as it is. */
async function keepRefusal(
  { commandApprovals, actor, clock }: CommandContext,
  hold: InboxItem,
  reason: string,
): Promise<void> {
  const { request } = hold
  if (request?.kind !== 'command' || hold.status !== 'open') return
  const { run, folder, pinned, hash, files = [] } = request
  await commandApprovals.refuse({ run, folder, pinned, hash, files, reason, by: actor.name, at: clock.now() })
}

export const reject = defineOperation({
  name: 'reject',
  command: 'reject',
  toolset: 'gate',
  audience: 'person',
  title: 'Reject',
  description:
    'Say no to what waits, with a reason: a run goes the way that its process has for a no; a command stays forbidden; any other hold is dismissed, and its task stays as it is. Work on a task is sent back with waymark review <task> --send-back.',
  kind: 'command',
  positional: ['id', 'reason'],
  input: z.strictObject({
    id: decidedField,
    reason: reasonField,
    role: roleField,
    content: contentField,
    event: identifier('Of a run: the event to send, where its process has several').optional(),
  }),
  output: z.union([
    ApprovalWithheld,
    RunDecided,
    HoldClosed.extend({ decided: z.literal(true), notes: strings.optional() }),
  ]),
}).handler(async (handling, input) => {
  await recordDue(handling)
  const subject = await handling.store.view((reads) => findDecisionSubject(reads, input.id))
  const reason = requireAnswerText(input.reason, {
    what: `To reject ${input.id}`,
    command: `waymark reject ${input.id} "<reason>"`,
  })
  const seen = await assertContentSeen(handling, { id: input.id, seen: input.content }, () =>
    subject.kind === 'run'
      ? shownContentOfRun(handling, subject.loaded)
      : shownContentOfItem(handling, subject.hold),
  )
  if (subject.kind === 'hold') {
    await keepRefusal(handling, subject.hold, reason)
    const closed = await closeItem(handling, subject.hold.id, {
      status: 'dismissed',
      answer: reason,
      said: 'rejected',
      isDecision: true,
    })
    const { kind, taskId } = subject.hold
    const isReview = kind === 'review' && taskId !== null
    return {
      decided: true as const,
      ...closed,
      ...(isReview && {
        notes: [
          `The question is closed, and task ${taskId} stays as it is. To have it done again: waymark review ${taskId} --send-back --text "…".`,
        ],
      }),
    }
  }
  const { record, definition } = subject.loaded
  const events = awaitedDecision(definition, record.state)?.events ?? []
  const event = input.event ?? eventFor('reject', events)
  if (event !== null) {
    return decideRun(handling, subject.loaded, {
      event,
      reason,
      payload: null,
      role: input.role,
      approvals: [],
      seen: seen !== null,
    })
  }
  if ((awaitedDecision(definition, record.state)?.approvals ?? []).length > 0) {
    return withholdApproval(handling, subject.loaded, reason)
  }
  throw new Failure(
    'REFUSED',
    `Run ${record.id} is in "${record.state}", which has no way to reject it${events.length === 0 ? '' : `; people can send ${events.join(', ')}`}.`,
    {
      reason: 'no_rejecting_event',
      hint: `waymark decide ${record.id} <event> "<reason>" sends an event; waymark run cancel ${record.id} "<reason>" ends the run.`,
    },
  )
})

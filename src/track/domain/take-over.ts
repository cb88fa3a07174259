import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import { callTo, Failure, type Hint, hintOf } from '../../kernel/failure.ts'
import type { TransactionContext } from '../../kernel/id.ts'
import { instant } from '../../kernel/instant.ts'
import type { TaskRequest } from './start-task.ts'
import { type Attempt, isOpenedBy, isStale } from './task.ts'

export interface TakeOverResult {
  /** The caller's own open attempt, if it is resumed. */
  readonly resumed: Attempt | null
  readonly events: readonly NewProjectEvent[]
}

function liveAttemptHint(
  open: Attempt,
  { actor, agentName }: Pick<TaskRequest, 'actor' | 'agentName'>,
): string | Hint {
  const wait = 'Start another task, or wait: an attempt can be taken over two hours after its last call.'
  if (actor.kind === 'person')
    return `${wait} If it has stopped for good, end it: waymark task complete ${open.taskId} "<why>" --status failed`
  if (open.actor.name !== actor.name || open.agentName !== agentName) return wait
  return hintOf`If it is yours from an earlier connection, continue without start_task and end it with ${callTo('complete_task', { task_id: open.taskId })}. Otherwise: ${wait}`
}

/** The caller's own open attempt, which start_task continues unless it is taken over. */
export function ownOpenAttempt(
  last: Attempt | null,
  { actor, agentName, takeOver }: Pick<TaskRequest, 'actor' | 'agentName' | 'takeOver'>,
): Attempt | null {
  return last?.status === 'open' && !takeOver && isOpenedBy(last, actor, agentName) ? last : null
}

/** An open attempt blocks others until it is closed, or taken over: stale, or of a caller that lost its access. */
export function mayTakeOver(
  open: Attempt,
  takeOver: {
    readonly request: Pick<TaskRequest, 'actor' | 'agentName' | 'takeOver'>
    /** The inbox items of the open attempt. */
    readonly items: readonly InboxItem[]
    /** Why its caller can make no more calls; null if it can. */
    readonly lostAccess: string | null
  },
  setting: TransactionContext,
): TakeOverResult {
  const { request, items, lostAccess } = takeOver
  if (ownOpenAttempt(open, request) !== null) return { resumed: open, events: [] }
  const holder = displayName(open)
  if (lostAccess === null && !isStale(open, setting.at)) {
    throw new Failure(
      'CONFLICT',
      `${holder} is working on task ${open.taskId}: attempt ${open.id} has been open since ${instant(open.openedAt)}, last call ${instant(open.lastCallAt)}.`,
      { reason: 'attempt_of_other_agent', hint: liveAttemptHint(open, request) },
    )
  }
  const why = lostAccess ?? `no call since ${instant(open.lastCallAt)}`
  if (!request.takeOver) {
    throw new Failure(
      'CONFLICT',
      `Attempt ${open.id} of ${holder} at task ${open.taskId} is stale: ${why}.`,
      {
        reason: 'attempt_stale',
        hint: hintOf`Abandon it and start again with ${callTo('start_task', { planned_task_id: open.taskId, take_over: true })}.`,
      },
    )
  }
  const reason = `Taken over by ${displayName(request)}: ${why}.`
  return {
    resumed: null,
    events: abandon(open, items, reason),
  }
}

/** A stale-attempt item is closed with its attempt. */
export function closeStaleItems(items: readonly InboxItem[], answer: string): readonly NewProjectEvent[] {
  return items
    .filter((item) => item.kind === 'stale_attempt' && item.status === 'open')
    .map((item) => ({
      kind: 'inbox.closed',
      itemId: item.id,
      missionId: item.missionId,
      taskId: item.taskId,
      status: 'resolved',
      answer,
    }))
}

/** Abandons an attempt and closes its stale-attempt items. `items` are the attempt's own. */
export function abandon(
  attempt: Attempt,
  items: readonly InboxItem[],
  reason: string,
): readonly NewProjectEvent[] {
  return [
    ...closeStaleItems(items, reason),
    {
      kind: 'attempt.abandoned',
      attemptId: attempt.id,
      taskId: attempt.taskId,
      missionId: attempt.missionId,
      reason,
    },
  ]
}

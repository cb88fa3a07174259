import type { Attempt, Task } from '../../domain/track/task.ts'
import type { AttemptEnd } from '../../ports/reads/task-reads.ts'
import type { Reads } from '../../ports/store.ts'
import type { Ending } from './ending.ts'
import { saidDuring } from './said.ts'
import { type Attributes, type EndedSpan, known } from './span.ts'
import { spanIdOf, traceIdOf } from './trace-ids.ts'

const mostPaths = 20

/** One attempt at a task: what was measured, what was claimed, what was said meanwhile. */
export async function attemptSpan(reads: Reads, ending: Ending, at: number): Promise<EndedSpan | null> {
  const attempt = await reads.tasks.attempt(ending.id)
  const task = attempt && (await reads.tasks.find(attempt.taskId))
  if (!attempt || !task) return null
  const end = await reads.tasks.end(attempt.id)
  return {
    traceId: await traceOf(reads, attempt),
    spanId: spanIdOf('attempt', attempt.id),
    parentSpanId: await parentOf(reads, attempt, task),
    name: `task ${task.name}`,
    attributes: { ...whoAndWhat(attempt, task), ...(end && measuredAndClaimed(end)) },
    events: await saidDuring(reads, attempt),
    status: ending.status,
    start: attempt.openedAt,
    end: at,
  }
}

/** The mission's; outside a mission that of the task, or of the task which it is a part of. */
async function traceOf({ tasks }: Reads, { missionId, taskId }: Attempt): Promise<string> {
  if (missionId !== null) return traceIdOf('mission', missionId)
  const ancestors = await tasks.ancestors(taskId)
  return traceIdOf('task', ancestors.at(-1) ?? taskId)
}

/** A subtask belongs to the attempt that its parent was at when it began. */
async function parentOf({ tasks }: Reads, attempt: Attempt, task: Task): Promise<string | null> {
  const above = task.parentTaskId === null ? [] : await tasks.attempts(task.parentTaskId)
  const parent = above.findLast(
    ({ openedAt, missionId }) => openedAt <= attempt.openedAt && missionId === attempt.missionId,
  )
  if (parent) return spanIdOf('attempt', parent.id)
  if (attempt.missionId === null) return null
  return attempt.phaseId === null
    ? spanIdOf('mission', attempt.missionId)
    : spanIdOf('phase', attempt.phaseId)
}

function whoAndWhat(attempt: Attempt, task: Task): Attributes {
  return known({
    'waymark.task.id': task.id,
    'waymark.task.name': task.name,
    'waymark.task.areas': attempt.areas,
    'waymark.attempt.id': attempt.id,
    'waymark.attempt.number': attempt.number,
    'waymark.attempt.status': attempt.status,
    'waymark.mission.id': attempt.missionId,
    'waymark.phase.id': attempt.phaseId,
    'waymark.actor.name': attempt.actor.name,
    'waymark.actor.kind': attempt.actor.kind,
    'waymark.actor.channel': attempt.actor.channel,
    'waymark.caller.type': attempt.callerType,
    'gen_ai.agent.name': attempt.agentName,
  })
}

function measuredAndClaimed({ evidence, outcome, counts }: AttemptEnd): Attributes {
  return known({
    'waymark.verification.status': evidence.verification,
    'waymark.scope.match': evidence.scope.matches,
    'waymark.scope.unexpected': evidence.scope.unexpected.slice(0, mostPaths),
    'waymark.files.added': counts.added,
    'waymark.files.modified': counts.modified,
    'waymark.files.deleted': counts.deleted,
    'waymark.files.renamed': counts.renamed,
    'waymark.claim.summary': outcome.summary,
    'waymark.claim.tests': outcome.testsStatus,
    'gen_ai.usage.input_tokens': outcome.tokensInput,
    'gen_ai.usage.output_tokens': outcome.tokensOutput,
  })
}

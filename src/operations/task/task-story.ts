import type { TaskId } from '../../domain/id.ts'
import { instant, instantOrNull } from '../../domain/instant.ts'
import { excerpt } from '../../domain/text.ts'
import { waitingOf } from '../../domain/track/holds.ts'
import type { Correction, Dependency, PastAttempt } from '../../domain/track/task.ts'
import type { Reads } from '../../ports/store.ts'
import { waitingFor } from './completion.ts'

const mostPast = 3
const mostEntries = 8
const mostDependencies = 20

/** What whoever takes a task up is told: what it builds on, what was tried before, what waits for a person. */
export async function taskStory(reads: Reads, taskId: TaskId) {
  const dependencies = await reads.tasks.dependencies(taskId)
  const past = await reads.tasks.past(taskId, mostPast)
  const waiting = await waitingFor(reads, taskId)
  return {
    dependencies: dependencies.slice(0, mostDependencies).map(dependencyEntry),
    previous_attempts: past.map(pastEntry),
    waits_for: waiting.map(waitingOf),
  }
}

/** The same, without what is empty. */
export async function toldStory(reads: Reads, taskId: TaskId) {
  const { dependencies, previous_attempts, waits_for } = await taskStory(reads, taskId)
  return {
    ...(dependencies.length > 0 && { dependencies }),
    ...(previous_attempts.length > 0 && { previous_attempts }),
    ...(waits_for.length > 0 && { waits_for }),
  }
}

function dependencyEntry({ task, unsettled, summary, files, holds }: Dependency) {
  return {
    id: task.id,
    title: excerpt(task.name, 120),
    status: task.resolution ?? task.status,
    ...(unsettled && { settled: false }),
    ...(holds.length > 0 && { waits_for: holds.slice(0, 3).map(waitingOf) }),
    ...(summary !== null && { summary: excerpt(summary, 400) }),
    ...(files.length > 0 && { files }),
  }
}

/** What a later agent needs of an attempt that ended: its words, cut, and the first files. */
function pastEntry({ attempt, outcome, corrections, files }: PastAttempt) {
  const cut = (texts: readonly string[]) => texts.slice(0, mostEntries).map((text) => excerpt(text))
  return {
    attempt_id: attempt.id,
    agent: attempt.agentName ?? attempt.actor.name,
    status: attempt.status,
    ended_at: instantOrNull(attempt.closedAt),
    summary: outcome === null ? null : excerpt(outcome.summary, 600),
    limitations: cut(outcome?.limitations ?? []),
    next_steps: cut(outcome?.nextSteps ?? []),
    files,
    ...(corrections.length > 0 && { corrections: corrections.slice(-3).map(correctionEntry) }),
  }
}

export function correctionEntry({ text, agentName, saidBy, at }: Correction) {
  return { text: excerpt(text, 600), agent_name: agentName, said_by: saidBy, at: instant(at) }
}

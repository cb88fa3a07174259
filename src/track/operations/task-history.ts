import { z } from 'zod'
import {
  answeredEntries,
  BlockerEntry,
  openItemEntry,
  WaitingEntry,
} from '../../inbox/operations/item-answer.ts'
import { displayName } from '../../kernel/actor.ts'
import type { TaskId } from '../../kernel/id.ts'
import { instantOrNull } from '../../kernel/instant.ts'
import { list, strings } from '../../kernel/operations/list-answer.ts'
import { excerpt } from '../../kernel/text.ts'
import { type NameBehind, peopleBehind } from '../../people/operations/agent-owners.ts'
import type { PlannedTask } from '../../plan/domain/plan.ts'
import { reviewOfTask, taskReviewFields } from '../../review/operations/agent-reviews.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Dependency, PastAttempt } from '../domain/task.ts'
import { attemptStatuses, outcomeAuthorOf } from '../domain/task.ts'
import { reasonText, type Verdict, verdictValues } from '../domain/verdict.ts'
import { CorrectionEntry, correctionEntry } from './attempt-answer.ts'
import { openItemsOfTask } from './completion.ts'

const maxPast = 3
const maxEntries = 8
const maxDependencies = 20

export const DependencyEntry = z.object({
  id: z.string(),
  title: z.string(),
  status: z.string(),
  settled: z.literal(false).optional(),
  waits_for: list(WaitingEntry).optional(),
  summary: z.string().optional(),
  files: strings.optional(),
})

/** An ended attempt, for the agent that resumes the task: its outcome, cut, and the first files. */
export const PastAttemptEntry = z.object({
  attempt_id: z.string(),
  agent: z.string(),
  status: z.enum(attemptStatuses),
  ended_at: z.string().nullable(),
  summary: z.string().nullable(),
  /** Who wrote the summary, if another one than the agent ended the attempt. */
  summary_by: z.string().optional(),
  limitations: strings,
  next_steps: strings,
  files: strings,
  /** What its completion was judged; absent where nothing was claimed. */
  verdict: z.enum(verdictValues).optional(),
  /** Why it is not proven. */
  reasons: strings.optional(),
  corrections: list(CorrectionEntry).optional(),
})

/** The history of a task; empty parts are left out. */
export const taskHistoryFields = {
  dependencies: list(DependencyEntry).optional(),
  previous_attempts: list(PastAttemptEntry).optional(),
  waits_for: list(WaitingEntry).optional(),
  /** Blockers of the task that a person answered, newest first. */
  answered_blockers: list(BlockerEntry).optional(),
  ...taskReviewFields,
}

/** The history that an agent gets with a task: dependencies, earlier attempts and open inbox items. */
export async function readTaskHistory(reads: Reads, taskId: TaskId, { isAlone = false } = {}) {
  const [dependencies, past, waiting, answered, review] = await Promise.all([
    isAlone ? [] : reads.tasks.dependencies(taskId),
    reads.tasks.past(taskId, maxPast),
    openItemsOfTask(reads, taskId),
    reads.inboxItems.list({ taskId, kinds: ['blocker', 'review'], status: 'closed' }, { limit: maxPast }),
    reviewOfTask(reads, taskId),
  ])
  // What was sent back stands there by itself.
  const answers = answered.items.flatMap(({ item }) => (item.item.action === 'answered' ? [item] : []))
  const verdicts = await reads.tasks.lastVerdicts(past.map(({ attempt }) => attempt.id))
  const personOf = await peopleBehind(
    reads,
    past.flatMap(({ corrections }) => corrections.map(({ actor }) => actor)),
  )
  return {
    dependencies: dependencies.slice(0, maxDependencies).map(dependencyEntry),
    previous_attempts: past.map((one) => pastEntry(one, verdicts.get(one.attempt.id), personOf)),
    waits_for: waiting.map(openItemEntry),
    ...(answers.length > 0 && { answered_blockers: answeredEntries(answers) }),
    ...review,
  }
}

/** The history without its empty parts. */
export async function taskHistoryAnswer(reads: Reads, { task, dependsOn }: PlannedTask) {
  const history = await readTaskHistory(reads, task.id, { isAlone: dependsOn.length === 0 })
  const { dependencies, previous_attempts, waits_for, ...review } = history
  return {
    ...(dependencies.length > 0 && { dependencies }),
    ...(previous_attempts.length > 0 && { previous_attempts }),
    ...(waits_for.length > 0 && { waits_for }),
    ...review,
  }
}

function dependencyEntry({
  task,
  unsettled,
  summary,
  files,
  items,
}: Dependency): z.output<typeof DependencyEntry> {
  return {
    id: task.id,
    title: excerpt(task.name, 120),
    status: task.resolution ?? task.status,
    ...(unsettled && { settled: false }),
    ...(items.length > 0 && { waits_for: items.slice(0, 3).map(openItemEntry) }),
    ...(summary !== null && { summary: excerpt(summary, 400) }),
    ...(files.length > 0 && { files }),
  }
}

function pastEntry(
  { attempt, outcome, corrections, files }: PastAttempt,
  verdict: Verdict | undefined,
  personOf: NameBehind,
): z.output<typeof PastAttemptEntry> {
  const [agent, author] = [displayName(attempt), outcomeAuthorOf(attempt)]
  const cut = (texts: readonly string[]) => texts.slice(0, maxEntries).map((text) => excerpt(text))
  return {
    attempt_id: attempt.id,
    agent,
    status: attempt.status,
    ended_at: instantOrNull(attempt.closedAt),
    summary: outcome === null ? null : excerpt(outcome.summary, 600),
    ...(outcome !== null && author !== agent && { summary_by: author }),
    limitations: cut(outcome?.limitations ?? []),
    next_steps: cut(outcome?.nextSteps ?? []),
    files,
    ...(verdict && { verdict: verdict.is }),
    ...(verdict &&
      verdict.reasons.length > 0 && { reasons: cut(verdict.reasons.map((one) => reasonText(one))) }),
    ...(corrections.length > 0 && {
      corrections: corrections.slice(-3).map((correction) => correctionEntry(correction, personOf)),
    }),
  }
}

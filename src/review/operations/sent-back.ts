import { isOfChanges } from '../../gate/domain/approved-content.ts'
import { isReturn } from '../../gate/domain/decisions.ts'
import type { ProcessDefinition } from '../../gate/domain/definition.ts'
import type { RunEvent, RunRecord } from '../../gate/domain/run.ts'
import { wordsIn } from '../../gate/operations/run/remarks.ts'
import { displayName } from '../../kernel/actor.ts'
import type { MissionId, TaskId } from '../../kernel/id.ts'
import { excerpt } from '../../kernel/text.ts'
import { peopleBehind } from '../../people/operations/agent-owners.ts'
import type { Reads } from '../../store/ports/store.ts'
import { isEnded } from '../../track/domain/mission.ts'
import type { Attempt } from '../../track/domain/task.ts'
import type { ReviewWithTasks } from '../ports/review-reads.ts'

/** A person sent a task back, in a review or by an answer in the inbox. */
export interface SentBack {
  readonly author: string
  readonly text: string | null
  readonly at: number
}

/** The most reviews of a task that are listed. */
export const maxReviews = 3

const maxItems = 50
const maxReturns = 20
const maxReviewsOfMission = 50
const maxRuns = 20

/** The last word of a person about a task, if it sent the task back; null if the task was approved since. */
export async function sentBackOf(
  reads: Reads,
  taskId: TaskId,
  until = Number.POSITIVE_INFINITY,
): Promise<SentBack | null> {
  const [reviews, items] = await Promise.all([
    reads.reviews.reviewsOfTask(taskId, maxReturns, 'decisions'),
    reads.inboxItems.list({ taskId, ...aboutWork }, { limit: maxItems }),
  ])
  return lastWords(reviews, items.items, until).get(taskId) ?? null
}

/**
 * When a person sent the work back that an attempt does again, or a run about it, even if it had begun by then; null if
 * nobody did.
 */
export async function sentBackBefore(
  reads: Reads,
  attempt: Pick<Attempt, 'taskId' | 'missionId' | 'number' | 'closedAt'>,
): Promise<number | null> {
  if (attempt.number === 1) return null
  const [back, ofRuns] = await Promise.all([
    sentBackOf(reads, attempt.taskId, attempt.closedAt ?? undefined),
    runsSentBackBefore(reads, attempt),
  ])
  const times = [...(back === null ? [] : [back.at]), ...ofRuns]
  return times.length === 0 ? null : Math.max(...times)
}

/** When people last sent back the active runs of an attempt's task and of its mission. */
async function runsSentBackBefore(
  reads: Reads,
  attempt: Pick<Attempt, 'taskId' | 'missionId' | 'closedAt'>,
): Promise<readonly number[]> {
  const { closedAt } = attempt
  const found = await runsAbout(reads, attempt, { status: 'active' })
  return found.flatMap(({ returns }) => {
    const back = returns.find(({ createdAt }) => closedAt === null || createdAt <= closedAt)
    return back === undefined ? [] : [back.createdAt]
  })
}

/** A person approved the changes in a run, or sent them back. */
export interface RunDecisionOnChanges extends SentBack {
  readonly runId: string
  readonly action: 'approve' | 'send_back'
}

/** What people decided in runs of an attempt's task and mission after its end, oldest first. */
export async function runDecisionsOn(
  reads: Reads,
  attempt: Pick<Attempt, 'taskId' | 'missionId' | 'closedAt'>,
): Promise<readonly RunDecisionOnChanges[]> {
  const found = await runsAbout(reads, attempt)
  const decisions = found.map(async ({ run: { id: runId }, definition, returns }) => [
    ...(await reads.runs.approvals(runId)).flatMap(({ artifact, author, reason, createdAt }) =>
      definition !== null && isOfChanges(definition, artifact)
        ? [{ runId, action: 'approve' as const, author, text: reason, at: createdAt }]
        : [],
    ),
    ...returns.map(({ author, payload, createdAt }) => {
      return { runId, action: 'send_back' as const, author, text: wordsIn(payload), at: createdAt }
    }),
  ])
  return (await Promise.all(decisions))
    .flat()
    .filter(({ at }) => attempt.closedAt !== null && at >= attempt.closedAt)
    .toSorted((a, b) => a.at - b.at)
}

/** The last words of a person who sent a run about the work back, if they approved nothing in it since. */
export async function runRequestOn(
  reads: Reads,
  subject: { readonly taskId: TaskId | null; readonly missionId: MissionId | null },
): Promise<SentBack | null> {
  const found = await runsAbout(reads, subject, { status: 'active' })
  const requests = found.map(async ({ run, returns: [last] }): Promise<readonly SentBack[]> => {
    if (last === undefined) return []
    const { author, payload, createdAt: at } = last
    const approvals = await reads.runs.approvals(run.id)
    return approvals.some(({ createdAt }) => createdAt > at) ? [] : [{ author, text: wordsIn(payload), at }]
  })
  return (await Promise.all(requests)).flat().toSorted((a, b) => b.at - a.at)[0] ?? null
}

interface RunAboutWork {
  readonly run: RunRecord
  readonly definition: ProcessDefinition | null
  /** The events by which people sent it back, newest first. */
  readonly returns: readonly RunEvent[]
}

async function runsAbout(
  { runs }: Reads,
  { taskId, missionId }: { readonly taskId: TaskId | null; readonly missionId: MissionId | null },
  filter: { readonly status?: 'active' } = {},
): Promise<readonly RunAboutWork[]> {
  const subjects = [...(taskId === null ? [] : [{ taskId }]), ...(missionId === null ? [] : [{ missionId }])]
  const pages = await Promise.all(
    subjects.map((subject) => runs.list({ ...filter, ...subject }, { limit: maxRuns })),
  )
  const about = new Map(pages.flatMap(({ items }) => items.map(({ item }) => [item.id, item] as const)))
  const found = [...about.values()]
    .filter((run) => run.taskId === null || run.taskId === taskId)
    .map(async (run) => {
      const [definition, history] = await Promise.all([
        runs.definition(run.process.hash),
        runs.history(run.id, { limit: maxReturns }),
      ])
      const returns = history.items.flatMap(({ item }) =>
        item.identity?.startsWith('person ') && isReturn(definition, item) ? [item] : [],
      )
      return { run, definition, returns }
    })
  return Promise.all(found)
}

/** The tasks of a mission of which a person's last word sent them back. */
export async function sentBackInMission(
  reads: Reads,
  missionId: MissionId,
): Promise<ReadonlyMap<TaskId, SentBack>> {
  const [reviews, items] = await Promise.all([
    reads.reviews.reviewsInMission(missionId, maxReviewsOfMission, 'decisions'),
    reads.inboxItems.list({ missionId, ...aboutWork }, { limit: maxItems }),
  ])
  return new Map(
    [...lastWords(reviews, items.items)].flatMap(([id, back]) => (back === null ? [] : [[id, back]])),
  )
}

/** Tasks to do that a person sent back; no list of open work has those of missions that have ended. */
export async function sentBackTasks(reads: Reads, person?: string) {
  const waiting = await reads.tasks.withIds(await reads.reviews.waitingTasks())
  const toDo = waiting.filter(({ status }) => status === 'to_do')
  if (toDo.length === 0) return []
  const taskIds = toDo.map(({ id }) => id)
  const [reviews, items] = await Promise.all([
    reads.reviews.decisionsOn(taskIds, maxReturns * taskIds.length),
    reads.inboxItems.list({ taskIds, ...aboutWork }, { limit: maxItems * taskIds.length }),
  ])
  const words = lastWords(reviews, items.items)
  const sentBack = toDo.filter(({ id }) => words.get(id))
  const missions = await reads.missions.withIds(sentBack.flatMap(({ missionId }) => missionId ?? []))
  const ended = new Set<string | null>(missions.filter(isEnded).map(({ id }) => id))
  const attempts = await reads.tasks.lastAttempts(sentBack.map(({ id }) => id))
  const personOf = await peopleBehind(
    reads,
    [...attempts.values()].map(({ actor }) => actor),
  )
  return sentBack.map(({ id, name, missionId }) => {
    const attempt = attempts.get(id)
    const isOfAnother = attempt?.actor.person !== person
    return {
      task_id: id,
      name: excerpt(name, 120),
      mission_ended: ended.has(missionId),
      agent_name: attempt ? displayName(attempt) : null,
      person: isOfAnother ? personOf(attempt?.actor) : null,
    }
  })
}

/** Each time that a person sent a task back, oldest first. */
export async function returnsOf(
  reads: Reads,
  taskId: TaskId,
): Promise<readonly Pick<SentBack, 'author' | 'at'>[]> {
  const [reviews, items] = await Promise.all([
    reads.reviews.reviewsOfTask(taskId, maxReturns, 'decisions'),
    reads.inboxItems.list({ taskId, ...aboutWork }, { limit: maxReturns }),
  ])
  return [
    ...items.items.flatMap(({ item: { item } }) =>
      item.action === 'sent back' ? [{ author: item.closedBy ?? 'a person', at: item.closedAt ?? 0 }] : [],
    ),
    ...reviews.flatMap(({ action, author, createdAt }) =>
      action === 'send_back' ? [{ author: author.name, at: createdAt }] : [],
    ),
  ].toSorted((a, b) => a.at - b.at)
}

/** The return of an attempt: after its end, before the next attempt. */
export function returnOf<Return extends Pick<SentBack, 'at'>>(
  { closedAt }: Pick<Attempt, 'closedAt'>,
  next: Pick<Attempt, 'openedAt'> | undefined,
  returns: readonly Return[],
): Return | undefined {
  return returns.find(
    ({ at }) => closedAt !== null && at >= closedAt && at < (next?.openedAt ?? Number.POSITIVE_INFINITY),
  )
}

const aboutWork = { kinds: ['review', 'verdict', 'scope'], status: 'closed' } as const

type ClosedItems = Awaited<ReturnType<Reads['inboxItems']['list']>>['items']

/** By task; a comment alone decides nothing, and an approved scope is no approval of the work. */
function lastWords(
  reviews: readonly ReviewWithTasks[],
  items: ClosedItems,
  until = Number.POSITIVE_INFINITY,
): ReadonlyMap<TaskId, SentBack | null> {
  const ofItems = items.flatMap(({ item: { item } }) => {
    const { kind, taskId, action, closedBy, closedAt, answer } = item
    const isBack = action === 'sent back'
    if (taskId === null || closedAt === null || !(isBack || (action === 'approved' && kind === 'review')))
      return []
    return [{ ids: [taskId], isBack, author: closedBy ?? 'a person', text: answer, at: closedAt }]
  })
  const ofReviews = reviews.map(({ tasks, action, author, text, createdAt }) => ({
    ids: tasks,
    isBack: action === 'send_back',
    author: author.name,
    text,
    at: createdAt,
  }))
  // A review also closes the items that it answers: of two at one time it counts.
  const decisions = [...ofItems, ...ofReviews].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
  return new Map(
    decisions.flatMap(({ ids, isBack, author, text, at }) =>
      ids.map((id) => [id, isBack ? { author, text, at } : null] as const),
    ),
  )
}

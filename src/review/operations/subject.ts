import { z } from 'zod'
import { identityOf } from '../../kernel/actor.ts'
import { Failure } from '../../kernel/failure.ts'
import type { MissionId } from '../../kernel/id.ts'
import { findMission, findTask } from '../../kernel/operations/find.ts'
import { identifier } from '../../kernel/operations/input/fields.ts'
import type { Context } from '../../kernel/operations/operation.ts'
import type { Reads } from '../../store/ports/store.ts'
import type { Mission } from '../../track/domain/mission.ts'
import type { Attempt, Task } from '../../track/domain/task.ts'
import type { Reviewer, ReviewSubject } from '../domain/review.ts'

/** Exactly one of these must be given. */
export const subjectFields = {
  task: identifier('The work on a task (t-…)').optional(),
  mission: identifier('The work in a mission or workflow (m-…, w-…)').optional(),
  since: z.boolean().describe('All work that ended since your last full review').optional(),
}

export const subjectField = z
  .strictObject(subjectFields)
  .describe('What you review: a task, a mission, or since')

export type SubjectInput = z.output<typeof subjectField>

/** The reviewed work, with all attempts at it in order. */
export interface ResolvedSubject {
  readonly subject: ReviewSubject
  readonly name: string
  readonly task: Task | null
  readonly mission: Mission | null
  readonly attempts: readonly Attempt[]
  /** The time until which the reader has reviewed everything; null for other subjects, or if never. */
  readonly since: number | null
  /** Older ones are left out. */
  readonly isCut: boolean
}

/**
 * The reviewer: a person of the server, else the user of the machine. An agent with a person's token is a separate
 * reviewer, as it must not see that person's drafts.
 */
export function reviewerOf({ actor, permissions }: Pick<Context, 'actor' | 'permissions'>): Reviewer {
  if (permissions && actor.kind === 'agent') return { id: `agent ${permissions.personId}`, name: actor.name }
  if (permissions && permissions.user === undefined)
    return { id: permissions.personId, name: permissions.personName }
  return { id: identityOf(actor), name: actor.name }
}

const maxAttempts = 1000

export async function findSubject(
  reads: Reads,
  input: SubjectInput,
  reader: Reviewer,
): Promise<ResolvedSubject> {
  const { task: taskId, mission: missionId, since } = input
  const named = [taskId !== undefined, missionId !== undefined, since === true].filter(Boolean).length
  if (named !== 1) {
    throw new Failure('INVALID_INPUT', 'Review one thing: a task, a mission, or all new work.', {
      reason: 'subject_missing',
      hint: 'Pass exactly one of task, mission and since.',
    })
  }
  if (taskId !== undefined) return taskSubject(reads, taskId)
  return missionId === undefined ? subjectSinceLastReview(reads, reader) : missionSubject(reads, missionId)
}

async function taskSubject(reads: Reads, id: string): Promise<ResolvedSubject> {
  const task = await findTask(reads, id)
  const attempts = await reads.runs.attemptsOf({ taskId: task.id, missionId: null })
  const home = attempts.at(-1)?.missionId ?? task.missionId
  return {
    subject: { kind: 'task', taskId: task.id, missionId: home },
    name: task.name,
    task,
    mission: home === null ? null : await reads.missions.find(home),
    attempts,
    since: null,
    isCut: attempts.length === maxAttempts,
  }
}

async function missionSubject(reads: Reads, id: string): Promise<ResolvedSubject> {
  const mission = await findMission(reads, id)
  const missionId: MissionId = mission.id
  const attempts = await reads.runs.attemptsOf({ taskId: null, missionId })
  return {
    subject: { kind: 'mission', missionId },
    name: mission.name,
    task: null,
    mission,
    attempts,
    since: null,
    isCut: attempts.length === maxAttempts,
  }
}

async function subjectSinceLastReview(reads: Reads, reader: Reviewer): Promise<ResolvedSubject> {
  const since = await reads.reviews.inspectedAt(reader.id)
  const { attempts, isCut } = await reads.reviews.endedSince(since, reader.id)
  return {
    subject: { kind: 'since' },
    name: 'Everything new',
    task: null,
    mission: null,
    attempts,
    since,
    isCut,
  }
}

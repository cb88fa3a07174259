import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import type { InboxItem } from '../../inbox/domain/inbox-item.ts'
import { displayName } from '../../kernel/actor.ts'
import { callTo, Failure, hintOf } from '../../kernel/failure.ts'
import type { RunId } from '../../kernel/id.ts'
import { isEnded, type Mission, type MissionEnding } from './mission.ts'
import { abandon } from './take-over.ts'
import type { Attempt } from './task.ts'

export interface MissionCompletion {
  readonly status: MissionEnding
  readonly summary: string
  readonly achievements: readonly string[]
  readonly limitations: readonly string[]
}

/** Ends a mission. Refused while attempts are open, unless it failed: then they are abandoned. A repeat has no events. */
export function endMission(
  mission: Mission,
  closing: MissionCompletion,
  running: {
    readonly open: readonly Attempt[]
    readonly items: readonly InboxItem[]
    /** Failed runs that a person completes the mission despite. */
    readonly lostRunIds: readonly RunId[]
  },
): readonly NewProjectEvent[] {
  const { open, items, lostRunIds } = running
  if (isEnded(mission) && !isWorkflowWithoutSummary(mission)) return repeatedClosing(mission, closing)
  if (open.length > 0 && closing.status !== 'failed') throw openAttemptsFailure(mission, open)
  const reason = `The ${mission.kind} was completed as failed.`
  const abandoned = open.flatMap((attempt) =>
    abandon(
      attempt,
      items.filter(({ attemptId }) => attemptId === attempt.id),
      reason,
    ),
  )
  return [
    ...abandoned,
    {
      kind: 'mission.ended',
      missionId: mission.id,
      ...closing,
      ...(lostRunIds.length > 0 && { despiteRuns: lostRunIds }),
    },
  ]
}

/** A workflow that ended with its last task still accepts a summary. */
function isWorkflowWithoutSummary(mission: Mission): boolean {
  return mission.kind === 'workflow' && mission.summary === null
}

function repeatedClosing(mission: Mission, closing: MissionCompletion): readonly NewProjectEvent[] {
  const isUnchanged =
    mission.status === closing.status &&
    mission.summary === closing.summary &&
    isSameTexts(mission.achievements, closing.achievements) &&
    isSameTexts(mission.limitations, closing.limitations)
  if (isUnchanged) return []
  throw new Failure(
    'CONFLICT',
    `Cannot complete ${mission.kind} ${mission.id} "${mission.name}": it already ended as ${mission.status}, with a different report.`,
    {
      reason: 'mission_already_completed',
      hint: 'Its record stays as it is. Start a new mission for further work.',
    },
  )
}

function isSameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index])
}

function openAttemptsFailure(mission: Mission, open: readonly Attempt[]): Failure {
  const tasks = open
    .slice(0, 5)
    .map(({ taskId, agentName, actor }) => `${taskId} (${displayName({ actor, agentName })})`)
  return new Failure(
    'REFUSED',
    `Cannot complete ${mission.kind} ${mission.id}: ${open.length} of its tasks are still open: ${tasks.join(', ')}.`,
    {
      reason: 'tasks_open',
      hint: hintOf`Complete them with ${callTo('complete_task')}, or complete the mission as failed: that abandons them.`,
    },
  )
}

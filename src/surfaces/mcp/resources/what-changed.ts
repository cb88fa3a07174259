import type { Happening } from '../../../domain/fact.ts'
import { changesUri, missionUri, summaryUri, taskUri } from './resource-uri.ts'

/** What a fact changes for those who read resources. */
export interface Changed {
  readonly uris: readonly string[]
  /** Other resources are listed than before. */
  readonly list: boolean
}

export function whatChanged(happening: Happening): Changed {
  switch (happening.kind) {
    case 'project.created':
    case 'role.declared':
    case 'milestone.created':
    case 'milestone.edited':
    case 'process.kept':
    case 'setting.changed':
    case 'command.revoked':
      return { uris: [], list: false }
    case 'mission.started':
      return { uris: [missionUri(happening.mission.id)], list: true }
    case 'mission.ended':
    case 'mission.extended':
    case 'mission.reopened':
    case 'phase.reopened':
    case 'phase.completed':
    case 'phase.edited':
      return { uris: ofMission(happening.missionId), list: false }
    case 'phase.created':
      return { uris: ofMission(happening.phase.missionId), list: false }
    case 'task.planned':
      return about({ taskId: happening.task.id, missionId: happening.task.missionId })
    case 'attempt.opened':
      return measured(happening.attempt)
    case 'attempt.closed':
    case 'attempt.abandoned':
      return measured(happening)
    case 'attempt.corrected':
    case 'attempt.continued':
    case 'hold.closed':
      return about(happening)
    case 'decision.logged':
      return about(happening.decision)
    case 'issue.logged':
      return about(happening.issue)
    case 'progress.logged':
      return about(happening.progress)
    case 'hold.opened':
      return about(happening.hold)
    case 'note.added':
      return ofTask(happening.note.taskId)
    case 'task.edited':
    case 'task.marked':
    case 'task.dropped':
    case 'task.forced':
    case 'task.claimed':
    case 'claim.ended':
    case 'dependency.added':
    case 'dependency.removed':
      return ofTask(happening.taskId)
    case 'run.created':
      return moved(happening.run.id, happening.run)
    case 'run.advanced':
    case 'run.migrated':
    case 'run.cancelled':
    case 'run.approved':
      return moved(happening.runId, happening)
    case 'run.refused':
      return { uris: [], list: false }
    case 'command.started':
      return ofCommand(happening.command.runId)
    case 'command.ended':
      return ofCommand(happening.runId)
  }
}

/** A run moved, or what its guards look at did: what may be emitted is another than before. */
function moved(runId: string, subject: Whereabouts): Changed {
  return { uris: [summaryUri(runId), ...about(subject).uris], list: true }
}

function ofCommand(runId: string | null): Changed {
  return runId === null ? { uris: [], list: false } : { uris: [summaryUri(runId)], list: true }
}

interface Whereabouts {
  readonly taskId: string | null
  readonly missionId: string | null
}

function about({ taskId, missionId }: Whereabouts): Changed {
  return { uris: [...(taskId === null ? [] : [taskUri(taskId)]), ...ofMission(missionId)], list: false }
}

function ofTask(taskId: string): Changed {
  return { uris: [taskUri(taskId)], list: false }
}

/** An attempt began or ended: the list shows the tasks that are worked on, and its changes are others. */
function measured({ taskId, missionId }: { taskId: string; missionId: string | null }): Changed {
  return { uris: [taskUri(taskId), changesUri(taskId), ...ofMission(missionId)], list: true }
}

function ofMission(missionId: string | null): readonly string[] {
  return missionId === null ? [] : [missionUri(missionId)]
}

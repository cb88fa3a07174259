import type { NewFact } from '../../domain/fact.ts'
import { applyProjectCreated } from '../record/project.ts'
import { applyAbandoned, applyClosed, applyCorrected, applyOpened } from './attempt.ts'
import { renewClaim } from './claim.ts'
import { applyDependencyAdded, applyDependencyRemoved } from './dependency.ts'
import { applyHoldClosed, applyHoldOpened } from './hold.ts'
import {
  applyMissionEnded,
  applyMissionExtended,
  applyMissionReopened,
  applyMissionStarted,
} from './mission.ts'
import { applyNoteAdded } from './note.ts'
import {
  applyMilestoneCreated,
  applyMilestoneEdited,
  applyPhaseCompleted,
  applyPhaseCreated,
  applyPhaseEdited,
  applyPhaseReopened,
} from './phase.ts'
import { applyRoleDeclared } from './plan.ts'
import { applyDecision, applyIssue, applyProgress, touchAttempt } from './records.ts'
import {
  applyProcessKept,
  applyRunAdvanced,
  applyRunCancelled,
  applyRunCreated,
  applyRunMigrated,
} from './run.ts'
import {
  applyCommandEnded,
  applyCommandStarted,
  applyRunApproved,
  applyRunRefused,
  applySettingChanged,
} from './run-evidence.ts'
import type { Projecting } from './scope.ts'
import {
  applyClaimEnded,
  applyTaskClaimed,
  applyTaskDropped,
  applyTaskEdited,
  applyTaskMarked,
  applyTaskPlanned,
} from './task.ts'

/** Brings the tables to what they are after a happening. */
export function apply(projecting: Projecting, happening: NewFact): Promise<void> {
  switch (happening.kind) {
    case 'project.created':
      return applyProjectCreated(projecting, happening)
    case 'mission.started':
      return applyMissionStarted(projecting, happening)
    case 'mission.ended':
      return applyMissionEnded(projecting, happening)
    case 'mission.extended':
      return applyMissionExtended(projecting, happening)
    case 'mission.reopened':
      return applyMissionReopened(projecting, happening)
    case 'phase.created':
      return applyPhaseCreated(projecting, happening)
    case 'phase.reopened':
      return applyPhaseReopened(projecting, happening)
    case 'phase.completed':
      return applyPhaseCompleted(projecting, happening)
    case 'task.planned':
      return applyTaskPlanned(projecting, happening)
    case 'attempt.opened':
      return applyOpened(projecting, happening)
    case 'attempt.closed':
      return applyClosed(projecting, happening)
    case 'attempt.abandoned':
      return applyAbandoned(projecting, happening)
    case 'attempt.corrected':
      return applyCorrected(projecting, happening)
    case 'attempt.continued':
      return touchAttempt(projecting, happening)
    case 'decision.logged':
      return applyDecision(projecting, happening)
    case 'issue.logged':
      return applyIssue(projecting, happening)
    case 'progress.logged':
      return applyProgress(projecting, happening)
    case 'hold.opened':
      return applyHoldOpened(projecting, happening)
    case 'hold.closed':
      return applyHoldClosed(projecting, happening)
    case 'phase.edited':
      return applyPhaseEdited(projecting, happening)
    case 'milestone.created':
      return applyMilestoneCreated(projecting, happening)
    case 'milestone.edited':
      return applyMilestoneEdited(projecting, happening)
    case 'task.edited':
      return applyTaskEdited(projecting, happening)
    case 'task.marked':
      return applyTaskMarked(projecting, happening)
    case 'task.dropped':
      return applyTaskDropped(projecting, happening)
    case 'task.forced':
      return renewClaim(projecting, happening.taskId)
    case 'task.claimed':
      return applyTaskClaimed(projecting, happening)
    case 'claim.ended':
      return applyClaimEnded(projecting, happening)
    case 'dependency.added':
      return applyDependencyAdded(projecting, happening)
    case 'dependency.removed':
      return applyDependencyRemoved(projecting, happening)
    case 'note.added':
      return applyNoteAdded(projecting, happening)
    case 'role.declared':
      return applyRoleDeclared(projecting, happening)
    case 'process.kept':
      return applyProcessKept(projecting, happening)
    case 'run.created':
      return applyRunCreated(projecting, happening)
    case 'run.advanced':
      return applyRunAdvanced(projecting, happening)
    case 'run.migrated':
      return applyRunMigrated(projecting, happening)
    case 'run.cancelled':
      return applyRunCancelled(projecting, happening)
    case 'run.refused':
      return applyRunRefused(projecting, happening)
    case 'run.approved':
      return applyRunApproved(projecting, happening)
    case 'setting.changed':
      return applySettingChanged(projecting, happening)
    case 'command.revoked': // kept in the state folder of its user
      return Promise.resolve()
    case 'command.started':
      return applyCommandStarted(projecting, happening)
    case 'command.ended':
      return applyCommandEnded(projecting, happening)
  }
}

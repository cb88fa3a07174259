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

/** Brings the tables to what they are after a fact. */
export function apply(projecting: Projecting, fact: NewFact): Promise<void> {
  switch (fact.kind) {
    case 'project.created':
      return applyProjectCreated(projecting, fact)
    case 'mission.started':
      return applyMissionStarted(projecting, fact)
    case 'mission.ended':
      return applyMissionEnded(projecting, fact)
    case 'mission.extended':
      return applyMissionExtended(projecting, fact)
    case 'mission.reopened':
      return applyMissionReopened(projecting, fact)
    case 'phase.created':
      return applyPhaseCreated(projecting, fact)
    case 'phase.reopened':
      return applyPhaseReopened(projecting, fact)
    case 'phase.completed':
      return applyPhaseCompleted(projecting, fact)
    case 'task.planned':
      return applyTaskPlanned(projecting, fact)
    case 'attempt.opened':
      return applyOpened(projecting, fact)
    case 'attempt.closed':
      return applyClosed(projecting, fact)
    case 'attempt.abandoned':
      return applyAbandoned(projecting, fact)
    case 'attempt.corrected':
      return applyCorrected(projecting, fact)
    case 'attempt.continued':
      return touchAttempt(projecting, fact)
    case 'decision.logged':
      return applyDecision(projecting, fact)
    case 'issue.logged':
      return applyIssue(projecting, fact)
    case 'progress.logged':
      return applyProgress(projecting, fact)
    case 'hold.opened':
      return applyHoldOpened(projecting, fact)
    case 'hold.closed':
      return applyHoldClosed(projecting, fact)
    case 'phase.edited':
      return applyPhaseEdited(projecting, fact)
    case 'milestone.created':
      return applyMilestoneCreated(projecting, fact)
    case 'milestone.edited':
      return applyMilestoneEdited(projecting, fact)
    case 'task.edited':
      return applyTaskEdited(projecting, fact)
    case 'task.marked':
      return applyTaskMarked(projecting, fact)
    case 'task.dropped':
      return applyTaskDropped(projecting, fact)
    case 'task.forced':
      return renewClaim(projecting, fact.taskId)
    case 'task.claimed':
      return applyTaskClaimed(projecting, fact)
    case 'claim.ended':
      return applyClaimEnded(projecting, fact)
    case 'dependency.added':
      return applyDependencyAdded(projecting, fact)
    case 'dependency.removed':
      return applyDependencyRemoved(projecting, fact)
    case 'note.added':
      return applyNoteAdded(projecting, fact)
    case 'role.declared':
      return applyRoleDeclared(projecting, fact)
    case 'process.kept':
      return applyProcessKept(projecting, fact)
    case 'run.created':
      return applyRunCreated(projecting, fact)
    case 'run.advanced':
      return applyRunAdvanced(projecting, fact)
    case 'run.migrated':
      return applyRunMigrated(projecting, fact)
    case 'run.cancelled':
      return applyRunCancelled(projecting, fact)
    case 'run.refused':
      return applyRunRefused(projecting, fact)
    case 'run.approved':
      return applyRunApproved(projecting, fact)
    case 'setting.changed':
      return applySettingChanged(projecting, fact)
    case 'command.revoked': // kept in the state folder of its user
      return Promise.resolve()
    case 'command.started':
      return applyCommandStarted(projecting, fact)
    case 'command.ended':
      return applyCommandEnded(projecting, fact)
  }
}

import type { NewFact } from '../../domain/fact.ts'
import type { FactKind, FactOf } from '../../domain/fact-kinds.ts'
import { applyProjectCreated } from '../record/project.ts'
import { applyAbandoned, applyClosed, applyCorrected, applyOpened, touchAttempt } from './attempt.ts'
import {
  applyAttemptLinked,
  applyCaptureLost,
  applySessionClosed,
  applySessionContinued,
  applySessionForgotten,
  applySessionOpened,
} from './capture-session.ts'
import { renewClaim } from './claim.ts'
import { applyCommandEnded, applyCommandStarted } from './command-result.ts'
import { applyDependencyAdded, applyDependencyRemoved } from './dependency.ts'
import { applyHoldClosed, applyHoldOpened } from './hold.ts'
import { applyLinesForgotten, applyLinesRecorded } from './lines.ts'
import { applyMemberRemoved, applyMemberSet } from './member.ts'
import {
  applyMissionEnded,
  applyMissionExtended,
  applyMissionReopened,
  applyMissionStarted,
} from './mission.ts'
import { applyNoteAdded } from './note.ts'
import { applyNotificationAdded, applyNotificationEdited, applyNotificationRemoved } from './notification.ts'
import { applyPersonAdded, applyPersonChanged } from './person.ts'
import {
  applyMilestoneCreated,
  applyMilestoneEdited,
  applyPhaseCompleted,
  applyPhaseCreated,
  applyPhaseEdited,
  applyPhaseReopened,
} from './phase.ts'
import { applyRoleDeclared } from './plan.ts'
import { applyProcessKept } from './process.ts'
import { applyProjectEnded, applyProjectReopened } from './project-end.ts'
import { applyDecision, applyIssue, applyProgress } from './records.ts'
import { applyReviewReplied, applyReviewSent } from './review.ts'
import { applyRunAdvanced, applyRunCancelled, applyRunCreated, applyRunMigrated } from './run.ts'
import { applyRunApproved, applyRunRefused } from './run-event.ts'
import { applySessionBegan, applySessionEnded } from './session.ts'
import { applySettingChanged } from './setting.ts'
import type { Projecting } from './tables.ts'
import {
  applyClaimEnded,
  applyTaskClaimed,
  applyTaskDropped,
  applyTaskEdited,
  applyTaskMarked,
  applyTaskPlanned,
} from './task.ts'
import { applyTokenCreated, applyTokenRevoked } from './token.ts'
import { applyCommandsSeen, applyEditsReported, applyTurnClosed, applyTurnOpened } from './turn.ts'

/** Brings the tables to what they are after a fact. */
export function projectFact(projecting: Projecting, fact: NewFact): Promise<void> {
  const apply = projections[fact.kind] as (projecting: Projecting, fact: NewFact) => Promise<void> // its own row
  return apply(projecting, fact)
}

/** What each kind of fact does to the tables. */
const projections: {
  readonly [Kind in FactKind]: (projecting: Projecting, fact: FactOf<Kind>) => Promise<void>
} = {
  'project.created': applyProjectCreated,
  'project.ended': applyProjectEnded,
  'project.reopened': applyProjectReopened,
  'mission.started': applyMissionStarted,
  'mission.ended': applyMissionEnded,
  'mission.extended': applyMissionExtended,
  'mission.reopened': applyMissionReopened,
  'phase.created': applyPhaseCreated,
  'phase.reopened': applyPhaseReopened,
  'phase.completed': applyPhaseCompleted,
  'task.planned': applyTaskPlanned,
  'attempt.opened': applyOpened,
  'attempt.closed': applyClosed,
  'attempt.abandoned': applyAbandoned,
  'attempt.corrected': applyCorrected,
  'attempt.continued': touchAttempt,
  'lines.recorded': applyLinesRecorded,
  'lines.forgotten': applyLinesForgotten,
  'decision.logged': applyDecision,
  'issue.logged': applyIssue,
  'progress.logged': applyProgress,
  'hold.opened': applyHoldOpened,
  'hold.closed': applyHoldClosed,
  'phase.edited': applyPhaseEdited,
  'milestone.created': applyMilestoneCreated,
  'milestone.edited': applyMilestoneEdited,
  'task.edited': applyTaskEdited,
  'task.marked': applyTaskMarked,
  'task.dropped': applyTaskDropped,
  'task.forced': (projecting, { taskId }) => renewClaim(projecting, taskId),
  'task.claimed': applyTaskClaimed,
  'claim.ended': applyClaimEnded,
  'dependency.added': applyDependencyAdded,
  'dependency.removed': applyDependencyRemoved,
  'note.added': applyNoteAdded,
  'role.declared': applyRoleDeclared,
  'process.kept': applyProcessKept,
  'run.created': applyRunCreated,
  'run.advanced': applyRunAdvanced,
  'run.migrated': applyRunMigrated,
  'run.cancelled': applyRunCancelled,
  'run.refused': applyRunRefused,
  'run.approved': applyRunApproved,
  'setting.changed': applySettingChanged,
  'command.revoked': () => Promise.resolve(), // kept in the state folder of its user
  'command.started': applyCommandStarted,
  'command.ended': applyCommandEnded,
  'project.named': () => Promise.resolve(), // names are no rows of the server's own
  'person.added': applyPersonAdded,
  'person.changed': applyPersonChanged,
  'member.set': applyMemberSet,
  'member.removed': applyMemberRemoved,
  'token.created': applyTokenCreated,
  'token.revoked': applyTokenRevoked,
  'session.began': applySessionBegan,
  'session.ended': applySessionEnded,
  'notification.added': applyNotificationAdded,
  'notification.edited': applyNotificationEdited,
  'notification.removed': applyNotificationRemoved,
  'session.opened': applySessionOpened,
  'session.continued': applySessionContinued,
  'session.closed': applySessionClosed,
  'session.forgotten': applySessionForgotten,
  'turn.opened': applyTurnOpened,
  'turn.closed': applyTurnClosed,
  'edits.reported': applyEditsReported,
  'commands.seen': applyCommandsSeen,
  'review.sent': applyReviewSent,
  'review.replied': applyReviewReplied,
  'attempt.linked': applyAttemptLinked,
  'capture.lost': applyCaptureLost,
}

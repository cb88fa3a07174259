import type { ProjectEventKind, ProjectEventOf } from '../../events/domain/event-kinds.ts'
import type { NewProjectEvent } from '../../events/domain/project-event.ts'
import { applyCommandEnded, applyCommandStarted } from '../../gate/tables/command-result.ts'
import { applyCommandGuarded } from '../../gate/tables/guarded-command.ts'
import { applyProcessKept } from '../../gate/tables/process.ts'
import {
  applyRunAdvanced,
  applyRunCancelled,
  applyRunCreated,
  applyRunMigrated,
} from '../../gate/tables/run.ts'
import { applyApprovalsWithdrawn, applyRunApproved, applyRunRefused } from '../../gate/tables/run-event.ts'
import { applyCommandAnswer, everyMachine } from '../../inbox/tables/command-answer.ts'
import { applyItemClosed, applyItemOpened } from '../../inbox/tables/item.ts'
import { applyLinesForgotten, applyLinesRecorded } from '../../lines/tables/lines.ts'
import {
  applyNotificationAdded,
  applyNotificationEdited,
  applyNotificationRemoved,
} from '../../notifications/tables/notification.ts'
import { applyMemberRemoved, applyMemberSet } from '../../people/tables/member.ts'
import { applyPersonAdded, applyPersonChanged } from '../../people/tables/person.ts'
import { applySessionBegan, applySessionEnded } from '../../people/tables/session.ts'
import { applyTokenCreated, applyTokenRevoked } from '../../people/tables/token.ts'
import { renewClaim } from '../../plan/tables/claim.ts'
import { applyDependencyAdded, applyDependencyRemoved } from '../../plan/tables/dependency.ts'
import { applyNoteAdded } from '../../plan/tables/note.ts'
import {
  applyMilestoneCreated,
  applyMilestoneEdited,
  applyPhaseCompleted,
  applyPhaseCreated,
  applyPhaseEdited,
  applyPhaseReopened,
} from '../../plan/tables/phase.ts'
import { applyRoleDeclared } from '../../plan/tables/plan.ts'
import {
  applyClaimEnded,
  applyTaskClaimed,
  applyTaskDropped,
  applyTaskEdited,
  applyTaskMarked,
  applyTaskPlanned,
} from '../../plan/tables/task.ts'
import { applyProjectEnded, applyProjectReopened } from '../../project/tables/project-end.ts'
import { applySettingChanged } from '../../project/tables/setting.ts'
import { applyReviewReplied, applyReviewSent } from '../../review/tables/review.ts'
import {
  applyAttemptLinked,
  applyCaptureLost,
  applySessionClosed,
  applySessionContinued,
  applySessionForgotten,
  applySessionOpened,
} from '../../sessions/tables/capture-session.ts'
import {
  applyCommandsSeen,
  applyEditsReported,
  applyTurnClosed,
  applyTurnOpened,
} from '../../sessions/tables/turn.ts'
import {
  applyAbandoned,
  applyAmended,
  applyClosed,
  applyCorrected,
  applyOpened,
  touchAttempt,
} from '../../track/tables/attempt.ts'
import { applyFilesLost } from '../../track/tables/file-loss.ts'
import { applyLandingMeasured } from '../../track/tables/landing.ts'
import {
  applyMissionEnded,
  applyMissionExtended,
  applyMissionReopened,
  applyMissionStarted,
} from '../../track/tables/mission.ts'
import { applyDecision, applyIssue, applyProgress } from '../../track/tables/records.ts'
import { applyFilesSettled } from '../../track/tables/settled-files.ts'
import { applyTreeWritten } from '../../track/tables/tree-write.ts'
import { applyVerdictChanged } from '../../track/tables/verdict.ts'
import { applyProjectCreated } from '../record/project.ts'
import type { ProjectionContext } from './tables.ts'

/** Applies a log entry to the tables. */
export function projectEventIntoTables(projecting: ProjectionContext, event: NewProjectEvent): Promise<void> {
  const apply = projections[event.kind] as (
    projecting: ProjectionContext,
    event: NewProjectEvent,
  ) => Promise<void> // its own row
  return apply(projecting, event)
}

/** The projection of each kind of log entry. */
const projections: {
  readonly [Kind in ProjectEventKind]: (
    projecting: ProjectionContext,
    event: ProjectEventOf<Kind>,
  ) => Promise<void>
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
  'attempt.amended': applyAmended,
  'files.settled': applyFilesSettled,
  'verdict.changed': applyVerdictChanged,
  'attempt.continued': touchAttempt,
  'lines.recorded': applyLinesRecorded,
  'lines.forgotten': applyLinesForgotten,
  'decision.logged': applyDecision,
  'issue.logged': applyIssue,
  'progress.logged': applyProgress,
  'inbox.opened': applyItemOpened,
  'inbox.closed': applyItemClosed,
  'phase.edited': applyPhaseEdited,
  'milestone.created': applyMilestoneCreated,
  'milestone.edited': applyMilestoneEdited,
  'task.edited': applyTaskEdited,
  'task.marked': applyTaskMarked,
  'task.dropped': applyTaskDropped,
  'task.forced': (projecting, { taskId }) => renewClaim(projecting, taskId),
  'landing.measured': applyLandingMeasured,
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
  'run.approvals_withdrawn': applyApprovalsWithdrawn,
  'setting.changed': applySettingChanged,
  'command.revoked': (projecting, { hash }) =>
    applyCommandAnswer(projecting, hash, { machine: everyMachine, itemId: null }),
  'command.started': applyCommandStarted,
  'command.ended': applyCommandEnded,
  'command.guarded': applyCommandGuarded,
  'project.named': () => Promise.resolve(), // the server has no rows for names
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
  'tree.written': applyTreeWritten,
  'files.lost': applyFilesLost,
  'capture.lost': applyCaptureLost,
}

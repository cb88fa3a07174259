import type { Kysely } from 'kysely'
import type { ProjectEventTable } from '../../events/log/event-log.ts'
import type { CommandOutputTable, CommandResultTable } from '../../gate/tables/command-result.ts'
import type { GuardedCommandTable } from '../../gate/tables/guarded-command.ts'
import type { ProcessTable } from '../../gate/tables/process.ts'
import type { RunTable, RunVisitTable } from '../../gate/tables/run.ts'
import type {
  RunApprovalTable,
  RunArtifactTable,
  RunEventTable,
  RunRefusalTable,
} from '../../gate/tables/run-event.ts'
import type { CommandAnswerTable } from '../../inbox/tables/command-answer.ts'
import type { InboxItemTable } from '../../inbox/tables/item.ts'
import type { Actor } from '../../kernel/actor.ts'
import type { LineMarkTable, LineSpanTable, LineStepTable } from '../../lines/tables/lines.ts'
import type {
  NoticeCursorTable,
  NoticeTable,
  NotificationAddressTable,
  NotificationTable,
} from '../../notifications/tables/notification.ts'
import type { MemberTable } from '../../people/tables/member.ts'
import type { PersonTable } from '../../people/tables/person.ts'
import type { SecretTable } from '../../people/tables/secret.ts'
import type { SessionTable } from '../../people/tables/session.ts'
import type { TokenTable } from '../../people/tables/token.ts'
import type { ClaimTokenTable } from '../../plan/tables/claim.ts'
import type { TaskDependencyTable } from '../../plan/tables/dependency.ts'
import type { NoteTable } from '../../plan/tables/note.ts'
import type { MilestoneTable, PhaseTable } from '../../plan/tables/phase.ts'
import type { RoleTable } from '../../plan/tables/plan.ts'
import type { TaskTable } from '../../plan/tables/task.ts'
import type { TaskCountTable, TaskListTable } from '../../plan/tables/task-lists.ts'
import type { ProjectEndTable } from '../../project/tables/project-end.ts'
import type { SettingTable } from '../../project/tables/setting.ts'
import type { AttemptDiffTable, CommandLeaseTable, RemoteMachineTable } from '../../remote/tables/machine.ts'
import type {
  AttemptFilesTable,
  FileContentTable,
  ReviewCommentTable,
  ReviewDraftTable,
  ReviewInspectedTable,
  ReviewReplyTable,
  ReviewTable,
  ReviewViewedTable,
} from '../../review/tables/review.ts'
import type {
  CaptureLinkTable,
  CaptureLossTable,
  CaptureSessionTable,
} from '../../sessions/tables/capture-session.ts'
import type {
  CommandWindowTable,
  EditReportTable,
  HookEventTable,
  PromptTable,
  TurnChangeTable,
  TurnTable,
} from '../../sessions/tables/turn.ts'
import type {
  AttemptChangeTable,
  AttemptCorrectionTable,
  AttemptEndTable,
  AttemptTable,
} from '../../track/tables/attempt.ts'
import type { FileLossTable } from '../../track/tables/file-loss.ts'
import type { LandingTable } from '../../track/tables/landing.ts'
import type { MissionTable } from '../../track/tables/mission.ts'
import type { MissionChangeTable } from '../../track/tables/mission-change.ts'
import type { DecisionTable, IssueTable, ProgressTable } from '../../track/tables/records.ts'
import type { TreeWriteTable } from '../../track/tables/tree-write.ts'
import type { AttemptVerdictTable } from '../../track/tables/verdict.ts'
import type { IdempotencyKeyTable } from '../record/idempotency.ts'
import type { ProjectRootTable, ProjectTable } from '../record/project.ts'

/** The schema for Kysely: every table with its columns as the drivers return them. */
export interface Tables {
  readonly project: ProjectTable
  readonly project_root: ProjectRootTable
  readonly project_end: ProjectEndTable
  readonly mission: MissionTable
  readonly mission_change: MissionChangeTable
  readonly phase: PhaseTable
  readonly milestone: MilestoneTable
  readonly task: TaskTable
  readonly task_place: TaskListTable
  readonly task_count: TaskCountTable
  readonly task_dependency: TaskDependencyTable
  readonly claim_token: ClaimTokenTable
  readonly role: RoleTable
  readonly attempt: AttemptTable
  readonly attempt_correction: AttemptCorrectionTable
  readonly attempt_end: AttemptEndTable
  readonly landing: LandingTable
  readonly tree_write: TreeWriteTable
  readonly file_loss: FileLossTable
  readonly attempt_change: AttemptChangeTable
  readonly attempt_verdict: AttemptVerdictTable
  readonly line_span: LineSpanTable
  readonly line_step: LineStepTable
  readonly line_mark: LineMarkTable
  readonly decision: DecisionTable
  readonly issue: IssueTable
  readonly progress: ProgressTable
  readonly note: NoteTable
  readonly inbox_item: InboxItemTable
  readonly command_answer: CommandAnswerTable
  readonly process: ProcessTable
  readonly run: RunTable
  readonly run_event: RunEventTable
  readonly run_visit: RunVisitTable
  readonly run_artifact: RunArtifactTable
  readonly run_refusal: RunRefusalTable
  readonly run_approval: RunApprovalTable
  readonly command_result: CommandResultTable
  readonly command_output: CommandOutputTable
  readonly guarded_command: GuardedCommandTable
  readonly setting: SettingTable
  readonly person: PersonTable
  readonly member: MemberTable
  readonly token: TokenTable
  readonly session: SessionTable
  readonly secret: SecretTable
  readonly notification: NotificationTable
  readonly notification_address: NotificationAddressTable
  readonly notice: NoticeTable
  readonly notice_cursor: NoticeCursorTable
  readonly machine: RemoteMachineTable
  readonly attempt_diff: AttemptDiffTable
  readonly command_lease: CommandLeaseTable
  readonly capture_session: CaptureSessionTable
  readonly capture_link: CaptureLinkTable
  readonly capture_loss: CaptureLossTable
  readonly turn: TurnTable
  readonly turn_change: TurnChangeTable
  readonly edit_report: EditReportTable
  readonly command_window: CommandWindowTable
  readonly hook_event: HookEventTable
  readonly kept_prompt: PromptTable
  readonly review: ReviewTable
  readonly review_comment: ReviewCommentTable
  readonly review_reply: ReviewReplyTable
  readonly review_draft: ReviewDraftTable
  readonly review_viewed: ReviewViewedTable
  readonly review_inspected: ReviewInspectedTable
  readonly attempt_files: AttemptFilesTable
  readonly file_content: FileContentTable
  readonly project_event: ProjectEventTable
  readonly idempotency_key: IdempotencyKeyTable
}

/** The connection or transaction to read with, and the project. */
export interface ReadScope {
  readonly db: Kysely<Tables>
  readonly projectId: string
}

/** The project of a row, and the log entry that creates it. */
export interface RowKey {
  readonly projectId: string
  readonly seq: number
}

/** The transaction that a projection writes in, and the log entry it applies. */
export interface ProjectionContext extends ReadScope, RowKey {
  readonly at: number
  readonly actor: Actor
  /** Skips task heights: after many log entries `makeHeights` computes them once. */
  readonly heightsLater?: boolean
}

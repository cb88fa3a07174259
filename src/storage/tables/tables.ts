import type { CommandTable, FactTable, ProjectRootTable, ProjectTable } from '../journal/journal.ts'
import type { MilestoneTable, MissionChangeTable, MissionTable, PhaseTable } from './mission.ts'
import type { DecisionTable, HoldTable, IssueTable, NoteTable, ProgressTable } from './records.ts'
import type {
  CommandResultTable,
  ProcessTable,
  RunApprovalTable,
  RunArtifactTable,
  RunEventTable,
  RunRefusalTable,
  RunTable,
  RunVisitTable,
  SettingTable,
} from './run.ts'
import type {
  AttemptChangeTable,
  AttemptCorrectionTable,
  AttemptEndTable,
  AttemptTable,
  RoleTable,
  TaskCountTable,
  TaskDependencyTable,
  TaskPlaceTable,
  TaskTable,
} from './task.ts'

/** The schema as Kysely sees it: every table with its columns as the drivers answer them. */
export interface Tables {
  readonly project: ProjectTable
  readonly project_root: ProjectRootTable
  readonly mission: MissionTable
  readonly mission_change: MissionChangeTable
  readonly phase: PhaseTable
  readonly milestone: MilestoneTable
  readonly task: TaskTable
  readonly task_place: TaskPlaceTable
  readonly task_count: TaskCountTable
  readonly task_dependency: TaskDependencyTable
  readonly role: RoleTable
  readonly attempt: AttemptTable
  readonly attempt_correction: AttemptCorrectionTable
  readonly attempt_end: AttemptEndTable
  readonly attempt_change: AttemptChangeTable
  readonly decision: DecisionTable
  readonly issue: IssueTable
  readonly progress: ProgressTable
  readonly note: NoteTable
  readonly hold: HoldTable
  readonly process: ProcessTable
  readonly run: RunTable
  readonly run_event: RunEventTable
  readonly run_visit: RunVisitTable
  readonly run_artifact: RunArtifactTable
  readonly run_refusal: RunRefusalTable
  readonly run_approval: RunApprovalTable
  readonly command_result: CommandResultTable
  readonly setting: SettingTable
  readonly fact: FactTable
  readonly command: CommandTable
}

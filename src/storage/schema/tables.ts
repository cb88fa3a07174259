import type { CommandTable, FactTable, ProjectRootTable, ProjectTable } from './journal-tables.ts'
import type { MilestoneTable, MissionFileTable, MissionTable, PhaseTable } from './mission-tables.ts'
import type { DecisionTable, HoldTable, IssueTable, NoteTable, ProgressTable } from './record-tables.ts'
import type {
  AttemptChangeTable,
  AttemptEndTable,
  AttemptTable,
  RoleTable,
  TaskCountTable,
  TaskDependencyTable,
  TaskPlaceTable,
  TaskTable,
} from './task-tables.ts'

/** The schema as Kysely sees it: every table with its columns as the drivers answer them. */
export interface Tables {
  readonly project: ProjectTable
  readonly project_root: ProjectRootTable
  readonly mission: MissionTable
  readonly mission_file: MissionFileTable
  readonly phase: PhaseTable
  readonly milestone: MilestoneTable
  readonly task: TaskTable
  readonly task_place: TaskPlaceTable
  readonly task_count: TaskCountTable
  readonly task_dependency: TaskDependencyTable
  readonly role: RoleTable
  readonly attempt: AttemptTable
  readonly attempt_end: AttemptEndTable
  readonly attempt_change: AttemptChangeTable
  readonly decision: DecisionTable
  readonly issue: IssueTable
  readonly progress: ProgressTable
  readonly note: NoteTable
  readonly hold: HoldTable
  readonly fact: FactTable
  readonly command: CommandTable
}

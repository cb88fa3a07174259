export interface TaskTable {
  project_id: string
  id: string
  seq: number
  mission_id: string | null
  phase_id: string | null
  milestone_id: string | null
  parent_task_id: string | null
  name: string
  goal: string | null
  step: string | null
  role: string | null
  /** Whom it is for: an agent's name, or a role. */
  assignee: string | null
  areas: string
  status: string
  resolution: string | null
  sort_order: number | null
  creator: string | null
  last_attempt_id: string | null
  claim_agent: string | null
  claim_actor: string | null
  /** The connection that claimed it. */
  claim_connection: string | null
  claim_token: string | null
  claimed_at: number | null
  claim_expires_at: number | null
  /** Open holds about it that hold up what depends on it, by the project's setting. */
  open_holds: number
  /** How many of its dependencies are not done, or done and not settled. */
  open_dependencies: number
  /** Its status, and whether it waits: what lists of ready and of blocked tasks ask for. */
  standing: 'ready' | 'blocked' | 'in_progress' | 'done'
  /** Tasks in the longest chain of unfinished ones that wait for it, itself included; 0 when it is done. */
  height: number
  /** Its place in lists: the order of its phase, its phase, its own order, then `seq`. */
  order_phase: number
  order_phase_seq: number
  order_own: number
  created_at: number
  updated_at: number
}

/** Where a task belongs or was worked on, and who worked on it. `status` is the task's. */
export interface TaskPlaceTable {
  project_id: string
  kind: 'project' | 'mission' | 'phase' | 'agent'
  place: string
  task_seq: number
  task_id: string
  status: string
}

/** How many tasks of a status a place has. `home` and `home_phase` count only the tasks that belong there. */
export interface TaskCountTable {
  project_id: string
  kind: TaskPlaceTable['kind'] | 'home' | 'home_phase'
  place: string
  status: string
  tasks: number
}

export interface TaskDependencyTable {
  project_id: string
  task_id: string
  depends_on_id: string
  seq: number
}

/** A role that the project declared. */
export interface RoleTable {
  project_id: string
  role: string
  seq: number
}

export interface AttemptTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  mission_id: string | null
  phase_id: string | null
  number: number
  agent_name: string | null
  caller_type: string | null
  actor: string
  areas: string
  status: string
  /** The top of the work tree that `snapshot` was made of. */
  tree_top: string
  snapshot: string
  end_snapshot: string | null
  files_added: number | null
  files_modified: number | null
  files_deleted: number | null
  files_renamed: number | null
  scope_matches: number | null
  opened_at: number
  last_call_at: number
  closed_at: number | null
}

export interface AttemptEndTable {
  project_id: string
  attempt_id: string
  outcome: string
  evidence: string
  input_hash: string
  answer: string
}

/** What somebody said of an attempt after its end, beside what was said then. */
export interface AttemptCorrectionTable {
  project_id: string
  seq: number
  attempt_id: string
  task_id: string
  text: string
  agent_name: string | null
  said_by: string
  created_at: number
}

export interface AttemptChangeTable {
  project_id: string
  attempt_id: string
  /** 0 for the first, out of scope first, then by path. */
  position: number
  path: string
  body: string
}

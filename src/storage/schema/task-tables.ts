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
  areas: string
  status: string
  resolution: string | null
  creator: string | null
  last_attempt_id: string | null
  claim_agent: string | null
  claim_actor: string | null
  claim_token: string | null
  claimed_at: number | null
  claim_expires_at: number | null
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

/** How many tasks of a status a place has. */
export interface TaskCountTable {
  project_id: string
  kind: TaskPlaceTable['kind']
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

export interface AttemptChangeTable {
  project_id: string
  attempt_id: string
  /** 0 for the first, out of scope first, then by path. */
  position: number
  path: string
  body: string
}

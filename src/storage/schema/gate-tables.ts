export interface ProcessTable {
  project_id: string
  hash: string
  id: string
  version: string
  definition: string
  seq: number
}

export interface RunTable {
  project_id: string
  id: string
  seq: number
  process_hash: string
  process_id: string
  process_version: string
  process_name: string
  mission_id: string | null
  task_id: string | null
  status: string
  state: string
  revision: number
  context: string
  created_by: string
  created_at: number
  updated_at: number
  ended_at: number | null
}

export interface RunEventTable {
  project_id: string
  run_id: string
  revision: number
  id: string
  seq: number
  kind: string
  event: string
  payload: string
  from_state: string
  to_state: string
  state_changed: number
  artifacts: string
  unsatisfied: string
  role: string | null
  by_name: string
  author: string | null
  idempotency_key: string | null
  key_owner: string | null
  input_hash: string | null
  answer: string | null
  at: number
}

export interface RunVisitTable {
  project_id: string
  run_id: string
  state: string
  count: number
  first: number
  last: number
}

export interface RunArtifactTable {
  project_id: string
  run_id: string
  type: string
  path: string
  bytes: number
  sha256: string
  stamp: string
  content: string | null
  revision: number
  by_name: string
  author: string | null
}

export interface RunRefusalTable {
  project_id: string
  run_id: string
  seq: number
  event: string
  code: string
  message: string
  missing: string
  tried: string | null
  state: string
  revision: number
  role: string | null
  by_name: string
  at: number
}

export interface RunApprovalTable {
  project_id: string
  run_id: string
  seq: number
  role: string
  of_type: string | null
  content: string
  reason: string | null
  by_name: string
  identity: string | null
  at: number
}

export interface CommandResultTable {
  project_id: string
  id: string
  seq: number
  run_id: string | null
  command_line: string
  folder: string
  tree: string
  status: string
  exit_code: number | null
  output: string
  tree_held: number
  runner: string
  started_at: number
  ended_at: number | null
}

export interface SettingTable {
  project_id: string
  name: string
  value: string
}

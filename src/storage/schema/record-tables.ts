interface SaidTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  attempt_id: string | null
  mission_id: string | null
  phase_id: string | null
  agent_name: string | null
  created_at: number
}

export interface DecisionTable extends SaidTable {
  category: string
  question: string
  options_considered: string
  chosen: string
  reasoning: string
  trade_offs: string | null
}

export interface IssueTable extends SaidTable {
  type: string
  description: string
  resolution: string
  requires_human_review: number
}

export interface ProgressTable extends SaidTable {
  message: string
  progress: number | null
  metadata: string | null
}

export interface NoteTable {
  project_id: string
  id: string
  seq: number
  task_id: string
  content: string
  kind: string | null
  role: string | null
  author: string
  created_at: number
}

export interface HoldTable {
  project_id: string
  id: string
  seq: number
  kind: string
  mission_id: string | null
  phase_id: string | null
  task_id: string | null
  attempt_id: string | null
  issue_id: string | null
  run_id: string | null
  request: string | null
  request_hash: string | null
  reason: string
  paths: string
  opened_by: string
  opened_at: number
  status: string
  answer: string | null
  closed_by: string | null
  closed_at: number | null
}

export interface MissionTable {
  project_id: string
  id: string
  seq: number
  kind: string
  name: string
  objective: string | null
  description: string | null
  profile: string | null
  total_phases: number
  scope: string | null
  constraints: string | null
  status: string
  summary: string | null
  achievements: string
  limitations: string
  tasks_attempted: number
  files_changed: number
  tokens_input: number
  tokens_output: number
  created_at: number
  completed_at: number | null
}

/** A path that attempts of the mission changed in a work tree, and what became of it from the first to the last. */
export interface MissionChangeTable {
  project_id: string
  mission_id: string
  tree_top: string
  path: string
  from_path: string | null
  change: string
  origin: string
  added_lines: number | null
  deleted_lines: number | null
  others: number
}

export interface PhaseTable {
  project_id: string
  id: string
  seq: number
  mission_id: string | null
  number: number | null
  name: string
  status: string
  sort_order: number | null
  first_start: number | null
  last_end: number | null
  created_at: number
  completed_at: number | null
}

export interface MilestoneTable {
  project_id: string
  id: string
  seq: number
  phase_id: string
  name: string | null
  criterion: string | null
  reached: number
  created_at: number
}

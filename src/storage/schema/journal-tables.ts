export interface ProjectTable {
  id: string
  /** Of the last fact. */
  seq: number
  /** Hash of the last fact. */
  head: string
  created_at: number
}

/** A folder where the project was seen. A moved folder adds one. */
export interface ProjectRootTable {
  path: string
  project_id: string
  seen_at: number
}

export interface FactTable {
  project_id: string
  seq: number
  at: number
  kind: string
  version: number
  actor: string
  channel: string
  body: string
  hash: string
}

/** The answer of a command that came with an idempotency key. */
export interface CommandTable {
  project_id: string
  /** Whose key it is; empty for keys of before they had owners. */
  owner: string
  idempotency_key: string
  connection: string | null
  operation: string
  input_hash: string
  answer: string
  seq: number
  created_at: number
}

import type { Database } from 'better-sqlite3'
import { Failure } from '../../kernel/failure.ts'
import type {
  DocumentMilestone,
  DocumentNote,
  DocumentPhase,
  DocumentStatus,
  DocumentTask,
} from '../domain/document.ts'
import { documentLocations } from '../domain/document.ts'
import { type ImportResult, importResultOf } from './import-result.ts'

/** A row of taskman's tables: every column may be missing in older files. */
type TaskmanRow = Readonly<Record<string, unknown>>

/** Reads a taskman database (`project_tasks.db`). The file is opened read-only and never changed. */
export async function readTaskman(file: string): Promise<ImportResult> {
  const { default: Sqlite } = await import('better-sqlite3')
  const database = new Sqlite(file, { readonly: true, fileMustExist: true })
  try {
    return importTables(database, file)
  } finally {
    database.close()
  }
}

function importTables(database: Database, file: string): ImportResult {
  if (!hasTable(database, 'tasks') || !hasTable(database, 'phases')) {
    throw new Failure('INVALID_INPUT', `The database ${file} has no tables of taskman (phases, tasks).`, {
      reason: 'taskman_tables_missing',
      hint: 'Name the file that TASKMAN_DB_NAME named, usually project_tasks.db.',
    })
  }
  const notes = Map.groupBy(rowsOf(database, 'task_notes'), (row) => text(row['task_id']) ?? '')
  const dependencies = Map.groupBy(rowsOf(database, 'task_deps'), (row) => text(row['task_id']) ?? '')
  const document = {
    phases: rowsOf(database, 'phases').map(phaseOf),
    milestones: rowsOf(database, 'milestones').map(milestoneOf),
    tasks: rowsOf(database, 'tasks').map((row) => {
      const id = text(row['id']) ?? ''
      const dependsOn = (dependencies.get(id) ?? []).flatMap(
        (dependency) => text(dependency['depends_on']) ?? [],
      )
      return taskOf(row, { dependsOn, notes: (notes.get(id) ?? []).map(noteOf) })
    }),
  }
  return importResultOf({ document, places: documentLocations(document), problems: [], notices: [] })
}

function hasTable(database: Database, name: string): boolean {
  return (
    database.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !== undefined
  )
}

function rowsOf(
  database: Database,
  table: 'phases' | 'milestones' | 'tasks' | 'task_deps' | 'task_notes',
): readonly TaskmanRow[] {
  if (!hasTable(database, table)) return []
  return database.prepare(`select * from ${table} order by rowid`).all() as TaskmanRow[] // a driver
}

function phaseOf(row: TaskmanRow): DocumentPhase {
  const id = text(row['id']) ?? ''
  return {
    key: id,
    name: text(row['name']) ?? id,
    status: statusOf(row['status']),
    sortOrder: integer(row['sort_order']),
    foreignId: id,
  }
}

function milestoneOf(row: TaskmanRow): DocumentMilestone {
  const id = text(row['id']) ?? ''
  return {
    key: id,
    phase: text(row['phase_id']) ?? '',
    name: text(row['name']),
    criterion: text(row['criterion']),
    reached: row['reached'] === 1,
    foreignId: id,
  }
}

function taskOf(
  row: TaskmanRow,
  { dependsOn, notes }: { readonly dependsOn: readonly string[]; readonly notes: readonly DocumentNote[] },
): DocumentTask {
  const id = text(row['id']) ?? ''
  return {
    key: id,
    title: text(row['title']) ?? id,
    description: text(row['description']),
    phase: text(row['phase_id']),
    milestone: text(row['milestone_id']),
    parent: null,
    role: text(row['role']),
    assignee: null,
    areas: [],
    status: statusOf(row['status']),
    resolution: null,
    sortOrder: integer(row['sort_order']),
    dependsOn,
    notes,
    creator: text(row['creator']),
    createdAt: parseTime(row['created_at']),
    updatedAt: parseTime(row['updated_at']),
    foreignId: id,
  }
}

function noteOf(row: TaskmanRow): DocumentNote {
  return {
    content: text(row['content']) ?? '',
    kind: text(row['kind']),
    role: text(row['role']),
    author: text(row['role']),
    createdAt: parseTime(row['created_at']),
  }
}

function statusOf(value: unknown): DocumentStatus {
  return value === 'in_progress' || value === 'done' ? value : 'to_do'
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

function integer(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : null
}

/** SQLite's `datetime('now')` is UTC without a zone. */
function parseTime(value: unknown): number | null {
  const timestamp = text(value)
  if (timestamp === null) return null
  const at = Date.parse(
    /[zZ]|[+-]\d\d:?\d\d$/.test(timestamp) ? timestamp : `${timestamp.replace(' ', 'T')}Z`,
  )
  return Number.isNaN(at) ? null : at
}

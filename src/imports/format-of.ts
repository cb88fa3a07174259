import { basename } from 'node:path'
import type { PlanFormat } from '../ports/plan-files.ts'

/** What a file is, by its name and the first of its content. */
export function formatOf(file: string, text: string): PlanFormat {
  const name = basename(file).toLowerCase()
  if (text.startsWith('SQLite format 3\0')) return 'taskman'
  if (text.startsWith('{"waymark":"journal"')) return 'journal'
  if (/\.(md|markdown|txt)$/.test(name)) return 'markdown'
  const firstLine = text.slice(0, text.indexOf('\n') + 1 || undefined)
  if (name.endsWith('.jsonl'))
    return /"(issue_type|depends_on_id|closed_at)"/.test(firstLine) || isBeads(firstLine) ? 'beads' : 'jsonl'
  if (!name.endsWith('.json')) return 'markdown'
  return isTaskMaster(text) ? 'task-master' : 'json'
}

/** beads' issues have a number for a priority and a title; our lines say what they are. */
function isBeads(line: string): boolean {
  return /"title"\s*:/.test(line) && /"priority"\s*:\s*\d/.test(line)
}

/** `{ tasks: [ { id: 1 …` of Task Master, alone or below a tag; our plans have phases and keys. */
function isTaskMaster(text: string): boolean {
  const beginning = text.slice(0, 4_000)
  return !/"(waymark_plan|phases|key)"\s*:/.test(beginning) && /"tasks"\s*:\s*\[/.test(beginning)
}

import type { Grouping, GroupRow } from '../../../geometry/lane-rows.ts'
import type { Status } from '../../../parts/status.ts'

export function groupStatus({ done, tasks, running, extent }: GroupRow): Status {
  if (running) return 'active'
  if (tasks > 0 && done === tasks) return 'done'
  return extent === null ? 'planned' : 'active'
}

export function groupName({ name }: GroupRow, grouping: Grouping): string {
  if (name !== null) return name
  return grouping === 'phase' ? 'Without a phase' : 'Nobody yet'
}

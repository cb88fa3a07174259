import type { NewProjectEvent } from '../../../../src/events/domain/project-event.ts'

/** That many small log entries, one frame each, told apart by their number. */
export function roles(first: number, count: number, padding = ''): readonly NewProjectEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    kind: 'role.declared',
    role: `role-${first + index}${padding}`,
  }))
}

/** What the ids of a field name. */
export type EntityKind = keyof typeof entityWords

const ofField: Readonly<Record<string, EntityKind>> = {
  task_id: 'task',
  'task-id': 'task',
  'dep-id': 'task',
  planned_task_id: 'task',
  parent_task_id: 'task',
  depends_on: 'task',
  mission_id: 'mission',
  mission: 'mission',
  workflow_id: 'mission',
  phase_id: 'phase',
  phase: 'phase',
  milestone: 'milestone',
  run_id: 'run',
  process_id: 'process',
  process: 'process',
  person: 'person',
  token: 'token',
}

/** Where `id` or `name` names what the operation is about. */
const ofSubject: Readonly<Record<string, EntityKind>> = {
  task_drop: 'task',
  taskman_task_edit: 'task',
  taskman_task_note_add: 'task',
  plan_move: 'task',
  taskman_phase_edit: 'phase',
  taskman_milestone_edit: 'milestone',
  approve: 'item',
  reject: 'item',
  resolve: 'item',
  notify_edit: 'notification',
  notify_remove: 'notification',
  notify_test: 'notification',
}

/** Only what is open can be chosen there. */
const onlyOpen: readonly string[] = [
  'task_drop',
  'start_task',
  'complete_mission',
  'run_cancel',
  'run_migrate',
]

export function isOpenOnly(operation: string): boolean {
  return onlyOpen.includes(operation)
}

/** What the ids in a field of an operation name; null for a field without ids. */
export function entityKindOf(operation: string, field: string): EntityKind | null {
  if (operation === 'verify' && field === 'run_id') return 'work'
  const subject = ofSubject[operation]
  if (field === 'id' || (field === 'name' && subject === 'notification')) return subject ?? null
  return ofField[field] ?? null
}

export const entityWords = {
  work: 'Task or run',
  task: 'Task',
  mission: 'Mission',
  run: 'Run',
  phase: 'Phase',
  milestone: 'Milestone',
  item: 'Inbox item',
  process: 'Process',
  person: 'Person',
  token: 'Token',
  notification: 'Notification',
} as const

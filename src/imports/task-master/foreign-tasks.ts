import type { FieldReader } from '../field-reader.ts'

/** A task or subtask of Task Master as its file says it. */
export interface TaskMasterTask {
  readonly place: string
  /** `3`, or `3.1` for a subtask. */
  readonly id: string
  readonly parent: string | null
  readonly title: string
  readonly status: string | null
  readonly description: string | null
  readonly details: string | null
  readonly testStrategy: string | null
  readonly acceptanceCriteria: string | null
  readonly priority: string | null
  readonly dependencies: readonly string[]
  readonly createdAt: number | null
  readonly updatedAt: number | null
}

interface Waiting {
  readonly fields: FieldReader
  readonly parent: string | null
}

/** Tasks, each followed by its subtasks, however deep they are. */
export function foreignTasks(records: readonly FieldReader[]): readonly TaskMasterTask[] {
  const found: TaskMasterTask[] = []
  const waiting: Waiting[] = records.map((fields) => ({ fields, parent: null })).reverse()
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const task = foreignTask(next.fields, next.parent)
    found.push(task)
    const subtasks = next.fields.records('subtasks').map((fields) => ({ fields, parent: task.id }))
    waiting.push(...subtasks.reverse())
  }
  return found
}

function foreignTask(fields: FieldReader, parent: string | null): TaskMasterTask {
  const id = fields.text('id')
  // Said by the place of a subtask already.
  for (const said of ['parentTaskId', 'parentId', 'parentTask', 'isSubtask']) fields.ignore(said)
  return {
    place: fields.place,
    id: parent === null || id.startsWith(`${parent}.`) ? id : `${parent}.${id}`,
    parent,
    title: fields.text('title'),
    status: fields.textOrNull('status'),
    description: fields.textOrNull('description'),
    details: fields.textOrNull('details'),
    testStrategy: fields.textOrNull('testStrategy'),
    acceptanceCriteria: fields.textOrNull('acceptanceCriteria'),
    priority: fields.textOrNull('priority'),
    dependencies: fields.texts('dependencies'),
    createdAt: fields.instantOrNull('createdAt'),
    updatedAt: fields.instantOrNull('updatedAt'),
  }
}

import type { DocumentPhase, DocumentTask } from '../domain/plan/document.ts'
import {
  type FieldReader,
  fieldReader,
  isObject,
  type JsonObject,
  parsedJson,
  unreadFields,
} from './fields.ts'
import {
  descriptionText,
  distinctIds,
  done,
  dropped,
  foreignStatus,
  inProgress,
  phaseStatus,
  type StatusWords,
  toDo,
  unknownStatus,
} from './foreign-task.ts'
import { type ImportResult, judged, unreadable } from './import-result.ts'

/** Task Master's own tag, whose tasks keep their bare numbers. */
const mainTag = 'master'

/**
 * Reads `tasks.json` of Task Master, with tags (`{ "master": { "tasks": […] } }`) or without (`{ "tasks": […] }`). A tag
 * becomes a phase. Keys are the numbers: `3`, `3.1` for a subtask, `feature:3` in another tag than `master`.
 */
export function readTaskMaster(text: string): ImportResult {
  const parsed = parsedJson(text)
  if (!parsed.readable) return unreadable(`${parsed.place}: ${parsed.problem}`)
  if (!isObject(parsed.value)) return unreadable('file: this is no tasks.json of Task Master.')
  const tags = tagsOf(parsed.value)
  if (tags.length === 0)
    return unreadable('file: this is no tasks.json of Task Master: no list of tasks is in it.')
  const problems: string[] = []
  const notices: string[] = []
  const phases: DocumentPhase[] = []
  const tasks: DocumentTask[] = []
  const places: string[] = []
  const readers: FieldReader[] = []
  for (const { tag, place, value } of tags) {
    const list = fieldReader(value, place, problems).records('tasks')
    const found = taskMasterTasks(foreignTasks(list), { tag, prefix: tag === mainTag ? '' : `${tag}:` })
    readers.push(...list)
    tasks.push(...found.tasks)
    places.push(...found.places)
    notices.push(...found.notices)
    phases.push({ key: tag, name: tag, status: phaseStatus(found.tasks), sortOrder: null, foreignId: tag })
  }
  return judged({
    document: { phases, milestones: [], tasks },
    places: { phases: tags.map(({ place }) => place), milestones: [], tasks: places },
    problems,
    notices: [...notices, ...unreadFields(readers)],
  })
}

interface Tag {
  readonly tag: string
  readonly place: string
  readonly value: JsonObject
}

function tagsOf(file: JsonObject): readonly Tag[] {
  if (Array.isArray(file['tasks'])) return [{ tag: mainTag, place: 'file', value: file }]
  return Object.entries(file).flatMap(([tag, value]) =>
    isObject(value) && Array.isArray(value['tasks']) ? [{ tag, place: tag, value }] : [],
  )
}

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
function foreignTasks(records: readonly FieldReader[]): readonly TaskMasterTask[] {
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

interface Found {
  readonly tasks: readonly DocumentTask[]
  readonly places: readonly string[]
  readonly notices: readonly string[]
}

/** The tasks of one tag. */
function taskMasterTasks(
  foreign: readonly TaskMasterTask[],
  { tag, prefix }: { readonly tag: string; readonly prefix: string },
): Found {
  const known = new Set(foreign.map(({ id }) => id))
  const { keys, notices: renamed } = distinctIds(foreign)
  const notices = [...renamed]
  const tasks = foreign.map((task, at): DocumentTask => {
    const word = task.status ?? 'pending'
    const standing = foreignStatus(taskMasterStatuses, word)
    if (!standing) notices.push(unknownStatus(task.place, word))
    const { status, resolution, keepWord } = standing ?? { ...toDo, keepWord: true }
    const dependsOn = new Set<string>()
    for (const reference of task.dependencies) {
      const id = dependencyOf(task, reference, known)
      if (id !== null) dependsOn.add(`${prefix}${id}`)
      else notices.push(`${task.place}: left out: the dependency on ${reference}, which is not in the file.`)
    }
    return {
      key: `${prefix}${keys[at] ?? task.id}`,
      title: task.title,
      description: descriptionText([
        { title: null, text: task.description },
        { title: 'Details', text: task.details },
        { title: 'Test strategy', text: task.testStrategy },
        { title: 'Acceptance criteria', text: task.acceptanceCriteria },
        { title: 'Priority', text: task.priority },
        { title: 'Status in Task Master', text: keepWord ? word : null },
      ]),
      phase: tag,
      milestone: null,
      parent: task.parent === null ? null : `${prefix}${task.parent}`,
      role: null,
      status,
      resolution,
      sortOrder: null,
      dependsOn: [...dependsOn],
      notes: [],
      creator: null,
      createdAt: task.createdAt,
      updatedAt: task.updatedAt,
      foreignId: task.id,
    }
  })
  return { tasks, places: foreign.map(({ place }) => place), notices }
}

/** Within a subtask a bare number means a sibling, if there is one. */
function dependencyOf(task: TaskMasterTask, reference: string, known: ReadonlySet<string>): string | null {
  const sibling = `${task.parent}.${reference}`
  if (task.parent !== null && known.has(sibling)) return sibling
  return known.has(reference) ? reference : null
}

const taskMasterStatuses: StatusWords = {
  pending: toDo,
  inprogress: inProgress,
  review: { ...inProgress, keepWord: true },
  done,
  completed: done,
  deferred: { ...toDo, keepWord: true },
  blocked: { ...toDo, keepWord: true },
  cancelled: dropped,
  canceled: dropped,
}

import { z } from 'zod'
import { isJsonObject } from '../../kernel/json.ts'
import type { DocumentPhase, DocumentTask } from '../domain/document.ts'
import {
  foreignInstant,
  foreignRecord,
  foreignText,
  foreignTexts,
  type ImportObject,
  listOf,
  maybeText,
  parsedJson,
  passedOver,
  type ReadFields,
  readFields,
  unreadFields,
} from './fields.ts'
import {
  criteriaOf,
  descriptionText,
  distinctIds,
  done,
  doneWhenFrom,
  dropped,
  foreignStatus,
  inProgress,
  phaseStatusOfTasks,
  type StatusAliases,
  toDo,
  unknownStatus,
} from './foreign-task.ts'
import { type ImportResult, importResultOf, rejectedImport } from './import-result.ts'

interface TaskFields {
  readonly id: string
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
  readonly subtasks: readonly TaskFields[]
}

const task: z.ZodType<TaskFields> = foreignRecord({
  id: foreignText,
  title: foreignText,
  status: maybeText,
  description: maybeText,
  details: maybeText,
  testStrategy: maybeText,
  acceptanceCriteria: maybeText,
  priority: maybeText,
  dependencies: foreignTexts,
  createdAt: foreignInstant,
  updatedAt: foreignInstant,
  subtasks: listOf(z.lazy(() => task)),
  // Known from a subtask's location already.
  parentTaskId: passedOver,
  parentId: passedOver,
  parentTask: passedOver,
  isSubtask: passedOver,
})

const list = z.looseObject({ tasks: listOf(task) })

/** Task Master's default tag, whose tasks keep their plain numbers. */
const mainTag = 'master'

/** Reads Task Master's `tasks.json`, with or without tags. A tag becomes a phase. Keys: `3`, `3.1` for a subtask, `feature:3` in a tag. */
export function readTaskMaster(text: string): ImportResult {
  const parsed = parsedJson(text)
  if (!parsed.readable) return rejectedImport(`${parsed.place}: ${parsed.problem}`)
  if (!isJsonObject(parsed.value)) return rejectedImport('file: this is not a tasks.json of Task Master.')
  const tags = taskTagsOf(parsed.value)
  if (tags.length === 0)
    return rejectedImport('file: this is not a tasks.json of Task Master: no list of tasks is in it.')
  const problems: string[] = []
  const notices: string[] = []
  const phases: DocumentPhase[] = []
  const tasks: DocumentTask[] = []
  const places: string[] = []
  const lists: ReadFields<unknown>[] = []
  for (const { tag, place, value } of tags) {
    const read = readFields(list, value, { place, problems })
    const foreign = foreignTasks(read.fields.tasks, { place: `${place}.tasks`, parent: null })
    const found = taskMasterTasks(foreign, { tag, prefix: tag === mainTag ? '' : `${tag}:` })
    lists.push(read)
    tasks.push(...found.tasks)
    places.push(...found.places)
    notices.push(...found.notices)
    phases.push({
      key: tag,
      name: tag,
      status: phaseStatusOfTasks(found.tasks),
      sortOrder: null,
      foreignId: tag,
    })
  }
  return importResultOf({
    document: { phases, milestones: [], tasks },
    places: { phases: tags.map(({ place }) => place), milestones: [], tasks: places },
    problems,
    notices: [...notices, ...unreadFields(lists)],
  })
}

interface TaskMasterTag {
  readonly tag: string
  readonly place: string
  readonly value: ImportObject
}

function taskTagsOf(file: ImportObject): readonly TaskMasterTag[] {
  if (Array.isArray(file['tasks'])) return [{ tag: mainTag, place: 'file', value: file }]
  return Object.entries(file).flatMap(([tag, value]) =>
    isJsonObject(value) && Array.isArray(value['tasks']) ? [{ tag, place: tag, value }] : [],
  )
}

/** A task or subtask with its location. */
interface TaskMasterTask extends Omit<TaskFields, 'subtasks'> {
  readonly place: string
  /** `3`, or `3.1` for a subtask. */
  readonly id: string
  readonly parent: string | null
}

/** Tasks, each followed by its subtasks. */
function foreignTasks(
  tasks: readonly TaskFields[],
  { place, parent }: { readonly place: string; readonly parent: string | null },
): readonly TaskMasterTask[] {
  return tasks.flatMap(({ subtasks, ...task }, at) => {
    const id = parent === null || task.id.startsWith(`${parent}.`) ? task.id : `${parent}.${task.id}`
    const own = `${place}[${at}]`
    return [
      { ...task, id, place: own, parent },
      ...foreignTasks(subtasks, { place: `${own}.subtasks`, parent: id }),
    ]
  })
}

interface TaskMasterTasks {
  readonly tasks: readonly DocumentTask[]
  readonly places: readonly string[]
  readonly notices: readonly string[]
}

/** The tasks of one tag. */
function taskMasterTasks(
  foreign: readonly TaskMasterTask[],
  { tag, prefix }: { readonly tag: string; readonly prefix: string },
): TaskMasterTasks {
  const taskIds = new Set(foreign.map(({ id }) => id))
  const { keys, notices: renamed } = distinctIds(foreign)
  const notices = [...renamed]
  const tasks = foreign.map((task, at): DocumentTask => {
    const word = task.status ?? 'pending'
    const mapped = foreignStatus(taskMasterStatuses, word)
    if (!mapped) notices.push(unknownStatus(task.place, word))
    const { status, resolution, keepWord } = mapped ?? { ...toDo, keepWord: true }
    const dependsOn = new Set<string>()
    for (const reference of task.dependencies) {
      const id = dependencyOf(task, reference, taskIds)
      if (id !== null) dependsOn.add(`${prefix}${id}`)
      else notices.push(`${task.place}: left out: the dependency on ${reference}, which is not in the file.`)
    }
    const criteria = task.acceptanceCriteria === null ? null : criteriaOf(task.acceptanceCriteria)
    return {
      key: `${prefix}${keys[at] ?? task.id}`,
      title: task.title,
      description: descriptionText([
        { title: null, text: task.description },
        { title: 'Details', text: task.details },
        { title: 'Test strategy', text: task.testStrategy },
        { title: 'Acceptance criteria', text: criteria === null ? task.acceptanceCriteria : null },
        { title: 'Priority', text: task.priority },
        { title: 'Status in Task Master', text: keepWord ? word : null },
      ]),
      phase: tag,
      milestone: null,
      parent: task.parent === null ? null : `${prefix}${task.parent}`,
      role: null,
      assignee: null,
      areas: [],
      ...doneWhenFrom(criteria),
      status,
      resolution,
      sortOrder: null,
      dependsOn: [...dependsOn],
      notes: [],
      creator: null,
      createdAt: task.createdAt,
      updatedAt: task.updatedAt,
      // Numbers repeat in each tag.
      foreignId: `${prefix}${keys[at] ?? task.id}`,
    }
  })
  return { tasks, places: foreign.map(({ place }) => place), notices }
}

/** Within a subtask a plain number means a sibling, if it exists. */
function dependencyOf(task: TaskMasterTask, reference: string, taskIds: ReadonlySet<string>): string | null {
  const sibling = `${task.parent}.${reference}`
  if (task.parent !== null && taskIds.has(sibling)) return sibling
  return taskIds.has(reference) ? reference : null
}

const taskMasterStatuses: StatusAliases = {
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

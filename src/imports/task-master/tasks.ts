import type { DocumentTask } from '../../domain/plan/document/plan-document.ts'
import { descriptionText } from '../description-text.ts'
import { distinctIds } from '../distinct-ids.ts'
import { foreignStatus, toDo, unknownStatus } from '../foreign-status.ts'
import type { TaskMasterTask } from './foreign-tasks.ts'
import { taskMasterStatuses } from './statuses.ts'

interface Found {
  readonly tasks: readonly DocumentTask[]
  readonly places: readonly string[]
  readonly notices: readonly string[]
}

/** The tasks of one tag. */
export function taskMasterTasks(
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

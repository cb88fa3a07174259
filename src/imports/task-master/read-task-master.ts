import type { DocumentPhase, DocumentTask } from '../../domain/plan/document/plan-document.ts'
import { type FieldReader, fieldReader, isObject, type JsonObject } from '../field-reader.ts'
import { type ImportResult, judged, unreadable } from '../import-result.ts'
import { parsedJson } from '../parsed-json.ts'
import { phaseStatus } from '../phase-status.ts'
import { unreadFields } from '../unread-fields.ts'
import { foreignTasks } from './foreign-tasks.ts'
import { taskMasterTasks } from './tasks.ts'

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

import {
  type DocumentMilestone,
  type DocumentNote,
  type DocumentPhase,
  type DocumentTask,
  documentJson,
  documentResolutions,
  documentStatuses,
  milestoneJson,
  type PlanDocument,
  pathsOf,
  phaseJson,
  planJsonVersion,
  taskJson,
} from '../domain/plan/document.ts'
import { type FieldReader, fieldReader, isObject, jsonLines, parsedJson } from './fields.ts'
import { type ImportResult, judged, unreadable } from './import-result.ts'

/** Reads what `writePlanJson` writes. Unknown fields are problems, because they are most often misspelt. */
export function readPlanJson(text: string): ImportResult {
  const parsed = parsedJson(text)
  if (!parsed.readable) return unreadable(`${parsed.place}: ${parsed.problem}`)
  const problems: string[] = []
  const top = fieldReader(parsed.value, 'plan', problems)
  const version = top.numberOrNull('waymark_plan') ?? planJsonVersion
  if (version !== planJsonVersion) return unreadable(newerVersion('plan', version))
  const document: PlanDocument = {
    phases: top.records('phases').map(readPhase),
    milestones: top.records('milestones').map(readMilestone),
    tasks: top.records('tasks').map(readTask),
  }
  problems.push(...unknownFields(top))
  const own = problems.map((problem) => problem.replace(/^plan\./, ''))
  return judged({ document, places: pathsOf(document), problems: own, notices: [] })
}

/** Every field of the document, so that reading it again gives the same document. */
export function writePlanJson(document: PlanDocument): string {
  return `${JSON.stringify(documentJson(document), null, 2)}\n`
}

function newerVersion(place: string, version: number): string {
  return `${place}: the plan has version ${version}, and this Waymark reads version ${planJsonVersion}.`
}

function unknownFields(fields: FieldReader): readonly string[] {
  return fields.unread().map(({ place, name }) => `${place}: the field "${name}" is unknown.`)
}

interface Found<T> {
  readonly place: string
  readonly value: T
}

/** One entity a line, each with its `kind`: phase, milestone or task. */
export function readPlanJsonl(text: string): ImportResult {
  const { lines, problems } = jsonLines(text)
  const phases: Found<DocumentPhase>[] = []
  const milestones: Found<DocumentMilestone>[] = []
  const tasks: Found<DocumentTask>[] = []
  for (const { place, value } of lines) {
    const fields = fieldReader(value, place, problems)
    const kind = fields.choiceOrNull('kind', ['plan', 'phase', 'milestone', 'task'])
    if (kind === 'plan') {
      const version = fields.numberOrNull('version') ?? planJsonVersion
      if (version !== planJsonVersion) problems.push(newerVersion(place, version))
    }
    if (kind === 'phase') phases.push({ place, value: readPhase(fields) })
    if (kind === 'milestone') milestones.push({ place, value: readMilestone(fields) })
    if (kind === 'task') tasks.push({ place, value: readTask(fields) })
    if (kind !== null) problems.push(...unknownFields(fields))
    else if (missing(value))
      problems.push(`${place}: "kind" is missing; it is plan, phase, milestone or task.`)
  }
  const document = { phases: values(phases), milestones: values(milestones), tasks: values(tasks) }
  const places = { phases: placesOf(phases), milestones: placesOf(milestones), tasks: placesOf(tasks) }
  return judged({ document, places, problems, notices: [] })
}

export function writePlanJsonl({ phases, milestones, tasks }: PlanDocument): string {
  const lines = [
    { kind: 'plan', version: planJsonVersion },
    ...phases.map((phase) => ({ kind: 'phase', ...phaseJson(phase) })),
    ...milestones.map((milestone) => ({ kind: 'milestone', ...milestoneJson(milestone) })),
    ...tasks.map((task) => ({ kind: 'task', ...taskJson(task) })),
  ]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

function missing(value: unknown): boolean {
  return isObject(value) && (value['kind'] ?? null) === null
}

function values<T>(found: readonly Found<T>[]): readonly T[] {
  return found.map(({ value }) => value)
}

function placesOf(found: readonly Found<unknown>[]): readonly string[] {
  return found.map(({ place }) => place)
}

/** The form of each entity in JSON is read here, and written in `document-json.ts`. */
function readPhase(fields: FieldReader): DocumentPhase {
  return {
    key: fields.text('key'),
    name: fields.text('name'),
    status: fields.choice('status', documentStatuses, 'to_do'),
    sortOrder: fields.numberOrNull('sort_order'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

function readMilestone(fields: FieldReader): DocumentMilestone {
  return {
    key: fields.text('key'),
    phase: fields.text('phase'),
    name: fields.textOrNull('name'),
    criterion: fields.textOrNull('criterion'),
    reached: fields.flag('reached'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

function readTask(fields: FieldReader): DocumentTask {
  return {
    key: fields.text('key'),
    title: fields.text('title'),
    description: fields.textOrNull('description'),
    phase: fields.textOrNull('phase'),
    milestone: fields.textOrNull('milestone'),
    parent: fields.textOrNull('parent'),
    role: fields.textOrNull('role'),
    status: fields.choice('status', documentStatuses, 'to_do'),
    resolution: fields.choiceOrNull('resolution', documentResolutions),
    sortOrder: fields.numberOrNull('sort_order'),
    dependsOn: fields.texts('depends_on'),
    notes: fields.records('notes').map(readNote),
    creator: fields.textOrNull('creator'),
    createdAt: fields.instantOrNull('created_at'),
    updatedAt: fields.instantOrNull('updated_at'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

function readNote(fields: FieldReader): DocumentNote {
  return {
    content: fields.text('content'),
    kind: fields.textOrNull('kind'),
    role: fields.textOrNull('role'),
    author: fields.textOrNull('author'),
    createdAt: fields.instantOrNull('created_at'),
  }
}

import { instantOrNull } from '../../kernel/instant.ts'
import type { Resolution } from '../../track/domain/task.ts'
import { cycleText, everyCycle } from './cycles.ts'
import { type DoneWhenChanges, doneWhenJson, readDoneWhen } from './done-when.ts'

/** A plan to import or export: references are keys of the same document. Times are in milliseconds. */
export interface PlanDocument {
  readonly phases: readonly DocumentPhase[]
  readonly milestones: readonly DocumentMilestone[]
  readonly tasks: readonly DocumentTask[]
}

export const documentStatuses = ['to_do', 'in_progress', 'done'] as const
export type DocumentStatus = (typeof documentStatuses)[number]

export const documentResolutions = [
  'success',
  'partial_success',
  'unmeasured',
  'dropped',
] as const satisfies readonly Resolution[]

export interface DocumentPhase {
  readonly key: string
  readonly name: string
  readonly status: DocumentStatus
  /** Null keeps the list order. */
  readonly sortOrder: number | null
  /** Its id in another program. */
  readonly foreignId: string | null
}

export interface DocumentMilestone {
  readonly key: string
  readonly phase: string
  readonly name: string | null
  readonly criterion: string | null
  readonly reached: boolean
  readonly foreignId: string | null
}

export interface DocumentTask {
  readonly key: string
  readonly title: string
  readonly description: string | null
  readonly phase: string | null
  readonly milestone: string | null
  readonly parent: string | null
  readonly role: string | null
  /** The assignee; null for anyone. */
  readonly assignee: string | null
  /** Patterns of files that it may change. */
  readonly areas: readonly string[]
  /** What it promises; absent for nothing. */
  readonly doneWhen?: DoneWhenChanges
  readonly status: DocumentStatus
  /** Only for a done task; null without a measured attempt. */
  readonly resolution: Resolution | null
  readonly sortOrder: number | null
  readonly dependsOn: readonly string[]
  readonly notes: readonly DocumentNote[]
  readonly creator: string | null
  readonly createdAt: number | null
  readonly updatedAt: number | null
  readonly foreignId: string | null
}

export interface DocumentNote {
  readonly content: string
  readonly kind: string | null
  readonly role: string | null
  readonly author: string | null
  readonly createdAt: number | null
}

/** The location of each entity in the source: `line 12`, `tasks[3]`. */
export interface DocumentLocations {
  readonly phases: readonly string[]
  readonly milestones: readonly string[]
  readonly tasks: readonly string[]
}

const namedCycles = 20

/** The maximum length of a name or key, and of a text, in characters. */
const maxName = 2_000
const maxText = 100_000

/** All problems of a document with their locations. Empty for an acceptable one. */
export function documentProblems(
  document: PlanDocument,
  places: DocumentLocations = documentLocations(document),
): readonly string[] {
  const long = lengthProblems(document, places)
  if (long.length > 0) return long
  return [
    ...keyProblems('phase', document.phases, places.phases),
    ...keyProblems('milestone', document.milestones, places.milestones),
    ...keyProblems('task', document.tasks, places.tasks),
    ...nameProblems(document, places),
    ...milestoneProblems(document, places),
    ...foreignProblems('phase', document.phases, places.phases),
    ...foreignProblems('milestone', document.milestones, places.milestones),
    ...foreignProblems('task', document.tasks, places.tasks),
    ...document.tasks.flatMap(taskProblems(document, places)),
    ...cycleProblems(document, places),
  ]
}

/** The locations in the JSON form. */
export function documentLocations(document: PlanDocument): DocumentLocations {
  return {
    phases: document.phases.map((_, place) => `phases[${place}]`),
    milestones: document.milestones.map((_, place) => `milestones[${place}]`),
    tasks: document.tasks.map((_, place) => `tasks[${place}]`),
  }
}

/** Texts that are too long. Checked first, because other messages would repeat them. */
function lengthProblems(document: PlanDocument, places: DocumentLocations): readonly string[] {
  const found: string[] = []
  const checkLengths = (place: string | undefined, entity: object): void => {
    for (const [field, value] of Object.entries(entity)) {
      if (Array.isArray(value)) {
        for (const one of value) checkLengths(place, typeof one === 'object' ? one : { [field]: one })
      } else if (typeof value === 'string') {
        const maxLength =
          field === 'description' || field === 'content' || field === 'criterion' ? maxText : maxName
        if (value.length > maxLength)
          found.push(`${place}: "${field}" has ${value.length} characters; at most ${maxLength} are kept.`)
      }
    }
  }
  for (const [at, phase] of document.phases.entries()) checkLengths(places.phases[at], phase)
  for (const [at, milestone] of document.milestones.entries()) checkLengths(places.milestones[at], milestone)
  for (const [at, task] of document.tasks.entries()) checkLengths(places.tasks[at], task)
  return found
}

function foreignProblems(
  kind: string,
  entities: readonly { readonly key: string; readonly foreignId: string | null }[],
  places: readonly string[],
): readonly string[] {
  const first = new Map<string, { readonly key: string; readonly place: string }>()
  return entities.flatMap(({ key, foreignId }, at) => {
    if (foreignId === null) return []
    const place = places[at] ?? ''
    const earlier = first.get(foreignId)
    if (earlier && earlier.key !== key)
      return [
        `${place}: the foreign_id "${foreignId}" belongs to another ${kind} already (${earlier.place}).`,
      ]
    first.set(foreignId, { key, place })
    return []
  })
}

function keyProblems(
  kind: string,
  entities: readonly { readonly key: string }[],
  places: readonly string[],
): readonly string[] {
  const first = new Map<string, string>()
  return entities.flatMap(({ key }, at) => {
    const place = places[at] ?? ''
    if (key.trim() === '') return [`${place}: the ${kind} has an empty key.`]
    const earlier = first.get(key)
    if (earlier !== undefined) {
      return [`${place}: the key "${key}" belongs to another ${kind} already (${earlier}).`]
    }
    first.set(key, place)
    return []
  })
}

function nameProblems({ phases, tasks }: PlanDocument, places: DocumentLocations): readonly string[] {
  return [
    ...phases.flatMap(({ key, name }, at) =>
      name.trim() === '' ? [`${places.phases[at]}: the phase "${key}" has an empty name.`] : [],
    ),
    ...tasks.flatMap(({ key, title }, at) =>
      title.trim() === '' ? [`${places.tasks[at]}: the task "${key}" has an empty title.`] : [],
    ),
  ]
}

function milestoneProblems(
  { phases, milestones }: PlanDocument,
  places: DocumentLocations,
): readonly string[] {
  const phaseKeys = new Set(phases.map(({ key }) => key))
  return milestones.flatMap(({ key, phase }, at) =>
    phaseKeys.has(phase)
      ? []
      : [`${places.milestones[at]}: the milestone "${key}" belongs to the unknown phase "${phase}".`],
  )
}

function taskProblems(
  document: PlanDocument,
  places: DocumentLocations,
): (task: DocumentTask, at: number) => readonly string[] {
  const phases = new Set(document.phases.map(({ key }) => key))
  const milestones = new Map(document.milestones.map((milestone) => [milestone.key, milestone]))
  const tasks = new Set(document.tasks.map(({ key }) => key))
  return (task, at) => {
    const problem = (text: string): string => `${places.tasks[at]}: the task "${task.key}" ${text}`
    const milestone = task.milestone === null ? undefined : milestones.get(task.milestone)
    const found: string[] = []
    if (task.phase !== null && !phases.has(task.phase))
      found.push(problem(`is in the unknown phase "${task.phase}".`))
    if (task.milestone !== null && !milestone)
      found.push(problem(`leads to the unknown milestone "${task.milestone}".`))
    if (milestone && milestone.phase !== task.phase) {
      const home = task.phase === null ? 'no phase' : `the phase "${task.phase}"`
      found.push(
        problem(`is in ${home}, and its milestone "${milestone.key}" belongs to "${milestone.phase}".`),
      )
    }
    if (task.parent !== null && !tasks.has(task.parent))
      found.push(problem(`has the unknown parent "${task.parent}".`))
    if (task.resolution !== null && task.status !== 'done') {
      found.push(problem(`is ${task.status}, but has the resolution "${task.resolution}" of a done task.`))
    }
    if (task.doneWhen)
      found.push(...readDoneWhen(doneWhenJson(task.doneWhen), `${places.tasks[at]}.done_when`).problems)
    const checkedKeys = new Set<string>()
    for (const key of task.dependsOn) {
      if (!tasks.has(key)) found.push(problem(`depends on "${key}", which is not in the plan.`))
      else if (checkedKeys.has(key)) found.push(problem(`names its dependency "${key}" twice.`))
      checkedKeys.add(key)
    }
    return found
  }
}

function cycleProblems({ tasks }: PlanDocument, places: DocumentLocations): readonly string[] {
  const placeOf = new Map(tasks.map(({ key }, at) => [key, places.tasks[at] ?? '']))
  const cyclesOf = (
    edges: readonly (readonly [string, readonly string[]])[],
    message: string,
  ): readonly string[] =>
    everyCycle(new Map(edges), namedCycles).map(
      (cycle) => `${placeOf.get(cycle[0] ?? '') ?? ''}: ${message}: ${cycleText(cycle)}.`,
    )
  return [
    ...cyclesOf(
      tasks.map(({ key, dependsOn }) => [key, dependsOn]),
      'tasks depend on each other in a circle',
    ),
    ...cyclesOf(
      tasks.map(({ key, parent }) => [key, parent === null ? [] : [parent]]),
      'tasks are parts of each other in a circle',
    ),
  ]
}

type DocumentObject = Readonly<Record<string, unknown>>

export const planJsonVersion = 1

/** Every field of a document: reading it again gives the same document. */
export function documentJson({ phases, milestones, tasks }: PlanDocument) {
  return {
    waymark_plan: planJsonVersion,
    phases: phases.map(phaseJson),
    milestones: milestones.map(milestoneJson),
    tasks: tasks.map(taskJson),
  }
}

function phaseJson({ key, name, status, sortOrder, foreignId }: DocumentPhase): DocumentObject {
  return { key, name, status, ...nonNullFields({ sort_order: sortOrder, foreign_id: foreignId }) }
}

function milestoneJson({
  key,
  phase,
  name,
  criterion,
  reached,
  foreignId,
}: DocumentMilestone): DocumentObject {
  return {
    key,
    phase,
    ...nonNullFields({ name, criterion }),
    reached,
    ...nonNullFields({ foreign_id: foreignId }),
  }
}

function taskJson(task: DocumentTask): DocumentObject {
  const { key, title, description, phase, milestone, parent, role, assignee, status, resolution, creator } =
    task
  return {
    key,
    title,
    ...nonNullFields({
      description,
      phase,
      milestone,
      parent,
      role,
      assignee,
      areas: nullIfEmpty(task.areas),
      done_when: task.doneWhen ? doneWhenJson(task.doneWhen) : null,
    }),
    status,
    ...nonNullFields({
      resolution,
      sort_order: task.sortOrder,
      depends_on: nullIfEmpty(task.dependsOn),
      notes: nullIfEmpty(task.notes.map(noteJson)),
      creator,
      created_at: instantOrNull(task.createdAt),
      updated_at: instantOrNull(task.updatedAt),
      foreign_id: task.foreignId,
    }),
  }
}

function noteJson({ content, kind, role, author, createdAt }: DocumentNote): DocumentObject {
  return { content, ...nonNullFields({ kind, role, author, created_at: instantOrNull(createdAt) }) }
}

/** Omits nulls: absent and null are equivalent, and people read the file, too. */
function nonNullFields(fields: DocumentObject): DocumentObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function nullIfEmpty(list: readonly unknown[]): readonly unknown[] | null {
  return list.length === 0 ? null : list
}

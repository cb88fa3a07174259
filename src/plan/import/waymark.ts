import { z } from 'zod'
import { isJsonObject } from '../../kernel/json.ts'
import {
  type DocumentMilestone,
  type DocumentPhase,
  type DocumentTask,
  documentLocations,
  documentResolutions,
  documentStatuses,
  planJsonVersion,
} from '../domain/document.ts'
import { readDoneWhen } from '../domain/done-when.ts'
import {
  camelKeys,
  flag,
  foreignChoice,
  foreignInstant,
  foreignRecord,
  foreignText,
  foreignTexts,
  jsonLines,
  listOf,
  maybeText,
  number,
  parsedJson,
  type ReadFields,
  readFields,
} from './fields.ts'
import { type ImportResult, importResultOf, rejectedImport } from './import-result.ts'

// The JSON form of each entity; `document.ts` writes it.

const status = foreignChoice(documentStatuses).transform((value) => value ?? 'to_do')

const phase: z.ZodType<DocumentPhase> = foreignRecord({
  key: foreignText,
  name: foreignText,
  status,
  sort_order: number,
  foreign_id: maybeText,
}).transform(camelKeys)

const milestone: z.ZodType<DocumentMilestone> = foreignRecord({
  key: foreignText,
  phase: foreignText,
  name: maybeText,
  criterion: maybeText,
  reached: flag,
  foreign_id: maybeText,
}).transform(camelKeys)

const note = foreignRecord({
  content: foreignText,
  kind: maybeText,
  role: maybeText,
  author: maybeText,
  created_at: foreignInstant,
}).transform(camelKeys)

const task: z.ZodType<DocumentTask> = foreignRecord({
  key: foreignText,
  title: foreignText,
  description: maybeText,
  phase: maybeText,
  milestone: maybeText,
  parent: maybeText,
  role: maybeText,
  assignee: maybeText,
  areas: foreignTexts,
  done_when: z.unknown().optional(),
  status,
  resolution: foreignChoice(documentResolutions),
  sort_order: number,
  depends_on: foreignTexts,
  notes: listOf(note),
  creator: maybeText,
  created_at: foreignInstant,
  updated_at: foreignInstant,
  foreign_id: maybeText,
}).transform((fields, context) => {
  const { doneWhen: written, ...rest } = camelKeys(fields)
  if (written == null) return rest
  const { changes, problems } = readDoneWhen(written, 'done_when')
  for (const problem of problems) context.addIssue({ code: 'custom', message: problem })
  return { ...rest, doneWhen: changes }
})

const plan = foreignRecord({
  waymark_plan: number,
  phases: listOf(phase),
  milestones: listOf(milestone),
  tasks: listOf(task),
})

/** Reads an export. Unknown fields are problems, because they are usually typos. */
export function readPlanJson(written: string): ImportResult {
  const parsed = parsedJson(written)
  if (!parsed.readable) return rejectedImport(`${parsed.place}: ${parsed.problem}`)
  const problems: string[] = []
  const read = readFields(plan, parsed.value, { place: 'plan', problems })
  const { waymark_plan: version, ...document } = read.fields
  if (version !== null && version !== planJsonVersion) return rejectedImport(newerVersion('plan', version))
  problems.push(...unknownFields(read))
  const own = problems.map((problem) => problem.replace(/^plan\./, ''))
  return importResultOf({ document, places: documentLocations(document), problems: own, notices: [] })
}

function newerVersion(place: string, version: number): string {
  return `${place}: the plan has version ${version}, and this Waymark reads version ${planJsonVersion}.`
}

function unknownFields({ unread }: Pick<ReadFields<unknown>, 'unread'>): readonly string[] {
  return unread.map(({ place, name }) => `${place}: the field "${name}" is unknown.`)
}

const line = z.looseObject({ kind: foreignChoice(['plan', 'phase', 'milestone', 'task']) })
const head = foreignRecord({ version: number })

/** One entity per line, each with its `kind`: phase, milestone or task. */
export function readPlanJsonl(written: string): ImportResult {
  const { lines, problems } = jsonLines(written)
  const phases: ReadFields<DocumentPhase>[] = []
  const milestones: ReadFields<DocumentMilestone>[] = []
  const tasks: ReadFields<DocumentTask>[] = []
  for (const { place, value } of lines) {
    const target = { place, problems }
    const { kind, ...fields } = readFields(line, value, target).fields
    if (kind === null && isJsonObject(value) && (value['kind'] ?? null) === null) {
      problems.push(`${place}: "kind" is missing; it is plan, phase, milestone or task.`)
    }
    if (kind === 'plan') {
      const { version } = readFields(head, fields, target).fields
      if (version !== null && version !== planJsonVersion) problems.push(newerVersion(place, version))
    }
    if (kind === 'phase') phases.push(readFields(phase, fields, target))
    if (kind === 'milestone') milestones.push(readFields(milestone, fields, target))
    if (kind === 'task') tasks.push(readFields(task, fields, target))
  }
  problems.push(...[...phases, ...milestones, ...tasks].flatMap(unknownFields))
  const document = { phases: values(phases), milestones: values(milestones), tasks: values(tasks) }
  const places = { phases: placesOf(phases), milestones: placesOf(milestones), tasks: placesOf(tasks) }
  return importResultOf({ document, places, problems, notices: [] })
}

function values<Fields>(read: readonly ReadFields<Fields>[]): readonly Fields[] {
  return read.map(({ fields }) => fields)
}

function placesOf(read: readonly ReadFields<unknown>[]): readonly string[] {
  return read.map(({ place }) => place)
}

import {
  milestoneJson,
  phaseJson,
  planJsonVersion,
  taskJson,
} from '../../domain/plan/document/document-json.ts'
import type {
  DocumentMilestone,
  DocumentPhase,
  DocumentTask,
  PlanDocument,
} from '../../domain/plan/document/plan-document.ts'
import { fieldReader, isObject } from '../field-reader.ts'
import { type ImportResult, judged } from '../import-result.ts'
import { jsonLines } from '../json-lines.ts'
import { readMilestone, readPhase, readTask } from './document-fields.ts'
import { newerVersion, unknownFields } from './plan-json.ts'

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

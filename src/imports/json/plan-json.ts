import { documentJson, planJsonVersion } from '../../domain/plan/document/document-json.ts'
import { pathsOf } from '../../domain/plan/document/document-problems.ts'
import type { PlanDocument } from '../../domain/plan/document/plan-document.ts'
import { type FieldReader, fieldReader } from '../field-reader.ts'
import { type ImportResult, judged, unreadable } from '../import-result.ts'
import { parsedJson } from '../parsed-json.ts'
import { readMilestone, readPhase, readTask } from './document-fields.ts'

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

export function newerVersion(place: string, version: number): string {
  return `${place}: the plan has version ${version}, and this Waymark reads version ${planJsonVersion}.`
}

export function unknownFields(fields: FieldReader): readonly string[] {
  return fields.unread().map(({ place, name }) => `${place}: the field "${name}" is unknown.`)
}

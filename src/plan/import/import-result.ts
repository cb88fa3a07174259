import type { PlanDocument } from '../domain/document.ts'
import { type DocumentLocations, documentProblems } from '../domain/document.ts'

/** A file as it was read. Paths have `/`, and are shown in messages. */
export interface SourceText {
  readonly path: string
  readonly text: string
}

/** All of a plan, or nothing of it and every reason. */
export type ImportResult =
  | {
      readonly accepted: true
      readonly document: PlanDocument
      /** What was left out or read otherwise than written, one sentence each with its place. */
      readonly notices: readonly string[]
    }
  | { readonly accepted: false; readonly problems: readonly string[]; readonly notices: readonly string[] }

/** What a parser found, before it is judged. */
interface PlanDraft {
  readonly document: PlanDocument
  readonly places: DocumentLocations
  /** What made the text unreadable. */
  readonly problems: readonly string[]
  readonly notices: readonly string[]
}

/** Tasks, phases and milestones. Recording more of them at once takes minutes. */
const maxEntries = 50_000

export function importResultOf({ document, places, problems, notices }: PlanDraft): ImportResult {
  const count = document.tasks.length + document.phases.length + document.milestones.length
  if (count > maxEntries) {
    return rejectedImport(
      `The plan has ${count} tasks, phases and milestones; at most ${maxEntries} are imported at once.`,
    )
  }
  const all = [...problems, ...documentProblems(document, places)]
  return all.length === 0
    ? { accepted: true, document, notices }
    : { accepted: false, problems: all, notices }
}

export function rejectedImport(problem: string): ImportResult {
  return { accepted: false, problems: [problem], notices: [] }
}

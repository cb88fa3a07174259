import type { PlanDocument } from '../domain/document.ts'
import { type DocumentLocations, documentProblems } from '../domain/document.ts'

/** A source file. Paths use `/`, and appear in messages. */
export interface SourceText {
  readonly path: string
  readonly text: string
}

/** A whole plan, or the reasons why it was rejected. */
export type ImportResult =
  | {
      readonly accepted: true
      readonly document: PlanDocument
      /** Parts that were left out or changed, a sentence each with its location. */
      readonly notices: readonly string[]
    }
  | { readonly accepted: false; readonly problems: readonly string[]; readonly notices: readonly string[] }

/** A parsed plan before it is checked. */
interface PlanDraft {
  readonly document: PlanDocument
  readonly places: DocumentLocations
  /** Problems that made the text unreadable. */
  readonly problems: readonly string[]
  readonly notices: readonly string[]
}

/** The limit of tasks, phases and milestones. Recording more at once takes minutes. */
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

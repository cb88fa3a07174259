import type { PlanDocument } from '../domain/plan/document/plan-document.ts'

export const planFormats = [
  'markdown',
  'json',
  'jsonl',
  'task-master',
  'backlog',
  'beads',
  'taskman',
  'journal',
] as const
export type PlanFormat = (typeof planFormats)[number]

/** What a file of plans turned out to be. */
export type LoadedPlan =
  | {
      readonly kind: 'plan'
      readonly format: Exclude<PlanFormat, 'journal'>
      readonly document: PlanDocument
      /** What was left out or read otherwise than written, one sentence each with its place. */
      readonly notices: readonly string[]
    }
  | { readonly kind: 'journal'; readonly lines: readonly string[] }

/** Reads plans from outside. */
export interface PlanFiles {
  /**
   * Reads a file or a folder, as the format says or as its name and content show. Fails with NOT_FOUND when there is
   * nothing, with INVALID_INPUT and every problem when it is no acceptable plan.
   */
  load(path: string, format: PlanFormat | undefined): Promise<LoadedPlan>
}

import type { DocumentStatus } from '../domain/plan/document/plan-document.ts'

/** A phase without a status of its own is as far as its tasks are. */
export function phaseStatus(tasks: readonly { readonly status: DocumentStatus }[]): DocumentStatus {
  if (tasks.every(({ status }) => status === 'to_do')) return 'to_do'
  return tasks.every(({ status }) => status === 'done') ? 'done' : 'in_progress'
}

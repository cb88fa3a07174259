import type { DocumentTask, PlanDocument } from '../../src/plan/domain/document.ts'

/** A task to do without anything else, unless a test says otherwise. */
export function aDocumentTask(key: string, changes: Partial<DocumentTask> = {}): DocumentTask {
  return {
    key,
    title: `Task ${key}`,
    description: null,
    phase: null,
    milestone: null,
    parent: null,
    role: null,
    assignee: null,
    areas: [],
    status: 'to_do',
    resolution: null,
    sortOrder: null,
    dependsOn: [],
    notes: [],
    creator: null,
    createdAt: null,
    updatedAt: null,
    foreignId: null,
    ...changes,
  }
}

export function aDocument(tasks: readonly DocumentTask[], changes: Partial<PlanDocument> = {}): PlanDocument {
  return { phases: [], milestones: [], tasks, ...changes }
}

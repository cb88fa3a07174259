import { instantOrNull } from '../../instant.ts'
import type {
  DocumentMilestone,
  DocumentNote,
  DocumentPhase,
  DocumentTask,
  PlanDocument,
} from './plan-document.ts'

type JsonObject = Readonly<Record<string, unknown>>

export const planJsonVersion = 1

/** Every field of a document, so that reading it again gives the same document. */
export function documentJson({ phases, milestones, tasks }: PlanDocument) {
  return {
    waymark_plan: planJsonVersion,
    phases: phases.map(phaseJson),
    milestones: milestones.map(milestoneJson),
    tasks: tasks.map(taskJson),
  }
}

export function phaseJson({ key, name, status, sortOrder, foreignId }: DocumentPhase): JsonObject {
  return { key, name, status, ...given({ sort_order: sortOrder, foreign_id: foreignId }) }
}

export function milestoneJson({
  key,
  phase,
  name,
  criterion,
  reached,
  foreignId,
}: DocumentMilestone): JsonObject {
  return { key, phase, ...given({ name, criterion }), reached, ...given({ foreign_id: foreignId }) }
}

export function taskJson(task: DocumentTask): JsonObject {
  const { key, title, description, phase, milestone, parent, role, status, resolution, creator } = task
  return {
    key,
    title,
    ...given({ description, phase, milestone, parent, role }),
    status,
    ...given({
      resolution,
      sort_order: task.sortOrder,
      depends_on: orNull(task.dependsOn),
      notes: orNull(task.notes.map(noteJson)),
      creator,
      created_at: instantOrNull(task.createdAt),
      updated_at: instantOrNull(task.updatedAt),
      foreign_id: task.foreignId,
    }),
  }
}

function noteJson({ content, kind, role, author, createdAt }: DocumentNote): JsonObject {
  return { content, ...given({ kind, role, author, created_at: instantOrNull(createdAt) }) }
}

/** Without what is null: absent and null are read alike, and a file is for people too. */
function given(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function orNull(list: readonly unknown[]): readonly unknown[] | null {
  return list.length === 0 ? null : list
}

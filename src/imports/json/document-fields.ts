import {
  type DocumentMilestone,
  type DocumentNote,
  type DocumentPhase,
  type DocumentTask,
  documentResolutions,
  documentStatuses,
} from '../../domain/plan/document/plan-document.ts'
import type { FieldReader } from '../field-reader.ts'

/** The form of each entity in JSON is read here, and written in `document-json.ts`. */
export function readPhase(fields: FieldReader): DocumentPhase {
  return {
    key: fields.text('key'),
    name: fields.text('name'),
    status: fields.choice('status', documentStatuses, 'to_do'),
    sortOrder: fields.numberOrNull('sort_order'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

export function readMilestone(fields: FieldReader): DocumentMilestone {
  return {
    key: fields.text('key'),
    phase: fields.text('phase'),
    name: fields.textOrNull('name'),
    criterion: fields.textOrNull('criterion'),
    reached: fields.flag('reached'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

export function readTask(fields: FieldReader): DocumentTask {
  return {
    key: fields.text('key'),
    title: fields.text('title'),
    description: fields.textOrNull('description'),
    phase: fields.textOrNull('phase'),
    milestone: fields.textOrNull('milestone'),
    parent: fields.textOrNull('parent'),
    role: fields.textOrNull('role'),
    status: fields.choice('status', documentStatuses, 'to_do'),
    resolution: fields.choiceOrNull('resolution', documentResolutions),
    sortOrder: fields.numberOrNull('sort_order'),
    dependsOn: fields.texts('depends_on'),
    notes: fields.records('notes').map(readNote),
    creator: fields.textOrNull('creator'),
    createdAt: fields.instantOrNull('created_at'),
    updatedAt: fields.instantOrNull('updated_at'),
    foreignId: fields.textOrNull('foreign_id'),
  }
}

function readNote(fields: FieldReader): DocumentNote {
  return {
    content: fields.text('content'),
    kind: fields.textOrNull('kind'),
    role: fields.textOrNull('role'),
    author: fields.textOrNull('author'),
    createdAt: fields.instantOrNull('created_at'),
  }
}

import type { Resolution } from '../../track/task.ts'

/** A plan on its way in or out: every reference is a key of the same document. Times are milliseconds since the epoch. */
export interface PlanDocument {
  readonly phases: readonly DocumentPhase[]
  readonly milestones: readonly DocumentMilestone[]
  readonly tasks: readonly DocumentTask[]
}

export const documentStatuses = ['to_do', 'in_progress', 'done'] as const
export type DocumentStatus = (typeof documentStatuses)[number]

export const documentResolutions = [
  'success',
  'partial_success',
  'claimed',
  'dropped',
] as const satisfies readonly Resolution[]

export interface DocumentPhase {
  readonly key: string
  readonly name: string
  readonly status: DocumentStatus
  /** Null keeps the place in the list. */
  readonly sortOrder: number | null
  /** What another program calls it. */
  readonly foreignId: string | null
}

export interface DocumentMilestone {
  readonly key: string
  readonly phase: string
  readonly name: string | null
  readonly criterion: string | null
  readonly reached: boolean
  readonly foreignId: string | null
}

export interface DocumentTask {
  readonly key: string
  readonly title: string
  readonly description: string | null
  readonly phase: string | null
  readonly milestone: string | null
  readonly parent: string | null
  readonly role: string | null
  readonly status: DocumentStatus
  /** Only of a done task; null is somebody's word. */
  readonly resolution: Resolution | null
  readonly sortOrder: number | null
  readonly dependsOn: readonly string[]
  readonly notes: readonly DocumentNote[]
  readonly creator: string | null
  readonly createdAt: number | null
  readonly updatedAt: number | null
  readonly foreignId: string | null
}

export interface DocumentNote {
  readonly content: string
  readonly kind: string | null
  readonly role: string | null
  readonly author: string | null
  readonly createdAt: number | null
}

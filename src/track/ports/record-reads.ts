import type { MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Decision, Issue, Progress } from '../domain/records.ts'

export interface RecordFilter {
  readonly missionId?: MissionId
  readonly taskId?: TaskId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** Said, or for a closed inbox item answered, at or after, milliseconds since the epoch. */
  readonly since?: number
}

/** What agents said: newest first. `unblocking` leaves out the issues that wait for a person. */
export interface RecordReads {
  decisions(filter: RecordFilter, request: PageRequest): Promise<Page<Decision>>
  issues(filter: RecordFilter & { readonly unblocking?: boolean }, request: PageRequest): Promise<Page<Issue>>
  progress(filter: RecordFilter, request: PageRequest): Promise<Page<Progress>>
  issue(id: string): Promise<Issue | null>
}

import type { MissionId, PhaseId, TaskId } from '../../kernel/id.ts'
import type { Page, PageRequest } from '../../kernel/page.ts'
import type { Decision, Issue, Progress } from '../domain/records.ts'

export interface RecordFilter {
  readonly missionId?: MissionId
  readonly taskId?: TaskId
  readonly phaseId?: PhaseId
  readonly agent?: string
  /** The earliest time of the record, or of the answer of a closed inbox item, in milliseconds. */
  readonly since?: number
}

/** Records of agents, newest first. `unblocking` excludes issues that need a person. */
export interface RecordReads {
  decisions(filter: RecordFilter, request: PageRequest): Promise<Page<Decision>>
  issues(filter: RecordFilter & { readonly unblocking?: boolean }, request: PageRequest): Promise<Page<Issue>>
  progress(filter: RecordFilter, request: PageRequest): Promise<Page<Progress>>
  issue(id: string): Promise<Issue | null>
  decision(id: string): Promise<Decision | null>
}

import type { MissionId } from '../../kernel/id.ts'
import type { StatRecords } from '../domain/stats.ts'

export interface StatsFilter {
  /** Only what ended at or after, milliseconds since the epoch. */
  readonly since: number | null
  readonly missionId: MissionId | null
  /** Most rows of each kind, newest first. */
  readonly limit: number
}

export interface StatReads {
  /** What figures are made of, by a fixed number of queries. `isCut` says that older rows were left out. */
  records(scope: StatsFilter): Promise<{ readonly records: StatRecords; readonly isCut: boolean }>
}

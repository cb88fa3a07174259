import type { MissionId } from '../../kernel/id.ts'
import type { StatRecords } from '../domain/stats.ts'

export interface StatsFilter {
  /** Only what ended at or after this time, in milliseconds. */
  readonly since: number | null
  readonly missionId: MissionId | null
  /** Whether the models of attempts are read, too. */
  readonly hasModels?: boolean
  /** The maximum of rows of each kind, newest first. */
  readonly limit: number
}

export interface StatReads {
  /** The records for figures, read with a fixed number of queries. `isCut` means that older rows were left out. */
  records(scope: StatsFilter): Promise<{ readonly records: StatRecords; readonly isCut: boolean }>
}

import type { Reads } from '../../ports/store.ts'
import { journalReads } from '../journal/journal.ts'
import { holdReads } from './hold.ts'
import { missionReads } from './mission.ts'
import { planReads } from './plan.ts'
import { recordReads } from './records.ts'
import { runReads } from './run.ts'
import { identityReads } from './secret.ts'
import type { ReadScope } from './tables.ts'
import { taskReads } from './task-reads.ts'
import { timelineReads } from './timeline.ts'

export function readsOf(scope: ReadScope): Reads {
  return {
    missions: missionReads(scope),
    tasks: taskReads(scope),
    timeline: timelineReads(scope),
    plan: planReads(scope),
    records: recordReads(scope),
    holds: holdReads(scope),
    runs: runReads(scope),
    identities: identityReads(scope),
    journal: journalReads(scope),
  }
}

import type { Reads } from '../../ports/store.ts'
import { holdReads } from './hold-reads.ts'
import { journalReads } from './journal-reads.ts'
import { missionReads } from './mission-reads.ts'
import { planReads } from './plan/plan-reads.ts'
import { recordReads } from './record-reads.ts'
import { runReads } from './run/run-reads.ts'
import type { ReadScope } from './scope.ts'
import { taskReads } from './task-reads.ts'
import { timelineReads } from './timeline-reads.ts'

export function readsOf(scope: ReadScope): Reads {
  return {
    missions: missionReads(scope),
    tasks: taskReads(scope),
    timeline: timelineReads(scope),
    plan: planReads(scope),
    records: recordReads(scope),
    holds: holdReads(scope),
    runs: runReads(scope),
    journal: journalReads(scope),
  }
}

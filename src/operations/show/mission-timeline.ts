import { z } from 'zod'
import { instant } from '../../domain/instant.ts'
import { shownStatus } from '../../domain/track/mission.ts'
import type { Reads } from '../../ports/store.ts'
import { findMission } from '../find/entities.ts'
import { count, identifier } from '../input/fields.ts'
import { missionRuns } from '../mission/mission-runs.ts'
import { defineOperation } from '../operation.ts'
import { timelineAttempt, timelineMarks, timelineTask } from './timeline-entries.ts'
import { attemptFields, lineFields, markFields, timelineTaskFields } from './timeline-fields.ts'

export const missionTimeline = defineOperation({
  name: 'mission_timeline',
  command: 'mission timeline',
  toolset: 'track',
  audience: 'both',
  title: 'The timeline of a mission',
  description:
    'Phases, tasks and attempts of a mission with their times, what was measured, and what was said when.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission or workflow (m-…, w-…)'),
    limit: count('How many of the last attempts, and of each kind of mark; default 2000', 10_000).optional(),
  }),
  output: z.looseObject({
    id: z.string(),
    name: z.string(),
    objective: z.string().nullable(),
    scope: z.string().nullable(),
    status: z.string(),
    created_at: z.string(),
    completed_at: z.string().nullable(),
    phases: z.array(z.looseObject({ id: z.string(), name: z.string(), status: z.string() })),
    tasks: z.array(timelineTaskFields),
    attempts: z.array(attemptFields),
    marks: z.array(markFields),
    runs: z.array(
      z.looseObject({
        run_id: z.string(),
        process_id: z.string(),
        status: z.string(),
        current_state: z.string(),
      }),
    ),
    completed_despite: z.array(z.string()),
    totals: lineFields.extend({
      tasks: z.int(),
      done: z.int(),
      attempts: z.int(),
      files_changed: z.int(),
      decisions: z.int(),
      issues: z.int(),
    }),
  }),
}).handler(({ store }, input) => store.view((reads) => timelineOf(reads, input.id, input.limit ?? 2000)))

async function timelineOf(reads: Reads, id: string, limit: number) {
  const mission = await findMission(reads, id)
  const phases = await reads.missions.phases(mission.id)
  const now = await reads.missions.now(mission.id)
  const whole = await reads.missions.totals(mission.id)
  const tasks = await reads.timeline.tasks(mission.id, limit)
  const attempts = await reads.timeline.attempts(mission.id, limit)
  const lines = await reads.timeline.lines(mission.id, limit)
  const said = await timelineMarks(reads, mission.id, limit)
  const sums = [...lines.values()]
  return {
    id: mission.id,
    name: mission.name,
    objective: mission.objective,
    scope: mission.scope,
    status: shownStatus(mission, now),
    created_at: instant(mission.createdAt),
    completed_at: mission.completedAt === null ? null : instant(mission.completedAt),
    phases: phases.map((phase) => ({ id: phase.id, name: phase.name, status: phase.status })),
    tasks: tasks.map(timelineTask),
    attempts: attempts.map((attempt) => timelineAttempt(attempt, lines.get(attempt.id))),
    marks: said.marks,
    ...(await missionRuns(reads, mission)),
    totals: {
      tasks: tasks.length,
      done: tasks.filter(({ standing }) => standing === 'done').length,
      attempts: await reads.timeline.attemptsTotal(mission.id),
      files_changed: whole.distinctFilesChanged,
      decisions: said.decisions,
      issues: said.issues,
      ...(await reads.missions.lines(mission.id)),
      out_of_scope: sums.reduce((sum, { outOfScope }) => sum + outOfScope, 0),
    },
  }
}

import { z } from 'zod'
import type { Evidence } from '../../domain/fact.ts'
import { instant, secondsBetween } from '../../domain/instant.ts'
import { completionReport } from '../../domain/track/completion-report.ts'
import { waitingOf } from '../../domain/track/holds-gate.ts'
import type { Phase } from '../../domain/track/mission.ts'
import type { Hold } from '../../domain/track/records.ts'
import type { Attempt, Task } from '../../domain/track/task.ts'

const paths = z.array(z.string())

/** What a report adds where several agents share a work tree, or the agent's words go further than the measurement. */
export const sharedTreeFields = {
  contested_files: z
    .array(z.strictObject({ path: z.string(), perhaps: paths.readonly() }))
    .readonly()
    .optional(),
  contested_files_total: z.int().optional(),
  commits: z.array(z.strictObject({ id: z.string(), subject: z.string(), by: z.string() })).optional(),
  commits_total: z.int().optional(),
  claimed_paths: z
    .array(z.strictObject({ path: z.string(), found: z.string() }))
    .readonly()
    .optional(),
  areas_added: paths.readonly().optional(),
}

export const completionShape = z.looseObject({
  task_id: z.string(),
  attempt_id: z.string(),
  duration_seconds: z.int(),
  /** Null in a preview. */
  completed_at: z.string().nullable(),
  files_changed: z.looseObject({
    added: paths,
    modified: paths,
    deleted: paths,
    renamed: z.array(z.looseObject({ from: z.string(), to: z.string() })),
  }),
  counts: z.looseObject({}),
  details: z.array(z.looseObject({})),
  ...sharedTreeFields,
  ignored: z.looseObject({ added: paths, modified: paths, deleted: paths }),
  verification: z.looseObject({
    status: z.string(),
    scope_match: z.boolean().nullable(),
    unexpected_files: paths,
    warnings: z.array(z.string()),
  }),
  waits_for: z
    .array(z.strictObject({ hold_id: z.string(), kind: z.string(), question: z.string() }))
    .optional(),
  settled: z.literal(false).optional(),
  phase_id: z.string().nullable().optional(), // answers that were kept earlier have none
  phase_status: z.string().nullable(),
  phase_number: z.int().nullable(),
})

/** What complete_task answers: the seed's keys, then what was measured in detail. */
export function completionAnswer(done: {
  readonly task: Task
  readonly attempt: Attempt
  readonly phase: Phase | null
  readonly evidence: Evidence
  readonly at: number
  /** What waits for a person about the task, and whether it holds up what depends on it. */
  readonly waiting: readonly Hold[]
  readonly unsettled: boolean
}): z.output<typeof completionShape> {
  const report = completionReport(done.evidence, done.task.id)
  return completionShape.parse({
    task_id: done.task.id,
    attempt_id: done.attempt.id,
    duration_seconds: secondsBetween(done.attempt.openedAt, done.at),
    completed_at: instant(done.at),
    ...report,
    waits_for: done.waiting.map(waitingOf),
    ...(done.unsettled && { settled: false }),
    phase_id: done.phase?.id ?? null,
    phase_status: done.phase?.status ?? null,
    phase_number: done.phase?.number ?? null,
  })
}

import { z } from 'zod'
import { instant } from '../../../kernel/instant.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { runProgress } from '../../domain/transitions.ts'
import { MessageEntry, RunProgressEntry, runStatus } from '../run-answer.ts'
import { engineRun } from './evidence.ts'
import { loadRun, runField } from './find-run.ts'
import { runRemarks } from './remarks.ts'

export const runSummary = defineOperation({
  name: 'run_summary',
  command: 'run summary',
  toolset: 'gate',
  audience: 'both',
  title: 'Show the path of a run through its process',
  description: 'Show the states that a run has passed, and those that it can still reach.',
  kind: 'query',
  positional: ['run_id'],
  input: z.strictObject({ run_id: runField }),
  output: z.object({
    run_id: z.string(),
    process: z.object({ id: z.string(), version: z.string(), name: z.string() }),
    status: runStatus,
    current_state: z.string(),
    revision: z.int(),
    progress: RunProgressEntry,
    messages: list(MessageEntry).optional(),
    mission_id: z.string().nullable(),
    task_id: z.string().nullable(),
    created_at: z.string(),
    updated_at: z.string(),
  }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const loaded = await loadRun(reads, input.run_id)
    const { record, definition } = loaded
    const messages = await runRemarks(reads, record)
    const progress = runProgress(definition, engineRun(loaded, new Map()))
    return {
      run_id: record.id,
      process: { id: record.process.id, version: record.process.version, name: record.process.name },
      status: record.status,
      current_state: record.state,
      revision: record.revision,
      progress: {
        completed_states: [...progress.completedStates],
        current_state: progress.currentState,
        remaining_states: [...progress.remainingStates],
        fewest_steps_to_end: progress.fewestStepsToEnd,
      },
      ...(messages.length > 0 && { messages }),
      mission_id: record.missionId,
      task_id: record.taskId,
      created_at: instant(record.createdAt),
      updated_at: instant(record.updatedAt),
    }
  }),
)

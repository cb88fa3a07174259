import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { text } from '../../../kernel/operations/input/fields.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { cancelRun } from '../../domain/lifecycle.ts'
import { callerOfRun, findRun, runField } from './find-run.ts'

export const runCancel = defineOperation({
  name: 'run_cancel',
  command: 'run cancel',
  toolset: 'gate',
  audience: 'person',
  title: 'Cancel a run',
  description:
    'Cancel a run in its current state. What it gates then needs another run of the same process, or a person to complete it.',
  kind: 'command',
  destructive: true,
  positional: ['run_id', 'reason'],
  input: z.strictObject({ run_id: runField, reason: text('Why') }),
  output: z.object({
    run_id: z.string(),
    status: z.literal('cancelled'),
    current_state: z.string(),
    revision: z.int(),
  }),
}).handler(({ record, actor }, input) =>
  record(async (reads, setting) => {
    const run = await findRun(reads, input.run_id)
    if (run.status !== 'active') {
      throw new Failure(
        'RUN_FINISHED',
        `Cannot cancel run ${run.id}: it ended (${run.status}) in "${run.state}".`,
        { reason: 'run_finished' },
      )
    }
    const items = await reads.inboxItems.ofRun(run.id)
    const author = await callerOfRun(reads, run.taskId, actor)
    const { events, revision } = cancelRun(run, { items, reason: input.reason, author }, setting)
    return {
      events,
      agentName: author,
      answer: { run_id: run.id, status: 'cancelled', current_state: run.state, revision },
    }
  }),
)

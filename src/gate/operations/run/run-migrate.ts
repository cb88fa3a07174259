import { z } from 'zod'
import { Failure } from '../../../kernel/failure.ts'
import { identifier } from '../../../kernel/operations/input/fields.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { migrateRun } from '../../domain/lifecycle.ts'
import type { RunRecord } from '../../domain/run.ts'
import { runnableProcess } from '../process/processes.ts'
import { processToRun } from './create-run.ts'
import { callerOfRun, findRun, runField } from './find-run.ts'

export const runMigrate = defineOperation({
  name: 'run_migrate',
  command: 'run migrate',
  toolset: 'gate',
  audience: 'person',
  title: 'Move a run to another version of its process',
  description: 'Move a run to the current file of its process. Use --dry-run first to see the result.',
  kind: 'command',
  positional: ['run_id'],
  input: z.strictObject({
    run_id: runField,
    process: identifier('Process or its file; default: the process of the run').optional(),
    state_map: z
      .array(
        z
          .string()
          .max(300)
          .regex(/^[^=]+=[^=]+$/, 'it is written old=new'),
      )
      .max(200)
      .describe('New names of renamed states: old=new')
      .optional(),
    dry_run: z.boolean().describe('Show what would happen, and do nothing').optional(),
  }),
  output: z.object({
    run_id: z.string(),
    from_version: z.string(),
    to_version: z.string(),
    from_state: z.string(),
    to_state: z.string(),
    revision: z.int(),
    migrated: z.boolean(),
  }),
})
  .measure({ process: runnableProcess })
  .prepare(async (reads, input, context, { process }) => {
    const run = await findRun(reads, input.run_id)
    return {
      briefs: { process: { process: input.process ?? run.process.id } },
      found: process ? { run, target: await processToRun(context, process) } : null,
    }
  })
  .record(
    async ({ reads, found, context, setting }, input) => {
      const { run, target } = requireMeasured(found ?? undefined)
      if (run.process.hash === target.hash) throw sameDefinitionFailure(run)
      const migration = {
        ...target,
        isKept: (await reads.runs.definition(target.hash)) !== null,
        stateMap: new Map((input.state_map ?? []).map((pair) => splitPair(pair))),
        items: await reads.inboxItems.ofRun(run.id),
        author: await callerOfRun(reads, run.taskId, context.actor),
      }
      const { record, events } = migrateRun(run, migration, setting)
      return {
        events,
        answer: {
          run_id: run.id,
          from_version: run.process.version,
          to_version: record.process.version,
          from_state: run.state,
          to_state: record.state,
          revision: record.revision,
          migrated: input.dry_run !== true,
        },
      }
    },
    { only: ({ dry_run }) => dry_run === true },
  )

function splitPair(pair: string): readonly [string, string] {
  const separator = pair.indexOf('=')
  return [pair.slice(0, separator).trim(), pair.slice(separator + 1).trim()]
}

function sameDefinitionFailure(run: RunRecord): Failure {
  return new Failure(
    'CONFLICT',
    `Run ${run.id} already has this definition of ${run.process.id} (version ${run.process.version}).`,
    { reason: 'definition_unchanged', hint: 'Change the file of the process first.' },
  )
}

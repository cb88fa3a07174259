import { z } from 'zod'
import { callTo, Failure, hintOf } from '../../../kernel/failure.ts'
import { instant } from '../../../kernel/instant.ts'
import type { JsonObject } from '../../../kernel/json.ts'
import { findMission, findTask } from '../../../kernel/operations/find.ts'
import { freeObject, identifier } from '../../../kernel/operations/input/fields.ts'
import { requireMeasured } from '../../../kernel/operations/measurement-protocol.ts'
import { defineOperation, type RecordContext } from '../../../kernel/operations/operation.ts'
import type { ProcessSource } from '../../../project/ports/project-files.ts'
import type { Reads } from '../../../store/ports/store.ts'
import { isEnded } from '../../../track/domain/mission.ts'
import type { ProcessDefinition } from '../../domain/definition.ts'
import { startRun as decide } from '../../domain/lifecycle.ts'
import { loadedProcess, runnableProcess, soundProcess } from '../process/processes.ts'
import { callerOfRun } from './find-run.ts'

export const createRun = defineOperation({
  name: 'state_gate_create_run',
  tool: 'state_gate_create_run',
  command: 'run create',
  synonyms: { workflow_id: 'mission_id' },
  toolset: 'gate',
  audience: 'both',
  title: 'Start a run of a process',
  description:
    'Start a run of a process, alone or for a mission or task. The mission, or the phase of the task, then ends only when the run allows it',
  kind: 'command',
  keyField: 'idempotency_key',
  positional: ['process_id'],
  input: z.strictObject({
    process_id: identifier('Process, such as feature (waymark process list)'),
    context: freeObject('Variables of the run at the start').optional(),
    mission_id: identifier('Mission to gate').optional(),
    task_id: identifier('Task to gate').optional(),
    idempotency_key: identifier('Same key and input: the same run again').optional(),
  }),
  output: z.object({
    run_id: z.string(),
    process_id: z.string(),
    process_version: z.string(),
    current_state: z.string(),
    revision: z.int(),
    mission_id: z.string().nullable(),
    task_id: z.string().nullable(),
    created_at: z.string(),
  }),
  listedOutput: ['run_id', 'process_id', 'process_version', 'current_state', 'revision', 'created_at'],
})
  .measure({ process: runnableProcess })
  .prepare(async (_, { process_id }, context, { process }) => ({
    briefs: { process: { process: process_id } },
    found: process ? await processToRun(context, process) : null,
  }))
  .record(async ({ reads, found, context, setting }, input) => {
    const { definition, hash } = requireMeasured(found ?? undefined)
    const subject = await subjectIn(reads, input)
    const author = await callerOfRun(reads, subject.taskId, context.actor)
    const { run, events } = decide(
      {
        definition,
        hash,
        isKept: (await reads.runs.definition(hash)) !== null,
        context: (input.context ?? {}) as JsonObject, // a record, as its schema says
        ...subject,
        author,
      },
      setting,
    )
    return {
      events,
      agentName: author,
      answer: {
        run_id: run.id,
        process_id: run.process.id,
        process_version: run.process.version,
        current_state: run.state,
        revision: run.revision,
        mission_id: run.missionId,
        task_id: run.taskId,
        created_at: instant(run.createdAt),
      },
    }
  })

/** A process without errors, with its hash. */
export async function processToRun(
  { processFiles, fingerprint }: Pick<RecordContext, 'processFiles' | 'fingerprint'>,
  source: ProcessSource,
): Promise<{ readonly definition: ProcessDefinition; readonly hash: string }> {
  const { definition } = soundProcess(await loadedProcess(processFiles, source))
  return { definition, hash: fingerprint(definition) }
}

async function subjectIn(
  reads: Reads,
  input: { readonly mission_id?: string | undefined; readonly task_id?: string | undefined },
) {
  if (input.mission_id !== undefined && input.task_id !== undefined) {
    throw new Failure(
      'INVALID_INPUT',
      `A run gates either mission ${input.mission_id} or task ${input.task_id}, not both.`,
      { reason: 'mission_and_task', hint: 'Give mission_id or task_id.' },
    )
  }
  const task = input.task_id === undefined ? null : await findTask(reads, input.task_id)
  const mission = input.mission_id === undefined ? null : await findMission(reads, input.mission_id)
  if (mission && isEnded(mission)) {
    throw new Failure(
      'REFUSED',
      `Cannot gate mission ${mission.id} "${mission.name}": it has ended (${mission.status}).`,
      {
        reason: 'mission_ended',
        hint: hintOf`Start a new mission with ${callTo('start_mission', { process_id: undefined })}.`,
      },
    )
  }
  return { missionId: mission?.id ?? null, taskId: task?.id ?? null }
}

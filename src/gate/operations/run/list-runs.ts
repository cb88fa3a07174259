import { z } from 'zod'
import { findMission, findTask } from '../../../kernel/operations/find.ts'
import { choice, identifier } from '../../../kernel/operations/input/fields.ts'
import { list } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { Paging, page, pageFields } from '../../../kernel/operations/paging.ts'
import { RunEntry, runEntry } from '../run-answer.ts'

const statuses = ['active', 'succeeded', 'failed', 'cancelled', 'all'] as const

export const listRuns = defineOperation({
  name: 'state_gate_list_runs',
  tool: 'state_gate_list_runs',
  command: 'run list',
  toolset: 'gate',
  audience: 'both',
  title: 'List runs',
  description: 'List runs, newest first; only active ones by default',
  kind: 'query',
  input: z.strictObject({
    status: choice(statuses, 'Default active').optional(),
    process_id: identifier('Of this process').optional(),
    mission_id: identifier('Gating this mission').optional(),
    task_id: identifier('Gating this task').optional(),
    ...pageFields(200),
  }),
  /** With the name of its task, else of its mission. */
  output: z.object({ runs: list(RunEntry.extend({ subject_name: z.string().nullable() })), ...page }),
}).handler(({ store, actor }, input) =>
  store.view(async (reads) => {
    const paging = new Paging('state_gate_list_runs', input, actor, 20)
    const mission = input.mission_id === undefined ? null : await findMission(reads, input.mission_id)
    const task = input.task_id === undefined ? null : await findTask(reads, input.task_id)
    const status = input.status ?? 'active'
    const result = await reads.runs.list(
      {
        ...(status !== 'all' && { status }),
        ...(input.process_id !== undefined && { processId: input.process_id }),
        ...(mission && { missionId: mission.id }),
        ...(task && { taskId: task.id }),
      },
      paging.request(),
    )
    const entries = result.items.map(({ item }) => runEntry(item))
    const [tasks, missions] = await Promise.all([
      reads.tasks.withIds(entries.flatMap(({ task_id: id }) => id ?? [])),
      reads.missions.withIds(entries.flatMap(({ mission_id: id }) => id ?? [])),
    ])
    const names = new Map<string, string>([...tasks, ...missions].map(({ id, name }) => [id, name]))
    const runs = paging.fit(
      entries.map((entry) => ({
        ...entry,
        subject_name: names.get(entry.task_id ?? entry.mission_id ?? '') ?? null,
      })),
    )
    return {
      runs,
      total: result.total,
      next_cursor: paging.next(result.items, runs.length, ({ seq }) => seq),
    }
  }),
)

import { z } from 'zod'
import { answerBudget, fitSections } from '../../../kernel/budget.ts'
import { findMission, findTask } from '../../../kernel/operations/find.ts'
import { choice, count, identifier } from '../../../kernel/operations/input/fields.ts'
import { list, page } from '../../../kernel/operations/list-answer.ts'
import { defineOperation } from '../../../kernel/operations/operation.ts'
import { nextCursor, readCursor } from '../../../kernel/operations/paging.ts'
import { RunEntry, runEntry } from '../run-answer.ts'

const statuses = ['active', 'succeeded', 'failed', 'cancelled', 'all'] as const

export const listRuns = defineOperation({
  name: 'state_gate_list_runs',
  tool: 'state_gate_list_runs',
  command: 'list-runs',
  aliases: ['run list'],
  toolset: 'gate',
  audience: 'both',
  title: 'List runs',
  description: 'Find a run again: newest first, the active ones unless another status is asked for',
  kind: 'query',
  input: z.strictObject({
    status: choice(statuses, 'Default active').optional(),
    process_id: identifier('Of this process').optional(),
    mission_id: identifier('Gating this mission').optional(),
    task_id: identifier('Gating this task').optional(),
    limit: count('Default 20', 200).optional(),
    cursor: identifier('next_cursor').optional(),
  }),
  output: z.object({ runs: list(RunEntry), ...page }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const limit = input.limit ?? 20
    const before = readCursor(input.cursor, ['runs'])?.get('runs')
    const mission = input.mission_id === undefined ? null : await findMission(reads, input.mission_id)
    const task = input.task_id === undefined ? null : await findTask(reads, input.task_id)
    const status = input.status ?? 'active'
    const found = await reads.runs.list(
      {
        ...(status !== 'all' && { status }),
        ...(input.process_id !== undefined && { processId: input.process_id }),
        ...(mission && { missionId: mission.id }),
        ...(task && { taskId: task.id }),
      },
      { limit: limit + 1, ...(before !== undefined && { before }) },
    )
    const shown = found.items.slice(0, limit)
    const entries = shown.map(({ item }) => runEntry(item))
    const fitting = fitSections([{ name: 'runs', entries }], answerBudget).get('runs') ?? entries.length
    const kept = input.limit === undefined ? fitting : entries.length
    return {
      runs: entries.slice(0, kept),
      total: found.total,
      next_cursor: nextCursor([
        { name: 'runs', seqs: shown.slice(0, kept).map(({ seq }) => seq), more: found.items.length > kept },
      ]),
    }
  }),
)

import { z } from 'zod'
import { findMission } from '../find/entities.ts'
import { count, identifier } from '../input/fields.ts'
import { defineOperation } from '../operation.ts'

export const missionChanges = defineOperation({
  name: 'mission_changes',
  command: 'mission changes',
  toolset: 'track',
  audience: 'both',
  title: 'The verified changes of a mission',
  description:
    'Every file that the attempts in a mission changed, out of scope first: the difference of the state at its first attempt and the state at its last end.',
  kind: 'query',
  positional: ['id'],
  input: z.strictObject({
    id: identifier('A mission or workflow (m-…, w-…)'),
    limit: count('How many files; default 500', 10_000).optional(),
  }),
  output: z.looseObject({
    id: z.string(),
    files: z.array(
      z.looseObject({
        path: z.string(),
        change: z.string(),
        scope: z.enum(['in', 'out']).nullable(),
        added_lines: z.int(),
        deleted_lines: z.int(),
        others: z.boolean(),
        attempts: z.int(),
        task_id: z.string().nullable(),
      }),
    ),
    added_lines: z.int(),
    deleted_lines: z.int(),
    total: z.int(),
  }),
}).handler(({ store }, input) =>
  store.view(async (reads) => {
    const mission = await findMission(reads, input.id)
    const files = await reads.timeline.files(mission.id, input.limit ?? 500)
    const lines = await reads.missions.lines(mission.id)
    const { distinctFilesChanged } = await reads.missions.totals(mission.id)
    return {
      id: mission.id,
      files: files.map((file) => ({
        path: file.path,
        change: file.change,
        scope: file.scope,
        added_lines: file.addedLines,
        deleted_lines: file.deletedLines,
        others: file.others,
        attempts: file.attempts,
        task_id: file.taskId,
      })),
      added_lines: lines.added,
      deleted_lines: lines.deleted,
      total: Math.max(distinctFilesChanged, files.length),
    }
  }),
)

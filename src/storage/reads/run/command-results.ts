import type { RunReads } from '../../../ports/reads/run-reads.ts'
import { commandOf } from '../../rows/run-evidence-rows.ts'
import type { ReadScope } from '../scope.ts'

export function commandResults({
  db,
  projectId,
}: ReadScope): Pick<RunReads, 'commandResult' | 'runningCommands'> {
  return {
    async commandResult({ run, folder }, tree) {
      const row = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('command_line', '=', run)
        .where('folder', '=', folder)
        .$if(tree !== undefined, (query) => query.where('tree', '=', tree ?? ''))
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst()
      return row ? commandOf(row) : null
    },
    async runningCommands() {
      const rows = await db
        .selectFrom('command_result')
        .selectAll()
        .where('project_id', '=', projectId)
        .where('status', '=', 'running')
        .orderBy('seq')
        .limit(100)
        .execute()
      return rows.map(commandOf)
    },
  }
}

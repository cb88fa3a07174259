import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import { parsed } from '../../rows/json.ts'
import { remembered } from '../remembered.ts'
import type { ReadScope } from '../scope.ts'

const definitions = remembered<ProcessDefinition>(100)

/** A hash names its content for ever: parsed once, it need not be read again. */
export function keptDefinition(
  { db, projectId }: ReadScope,
  hash: string,
): Promise<ProcessDefinition | null> {
  return definitions(db, { key: `${projectId} ${hash}`, version: '' }, async () => {
    const row = await db
      .selectFrom('process')
      .select('definition')
      .where('project_id', '=', projectId)
      .where('hash', '=', hash)
      .executeTakeFirst()
    return row ? parsed<ProcessDefinition>(row.definition) : null
  })
}

import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import { parsed } from '../../rows/json.ts'
import type { ReadScope } from '../scope.ts'

// A hash names its content, whatever the project: parsed once, it need not be read again.
const known = new Map<string, ProcessDefinition>()
const mostKnown = 100

export async function keptDefinition(
  { db, projectId }: ReadScope,
  hash: string,
): Promise<ProcessDefinition | null> {
  const key = `${projectId} ${hash}`
  const found = known.get(key)
  if (found) return found
  const row = await db
    .selectFrom('process')
    .select('definition')
    .where('project_id', '=', projectId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  if (!row) return null
  const definition = parsed<ProcessDefinition>(row.definition)
  if (known.size >= mostKnown) known.clear()
  known.set(key, definition)
  return definition
}

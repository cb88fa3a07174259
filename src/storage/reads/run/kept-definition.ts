import type { ProcessDefinition } from '../../../domain/gate/definition.ts'
import { parsed } from '../../rows/json.ts'
import type { ReadScope } from '../scope.ts'

// A hash names its content for ever: parsed once, it need not be read again.
const known = new Map<string, ProcessDefinition>()
const mostKnown = 100

/** Null where it is not kept, though it was before the database was replaced by an older one. */
export async function findDefinition(scope: ReadScope, hash: string): Promise<ProcessDefinition | null> {
  const row = await scope.db
    .selectFrom('process')
    .select('hash')
    .where('project_id', '=', scope.projectId)
    .where('hash', '=', hash)
    .executeTakeFirst()
  return row ? keptDefinition(scope, hash) : null
}

/** Of a hash that a run names. */
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

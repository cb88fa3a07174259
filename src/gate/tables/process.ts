import type { ProjectEventOf } from '../../events/domain/event-kinds.ts'
import { createVersionedCache, parseColumn } from '../../store/tables/query.ts'
import type { ProjectionContext, ReadScope } from '../../store/tables/tables.ts'
import type { ProcessDefinition } from '../domain/definition.ts'

export interface ProcessTable {
  project_id: string
  hash: string
  id: string
  version: string
  definition: string
  seq: number
}

export async function applyProcessKept(
  { db, projectId, seq }: ProjectionContext,
  { hash, definition }: ProjectEventOf<'process.kept'>,
): Promise<void> {
  await db
    .insertInto('process')
    .values({
      project_id: projectId,
      hash,
      id: definition.id,
      version: definition.version,
      definition: JSON.stringify(definition),
      seq,
    })
    .execute()
}

/** A hash names its content for ever: parsed once, it need not be read again. */
export function storedDefinition(
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
    return row ? parseColumn<ProcessDefinition>(row.definition) : null
  })
}

const definitions = createVersionedCache<ProcessDefinition>(100)

import { useEffect } from 'preact/hooks'
import type { OutputOf } from '../../src/surfaces/http/client/client.ts'
import { href, replaceWith } from '../router/location.ts'

type ShowAnswer = OutputOf<'show'>

/** Where an entity is shown. */
function entityPath(entity: ShowAnswer): string {
  if (entity.kind === 'run') return `/runs/${entity.run.run_id}`
  return entity.kind === 'task' ? `/tasks/${entity.id}` : `/missions/${entity.id}`
}

/** Leads an id at the address of another kind to its own page. */
export function useOwnPage(entity: ShowAnswer | null, kind: ShowAnswer['kind']): void {
  const path = entity === null || entity.kind === kind ? null : entityPath(entity)
  useEffect(() => {
    if (path !== null) replaceWith(href(path))
  }, [path])
}

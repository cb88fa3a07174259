import type { HeadMove, Origin } from '../domain/track/changes.ts'
import type { Difference } from './comparison.ts'
import type { Span } from './differences.ts'
import type { PathBytes } from './path-bytes.ts'
import type { PrivateDirectory } from './private-directory.ts'

/** Which changes are the task's own and which merely arrived. */
export interface Origins {
  readonly of: (path: PathBytes) => Origin
  readonly moves: readonly HeadMove[]
  readonly notes: readonly string[]
  readonly doubts: readonly string[]
}

export async function findOrigins(
  _place: PrivateDirectory,
  _span: Span,
  _compared: readonly Difference[],
): Promise<Origins> {
  return { of: () => 'task', moves: [], notes: [], doubts: [] }
}

import type { Kysely } from 'kysely'
import type { IdSource } from '../../domain/id.ts'
import type { RecordRequest } from '../../ports/store.ts'
import type { ResolvedProject } from '../project/resolve-project.ts'
import { readsOf } from '../reads/reads.ts'
import type { Tables } from '../schema/tables.ts'
import { append } from './append.ts'
import { storeAnswer, storedAnswer } from './idempotency.ts'

export interface Recorded<Answer> {
  readonly answer: Answer
  /** As it is now. Null when nothing was written and there is no project yet. */
  readonly project: ResolvedProject | null
}

/** Runs inside the one write transaction, which holds the project until it ends. */
export async function record<Answer>(
  db: Kysely<Tables>,
  request: RecordRequest<Answer>,
  place: { readonly root: string; readonly ids: IdSource; readonly found: ResolvedProject | null },
): Promise<Recorded<Answer>> {
  const { idempotency, actor, at } = request
  const { found } = place
  const project = found
    ? { ...found, exists: true }
    : { id: place.ids.next('project'), rootKnown: false, exists: false }
  if (idempotency && found) {
    const stored = await storedAnswer(db, found.id, idempotency)
    if (stored) return { answer: stored.answer as Answer, project: found } // stored as this very answer
  }
  const { happenings, answer } = await request.decide(readsOf({ db, projectId: project.id }))
  if (happenings.length === 0 && !idempotency) return { answer, project: found }
  const seq = await append({ db, root: place.root, project }, happenings, { actor, at })
  if (idempotency) await storeAnswer(db, idempotency, { projectId: project.id, answer, seq, at })
  return { answer, project: { id: project.id, rootKnown: true } }
}

import type { MissionId } from '../../../../src/kernel/id.ts'
import type { Store } from '../../../../src/store/ports/store.ts'
import { randomIds } from '../../../../src/store/random-ids.ts'
import { openStore } from '../../../../src/store/store.ts'
import { agent, aMission } from '../../../support/entities.ts'

/** The store of a root, opened as the product opens it. */
export function storeOf(root: string, file: string, anchorFolder?: string): Store {
  const place = { file, shared: false, root, sandboxJournal: false, ids: randomIds }
  return openStore(anchorFolder === undefined ? place : { ...place, anchorFolder })
}

/** Records a mission under an id that the caller chooses. */
export async function recordMission(store: Store, id: string): Promise<void> {
  const mission = aMission({ id: id as MissionId })
  await store.record({
    actor: agent,
    at: Date.now(),
    decide: async () => ({ events: [{ kind: 'mission.started', mission }], answer: null }),
  })
}

import { join } from 'node:path'
import type { RunEvent } from '../../src/gate/domain/run.ts'
import type { RunId } from '../../src/kernel/id.ts'
import { randomIds } from '../../src/store/random-ids.ts'
import { openStore } from '../../src/store/store.ts'
import { happened } from '../../test/store/events.ts'

const batch = 500

/** Gives a run so many events through the store, as seeding by calls would take minutes. */
export async function lengthen(
  root: string,
  run: string,
  { from, events }: { from: number; events: number },
) {
  const file = join(root, '.waymark', 'waymark.db')
  const store = openStore({ file, shared: false, root, sandboxJournal: false, ids: randomIds })
  const runId = run as RunId // as the server answered it
  for (let made = 0; made < events; made += batch) {
    const at = Date.now()
    const projectEvents = Array.from({ length: batch }, (_, index) => {
      const event = said(runId, { revision: from + made + index + 1, at })
      const context = { risk: 'low', request: 'the request', note: event.id }
      const { id } = event
      const repeat = { key: id, owner: 'bench', inputHash: id, eventId: id, answer: { note: id } }
      return {
        kind: 'run.advanced',
        runId,
        missionId: null,
        taskId: null,
        event,
        status: 'active',
        context,
        repeat,
      } as const
    })
    await happened(store, at, ...projectEvents)
  }
  await store.close()
}

function said(
  runId: RunId,
  { revision, at: createdAt }: { readonly revision: number; readonly at: number },
): RunEvent {
  const id = randomIds.next('runEvent')
  return {
    id,
    runId,
    revision,
    kind: 'event',
    event: 'say',
    payload: { note: id },
    from: 'work',
    to: 'work',
    stateChanged: true,
    artifacts: [],
    unsatisfied: [],
    role: 'agent',
    author: 'bench',
    createdAt,
  }
}

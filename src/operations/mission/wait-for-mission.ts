import type { Happening } from '../../domain/fact.ts'
import type { MissionId } from '../../domain/id.ts'
import { aboutOf } from '../../domain/track/about.ts'
import type { Reads, Store } from '../../ports/store.ts'

/** `#` and a place in the journal, as `as_of` answers it: exact where a time is not. */
const place = /^#(\d{1,15})$/

export function isSince(text: string): boolean {
  return place.test(text) || !Number.isNaN(Date.parse(text))
}

/** From when on the lists of an answer begin, milliseconds since the epoch; after the last change, nothing does. */
export async function timeSince({ journal }: Reads, since: string): Promise<number> {
  const seq = place.exec(since)?.[1]
  if (seq === undefined) return Date.parse(since)
  return (await journal.timeAfter(Number(seq))) ?? Number.MAX_SAFE_INTEGER
}

/** Waits until something happens to a mission, or has happened since then: at most so many milliseconds. */
export async function waitForMission(
  store: Store,
  missionId: MissionId,
  { since, milliseconds }: { readonly since: string | undefined; readonly milliseconds: number },
): Promise<void> {
  const after = await store.view(({ journal }) => {
    if (since === undefined) return journal.head()
    const seq = place.exec(since)?.[1]
    return seq === undefined ? journal.seqBefore(Date.parse(since)) : Promise.resolve(Number(seq))
  })
  const over = new AbortController()
  const timer = setTimeout(() => over.abort(), milliseconds)
  try {
    for await (const { happening } of store.follow(after, over.signal)) {
      if (await concerns(store, happening, missionId)) return
    }
  } finally {
    clearTimeout(timer)
    over.abort()
  }
}

/** A change to a task says its mission, or else the task does. */
async function concerns(store: Store, happening: Happening, mission: MissionId): Promise<boolean> {
  const { missionId, taskId } = aboutOf(happening)
  if (missionId === mission) return true
  if (missionId !== null || taskId === null) return false
  const task = await store.view(({ tasks }) => tasks.find(taskId))
  return task?.missionId === mission
}

import { expect } from 'vitest'
import { runWaymark } from '../../surfaces/mcp/server-process.ts'
import { beginRace, eventAt, type Insisted, insist } from './race.ts'
import { expectReplays, storedRun, storeIn } from './stored-run.ts'

/** Two processes emit on one run as fast as they can: every event is there once, in revisions without gap. */
export async function contest(each: number): Promise<{ readonly conflicts: number }> {
  const { folder, servers, run } = await beginRace(2)
  const all: Insisted[] = []
  let conflicts = 0
  await Promise.all(
    servers.map(async (server, index) => {
      // And on until they met: one of them may stand still for a while.
      for (let turn = 0; turn < each || (conflicts === 0 && turn < 20 * each); turn += 1) {
        const one = await insist(server, run, eventAt(folder, `${index}/${turn}`))
        conflicts += one.conflicts
        all.push(one)
      }
    }),
  )
  const accepted = all.toSorted((a, b) => a.result.new_revision - b.result.new_revision)
  expect(conflicts, 'the processes never met').toBeGreaterThan(0)

  const stored = await storedRun(storeIn(folder), run)
  expectReplays(stored)
  expect(stored.events.map(({ id, revision, payload }) => [id, revision, payload['by']])).toEqual(
    accepted.map(({ result, by }) => [result.event_id, result.new_revision, by]),
  )
  expect(stored.events.length).toBeGreaterThanOrEqual(2 * each)
  expect(runWaymark(folder, 'doctor')).toMatchObject({ healthy: true })
  return { conflicts }
}

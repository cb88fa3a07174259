import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { startServers } from '../../plan/servers.ts'
import { runWaymark } from '../../surfaces/mcp/server-process.ts'
import { beginRace, eventAt, firstOf, type Insisted, insist, type Race } from './race.ts'
import { expectReplays, type StoredRun, storedRun, storeIn } from './stored-run.ts'

/** Kills servers while they emit, another one emitting beside them: what was answered is there, and nothing is half. */
export async function killing(rounds: number): Promise<{ readonly kept: number; readonly lost: number }> {
  const { folder, servers, run } = await beginRace(1)
  const survivor = firstOf(servers)
  const accepted: Insisted[] = []
  let kept = 0
  for (let round = 0; round < rounds; round += 1) {
    const over = new AbortController()
    const beside = (async () => {
      for (let turn = 0; !over.signal.aborted; turn += 1) {
        accepted.push(await insist(survivor, run, eventAt(folder, `survivor/${round}/${turn}`)))
        await sleep(1)
      }
    })()
    const killed = await emitUntilKilled({ folder, run }, round)
    over.abort()
    await beside
    accepted.push(...killed.accepted)
    const stored = await storedRun(storeIn(folder), run)
    expectReplays(stored)
    const known = new Map(stored.events.map(({ id, revision, payload }) => [id, [revision, payload['by']]]))
    for (const { result, by } of accepted) {
      expect(known.get(result.event_id)).toEqual([result.new_revision, by])
    }
    kept += await repeatLast({ folder, run }, { stored, by: killed.last })
  }
  expect(runWaymark(folder, 'doctor')).toMatchObject({ healthy: true })
  return { kept, lost: rounds - kept }
}

type Place = Pick<Race, 'folder' | 'run'>

/** Emits over a server of its own, which is killed somewhere in an event. Answers what it had accepted. */
async function emitUntilKilled({ folder, run }: Place, round: number) {
  const victim = firstOf(await startServers(folder, 1))
  const accepted: Insisted[] = []
  const before = 2 + Math.floor(Math.random() * 4)
  let turn = 0
  let took = 0
  for (; turn < before; turn += 1) {
    const begin = performance.now()
    accepted.push(await insist(victim, run, eventAt(folder, `victim/${round}/${turn}`)))
    took = performance.now() - begin
  }
  const last = `victim/${round}/${turn}`
  const answer = insist(victim, run, eventAt(folder, last)).catch(() => null)
  // As long as the event before took, or less, or more: the kill falls anywhere in it, or just behind it.
  await sleep(Math.random() * 2 * took)
  victim.process.kill()
  await once(victim.process, 'exit')
  const answered = await answer
  if (answered) accepted.push(answered)
  return { accepted, last }
}

/** A new server is told again what the killed one was told last: it knows it, or takes it, never both. 1 where it knew. */
async function repeatLast(
  { folder, run }: Place,
  { stored, by }: { readonly stored: StoredRun; readonly by: string },
): Promise<number> {
  const server = firstOf(await startServers(folder, 1))
  const known = stored.events.filter(({ payload }) => payload['by'] === by)
  expect(known.length).toBeLessThanOrEqual(1)
  const [there] = known
  if (there) {
    const first = { run_id: run, expected_revision: there.revision - 1, ...eventAt(folder, by) }
    const keys = Array.from({ length: 50 }, (_, conflicts) => `${by}#${conflicts}`)
    const repeats: string[] = []
    for (const idempotency_key of keys) {
      const answer = await server.result('state_gate_emit_event', { ...first, idempotency_key })
      if (!answer.isError) repeats.push(answer.structuredContent.result.event_id)
    }
    expect(repeats).toEqual([there.id])
  } else {
    const { result } = await insist(server, run, eventAt(folder, by))
    const { events } = await storedRun(storeIn(folder), run)
    expect(events.filter(({ payload }) => payload['by'] === by).map(({ id }) => id)).toEqual([
      result.event_id,
    ])
  }
  server.process.kill()
  return known.length
}
